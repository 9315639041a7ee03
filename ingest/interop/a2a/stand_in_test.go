//go:build !proxy

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

// tap is a plain reverse proxy that rewrites cards, until there is a proxy to hold against it.
type tap struct{ url string }

func startTap(t *testing.T, upstream string, _ ...string) *tap {
	target, err := url.Parse(upstream)
	require.NoError(t, err)
	p := &tap{}
	proxy := &httputil.ReverseProxy{
		FlushInterval: -1, Transport: &http.Transport{}, ErrorLog: log.New(t.Output(), "proxy: ", 0),
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) },
		ModifyResponse: func(resp *http.Response) error {
			if resp.Header.Get("Content-Type") == "text/event-stream" {
				return nil
			}
			whole, err := io.ReadAll(resp.Body)
			if err != nil {
				return err
			}
			whole = bytes.ReplaceAll(whole, []byte(upstream), []byte(p.url))
			resp.Body = io.NopCloser(bytes.NewReader(whole))
			return nil
		},
	}
	p.url = serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Else the answer may begin while the request's end is still being read, and then both are cut.
		if err := http.NewResponseController(w).EnableFullDuplex(); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	return p
}

func (p *tap) hasTold(*testing.T, []transcript) {}

func (p *tap) keepsSecret(*testing.T, ...string) {}
