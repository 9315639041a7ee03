package interop

import (
	"bytes"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
)

// standIn is a plain reverse proxy that rewrites cards.
func standIn(t *testing.T, upstream string) string {
	target, err := url.Parse(upstream)
	require.NoError(t, err)
	var self string
	proxy := &httputil.ReverseProxy{
		FlushInterval: -1, Transport: &http.Transport{}, ErrorLog: log.New(t.Output(), "proxy: ", 0),
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
		},
		ModifyResponse: func(resp *http.Response) error {
			if resp.Request.Method != "GET" && resp.Header.Get("Content-Type") == "text/event-stream" {
				return nil
			}
			whole, err := io.ReadAll(resp.Body)
			if err != nil {
				return err
			}
			whole = bytes.ReplaceAll(whole, []byte(upstream), []byte(self))
			resp.Body = io.NopCloser(bytes.NewReader(whole))
			return nil
		},
	}
	self = serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Else the answer may begin while the request's end is still being read, and then both are cut.
		if err := http.NewResponseController(w).EnableFullDuplex(); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	return self
}
