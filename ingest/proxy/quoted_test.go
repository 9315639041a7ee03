package proxy

import (
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// What cannot be read of an answer may be a header with a secret: the record says what is wrong with it,
// and not what it is.
func TestAnAnswerThatCannotBeReadIsNotQuoted(t *testing.T) {
	for name, answer := range map[string]string{
		"no colon":    "HTTP/1.1 200 OK\r\nSet-Cookie sid=verysecret\r\n\r\n",
		"control":     "HTTP/1.1 200 OK\r\nX-Token: very\x01secret verysecret\r\n\r\n",
		"no HTTP":     "verysecret \"verysecret\" 1\r\n\r\n",
		"status":      "HTTP/1.1 verysecret OK\r\n\r\n",
		"chunk":       "HTTP/1.1 200 OK\r\nTransfer-Encoding: verysecret\r\n\r\n",
		"length":      "HTTP/1.1 200 OK\r\nContent-Length: verysecret\r\n\r\n",
		"two lengths": "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 77verysecret\r\n\r\n",
		"colon first": "HTTP/1.1 200 OK\r\n: verysecret\r\n\r\n",
		"folded":      "HTTP/1.1 200 OK\r\n verysecret\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(t, err)
			t.Cleanup(func() { _ = l.Close() })
			go func() {
				for {
					c, err := l.Accept()
					if err != nil {
						return
					}
					_, _ = io.ReadAtLeast(c, make([]byte, 1024), 10)
					_, _ = io.WriteString(c, answer)
					_ = c.Close()
				}
			}()
			b := newBook(t)
			p := start(t, b, "http://"+l.Addr().String())
			response, err := http.Get(p.url)
			require.NoError(t, err)
			body, err := io.ReadAll(response.Body)
			require.NoError(t, err)
			require.NoError(t, response.Body.Close())
			require.NotContains(t, string(body), "verysecret")
			require.NotContains(t, b.all(), "verysecret")
			require.Contains(t, b.all(), "upstream: ")
		})
	}
}
