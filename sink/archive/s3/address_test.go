package s3

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAddresses(t *testing.T) {
	none := map[string]string{}
	aws := map[string]string{"AWS_REGION": "eu-west-3", "AWS_DEFAULT_REGION": "us-east-2"}
	mill := map[string]string{"AWS_ENDPOINT_URL": "http://mill.example:9000/", "AWS_DEFAULT_REGION": "us-east-2"}
	both := map[string]string{"AWS_ENDPOINT_URL": "http://mill.example:9000", "AWS_ENDPOINT_URL_S3": "https://s3.mill.example"}
	for _, tt := range []struct {
		text string
		env  map[string]string
		want address
		says string
	}{
		{"s3://mill", none, address{"mill", "", amazon, true, ""}, "s3://mill"},
		{"s3://mill/", aws, address{"mill", "", amazon, true, "eu-west-3"}, "s3://mill"},
		{"s3://mill/a/b c/", none, address{"mill", "a/b c/", amazon, true, ""}, "s3://mill/a/b c"},
		{"s3://mill/a%20b", none, address{"mill", "a b/", amazon, true, ""}, "s3://mill/a b"},
		{"s3://mill/a?region=eu-north-1", aws, address{"mill", "a/", amazon, true, "eu-north-1"}, "s3://mill/a"},
		{"s3://mill/a", mill, address{"mill", "a/", "mill.example:9000", false, "us-east-2"}, "s3://mill/a at http://mill.example:9000"},
		{"s3://mill", both, address{"mill", "", "s3.mill.example", true, ""}, "s3://mill at https://s3.mill.example"},
		{"s3://mill?endpoint=127.0.0.1:7070", mill, address{"mill", "", "127.0.0.1:7070", true, "us-east-2"}, "s3://mill at https://127.0.0.1:7070"},
		{"s3://mill/x?endpoint=http://[::1]:7070&region=r", none, address{"mill", "x/", "[::1]:7070", false, "r"}, "s3://mill/x at http://[::1]:7070"},
	} {
		have, err := parse(tt.text, func(name string) string { return tt.env[name] })
		require.NoError(t, err, tt.text)
		require.Equal(t, tt.want, have, tt.text)
		require.Equal(t, tt.says, have.String())
	}
}

func TestTextsThatAreNoAddress(t *testing.T) {
	for _, text := range []string{
		"", "mill", "s3:mill", "s3:/mill", "s3://", "s3:///mill", "s3://m", "s3://mill:80", "s4://mill", "s3://mill#a",
		"s3://mill/a/../b", "s3://mill/a//b", "s3://mill/./b", "s3://mill?a=b", "s3://mill?region=a&region=b", "s3://mill?region=%",
		"s3://mill?endpoint=ftp://h", "s3://mill?endpoint=http://h/path", "s3://mill?endpoint=http://", "s3://mill?endpoint=http://h?x=y",
		"s3://key:s3cret@mill", "s3://s3cret@mill", "s3://mill?endpoint=http://key:s3cret@h", "s3://mill\x00s3cret",
	} {
		_, err := parse(text, func(string) string { return "" })
		require.ErrorIs(t, err, ErrAddress, text)
		require.NotContains(t, err.Error(), "s3cret")
	}
}
