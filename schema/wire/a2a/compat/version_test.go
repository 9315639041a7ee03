package compat_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema/wire/a2a/compat"
)

func header(values ...string) map[string][]string {
	return map[string][]string{"A2A-Version": values}
}

func TestDetectReadsTheVersionLeniently(t *testing.T) {
	const slash, pascal = "message/send", "SendMessage"
	for _, c := range []struct {
		value, method string
		want          compat.Version
	}{
		{"1.0", slash, compat.V10},
		{"1.0.1", slash, compat.V10},
		{"1", slash, compat.V10},
		{" 1.0 ", slash, compat.V10},
		{"v1.0", slash, compat.V10},
		{`"1.0"`, slash, compat.V10},
		{"1.0.0-rc.1", slash, compat.V10},
		{"01.0", slash, compat.V10},
		{"9.9", slash, compat.V10}, // the server refuses it, not we
		{"10", slash, compat.V10},
		{"0.3", pascal, compat.V03},
		{"0.3.0", pascal, compat.V03},
		{" 0.3", pascal, compat.V03},
		{"0.2.6", pascal, compat.V03},
		{"0", pascal, compat.V03},
		{"00", pascal, compat.V03},
		{"0.3, 0.2", pascal, compat.V03},
		{"1.0,1.1", slash, compat.V10},
		{"0.3, 1.0", slash, compat.V03}, // both generations: the method decides
		{"1.0, 0.3", slash, compat.V03},
		{"0.3, 1.0", pascal, compat.V10},
		{"0.3,1.0", "", compat.V10},
		{"latest, 0.3", pascal, compat.V03},
		{"", slash, compat.V03}, // says nothing
		{"", pascal, compat.V10},
		{" , ", slash, compat.V03},
		{"latest", slash, compat.V03},
		{"latest", pascal, compat.V10},
		{"1.x", slash, compat.V03},
		{"1..0", slash, compat.V03},
		{"-1", slash, compat.V03},
		{"v", slash, compat.V03},
	} {
		t.Run(c.value+" "+c.method, func(t *testing.T) {
			require.Equal(t, c.want, compat.Detect(compat.Signals{Header: header(c.value), Method: c.method}))
			require.Equal(t, c.want, compat.Detect(compat.Signals{Query: header(c.value), Method: c.method}), "as a query")
		})
	}
}

func TestDetectAsksOneSignalAfterTheOther(t *testing.T) {
	for name, c := range map[string]struct {
		signals compat.Signals
		want    compat.Version
	}{
		"header before query":         {compat.Signals{Header: header("1.0"), Query: header("0.3"), Method: "tasks/get"}, compat.V10},
		"query before method":         {compat.Signals{Query: header("1.0"), Method: "tasks/get"}, compat.V10},
		"an empty header, then query": {compat.Signals{Header: header(""), Query: header("0.3"), Method: "GetTask"}, compat.V03},
		"several header lines":        {compat.Signals{Header: header("latest", "0.3"), Method: "GetTask"}, compat.V03},
		"canonical header name":       {compat.Signals{Header: http.Header{http.CanonicalHeaderKey("A2A-Version"): {"1.0"}}, Method: "tasks/get"}, compat.V10},
		"lower-case query name":       {compat.Signals{Query: map[string][]string{"a2a-version": {"1.0"}}, Method: "tasks/get"}, compat.V10},
		"an unknown slash method":     {compat.Signals{Method: "tasks/invent"}, compat.V03},
		"root post":                   {compat.Signals{Verb: "POST", Path: "/"}, compat.V03},
		"root post without a path":    {compat.Signals{Verb: "POST"}, compat.V03},
		"root post, header 1.0":       {compat.Signals{Verb: "POST", Path: "/", Header: header("1.0")}, compat.V10},
		"root post, method of 1.0":    {compat.Signals{Verb: "POST", Path: "/", Method: "SendMessage"}, compat.V10},
		"root post, method of 0.3":    {compat.Signals{Verb: "POST", Path: "/", Method: "message/send"}, compat.V03},
		"root get":                    {compat.Signals{Verb: "GET", Path: "/"}, compat.V10},
		"another path":                {compat.Signals{Verb: "POST", Path: "/rpc"}, compat.V10},
		"REST of 1.0":                 {compat.Signals{Verb: "POST", Path: "/message:send"}, compat.V10},
		"REST of 0.3":                 {compat.Signals{Verb: "POST", Path: "/v1/message:send"}, compat.V03},
		"nothing":                     {compat.Signals{}, compat.V10},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, compat.Detect(c.signals)) })
	}
}

func FuzzDetect(f *testing.F) {
	f.Add("1.0, 0.3", "message/send")
	f.Add("v0.3.0-rc;q=1", "")
	f.Fuzz(func(t *testing.T, value, method string) {
		got := compat.Detect(compat.Signals{Header: header(value), Method: method})
		require.Contains(t, []compat.Version{compat.V03, compat.V10}, got)
		require.Equal(t, got, compat.Detect(compat.Signals{Header: header(" " + value + ", "), Method: method}), "spaces and empty elements say nothing")
		require.Equal(t, compat.V10, compat.Detect(compat.Signals{Header: header("1.0"), Query: header(value), Method: method}))
	})
}
