package proxy

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestASecretIsFoundHoweverItIsSpelt(t *testing.T) {
	for _, c := range []struct{ secret, text, want string }{
		{"s3cr3t-token", `x s3cr3t-token y s3cr3t-token`, `x *** y ***`},
		{"s3cr3t/tok=n", `"s3cr3t\/tok=n" s3cr3t%2Ftok%3Dn`, `"***" ***`},
		{"s3cr3t<&>tok", "\"s3cr3t\\u003c\\u0026\\u003etok\" s3cr3t<&>tok", `"***" ***`},
		{"geheimnüs😀", `"geheimn\u00fcs\ud83d\ude00" "geheimnüs😀"`, `"***" "***"`},
		{`gehei"mnis\`, `"gehei\"mnis\\" gehei"mnis\`, `"***" gehei"mnis\`},
		{"12345678", `{"a":12345678,"b":"12345678","c":-12345678.5}`, `{"a":0,"b":"0","c":-0.5}`},
		{"short77", `short77`, `short77`},
		{"s3cr3t-token", `s3cr3t-toke`, `***`},
		{"s3cr3t-token", `s3cr3t-`, `s3cr3t-`},
	} {
		got, found := newEchoes([]string{c.secret}).hide([]byte(c.text))
		require.Equal(t, c.want, string(got))
		require.Equal(t, c.want != c.text, found)
	}
	got, _ := newEchoes([]string{"abcdefgh", "abcdefghijkl"}).hide([]byte("abcdefghijkl abcdefghij abcdefgh"))
	require.Equal(t, "*** ***ij ***", string(got), "of two the longer one")
	require.True(t, newEchoes([]string{"conversation-1"}, []byte(`{"contextId":"conversation-1"}`)).none(), "what is said in the open is no secret")
	require.True(t, newEchoes([]string{strings.Repeat("x", longEcho+1)}).none())
	var many []string
	for i := range 2 * maxEchoes {
		many = append(many, fmt.Sprintf("secret-%d", i), fmt.Sprintf("secret-%d", i))
	}
	require.Len(t, newEchoes(many).all, maxEchoes)
}

// TestASecretIsFoundInPieces: wherever a text is cut, what is masked is the same, and what is passed on
// before the end of a secret is none of it.
func TestASecretIsFoundInPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		secrets := rapid.SliceOfN(rapid.StringMatching(`[ab]{8,11}`), 1, 3).Draw(t, "secrets")
		text := rapid.StringMatching(`[ab ]{0,60}`).Draw(t, "text")
		e := newEchoes(secrets)
		want, _ := e.hide([]byte(text))
		s := echoSearch{echoes: e}
		var got []byte
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "n")
			got = append(got, s.feed([]byte(rest[:n]))...)
			rest = rest[n:]
			for _, secret := range secrets {
				if strings.Contains(string(got), secret) {
					t.Fatalf("%q holds %q", got, secret)
				}
			}
		}
		got = append(got, s.finish()...)
		if string(got) != string(want) {
			t.Fatalf("%q of %q in pieces gives %q, whole %q", text, secrets, got, want)
		}
	})
}

const (
	bodySecret   = "push-s3cr3t-1"
	headerSecret = "header-s3cr3t-2"
	querySecret  = "query-s3cr3t-3"
	farSecret    = "upstream-s3cr3t-4"
)

// parrot answers with all secrets that it was told, in pieces of so many bytes.
func parrot(t *testing.T, kind string, gz bool, piece int) string {
	return upstream(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		token := bodySecret
		if !strings.Contains(string(body), token) {
			token = ""
		}
		text := fmt.Sprintf("data: {\"id\":1,\"error\":{\"code\":-32602,\"message\":\"bad %s, %s, %s\",\"data\":\"%s\"}}\n\n",
			token, strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), r.URL.Query().Get("token"), r.URL.Query().Get("key"))
		if kind == "application/json" {
			text = strings.TrimSpace(strings.TrimPrefix(text, "data: "))
		}
		w.Header().Set("Content-Type", kind)
		w.Header().Set("Location", "/"+token)
		if gz {
			w.Header().Set("Content-Encoding", "gzip")
			text = string(squeeze(t, 0, text))
		}
		for text != "" {
			n := min(len(text), piece)
			_, _ = io.WriteString(w, text[:n])
			_ = http.NewResponseController(w).Flush()
			text = text[n:]
		}
	}).URL
}

func TestSecretsOfARequestAreNotInTheRecordOfItsAnswer(t *testing.T) {
	const send = `{"jsonrpc":"2.0","id":1,"method":"%s","params":{"configuration":{"pushNotificationConfig":{"url":"https://h","token":"` + bodySecret + `"}}}}`
	for _, kind := range []string{"application/json", "text/event-stream", "text/html"} {
		for _, method := range []string{"message/send", "message/stream", "tasks/pushNotificationConfig/set", "a2a.Unknown"} {
			for _, gz := range []bool{false, true} {
				for _, piece := range []int{1, 7, 1 << 20} {
					t.Run(fmt.Sprint(kind, " ", method, " gzip ", gz, " in ", piece), func(t *testing.T) {
						peer := parrot(t, kind, gz, piece)
						b := newBook(t)
						p := start(t, b, peer+"/?key="+farSecret, serveV03)
						direct, want := ask(t, client(t, false), newRequest(t, "POST", peer+"/?key="+farSecret+"&token="+querySecret, fmt.Sprintf(send, method), "Authorization", "Bearer "+headerSecret))
						_, got := ask(t, client(t, false), newRequest(t, "POST", p.url+"/?token="+querySecret, fmt.Sprintf(send, method), "Authorization", "Bearer "+headerSecret))
						if !gz && kind != "text/event-stream" {
							require.Equal(t, want, got, "the client gets all of it")
						}
						require.Equal(t, 200, direct.StatusCode)
						x := b.only(t)
						require.Contains(t, x.answer.body, `"bad ***, ***, ***"`)
						require.NotEmpty(t, x.answer.ev.Masked)
						require.Equal(t, "/***", x.answer.ev.Headers["location"])
						for _, secret := range []string{bodySecret, headerSecret, querySecret, farSecret} {
							require.NotContains(t, b.all(), secret)
						}
					})
				}
			}
		}
	}
}

// TestTheIDOfAConversationIsNoSecret: clients put it into headers that bear a session's name.
func TestTheIDOfAConversationIsNoSecret(t *testing.T) {
	const answer = `{"result":{"id":"t","contextId":"conversation-1","kind":"task"}}`
	peer := upstream(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, answer)
	})
	b := newBook(t)
	p := start(t, b, peer.URL)
	ask(t, client(t, false), newRequest(t, "POST", p.url+"/?session=conversation-1", `{"method":"tasks/get"}`, "X-Session-Id", "conversation-1"))
	ask(t, client(t, false), newRequest(t, "POST", p.url, `{"method":"message/send","params":{"message":{"contextId":"conversation-1"}}}`, "X-Token", "conversation-1"))
	for _, x := range b.closed(t, 2) {
		require.Equal(t, answer, x.answer.body)
	}
}

// TestALargeAnswerIsNotReadWhole where it need not be.
func TestALargeAnswerIsNotReadWhole(t *testing.T) {
	for _, announced := range []bool{true, false} {
		answer := `{"result":"` + bodySecret + strings.Repeat("x", 2000) + `"}`
		peer := upstream(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			if announced {
				w.Header().Set("Content-Length", fmt.Sprint(len(answer)))
			}
			_, _ = io.WriteString(w, answer[:1500])
			_ = http.NewResponseController(w).Flush()
			_, _ = io.WriteString(w, answer[1500:])
		})
		b := newBook(t)
		p := start(t, b, peer.URL)
		p.max = 1000
		_, got := ask(t, client(t, false), newRequest(t, "POST", p.url, `{"method":"a2a.Unknown","params":{"token":"`+bodySecret+`"}}`))
		require.Equal(t, answer, got)
		x := b.only(t)
		require.Empty(t, x.closed.Error)
		require.Equal(t, strings.Replace(answer, bodySecret, mask, 1), x.answer.body)
		require.Equal(t, []string{mayEchos}, x.answer.ev.Masked)
	}
}

func TestAnErrorOfRESTQuotesNoSecret(t *testing.T) {
	peer := upstream(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnprocessableEntity)
		_, _ = io.WriteString(w, `{"detail":[{"loc":["body"],"input":{"token":"kurz","url":"https://h/?sig=kurz"}}]}`)
	})
	b := newBook(t)
	p := start(t, b, peer.URL)
	for i, path := range []string{"/message:send", "/tasks/t/pushNotificationConfigs"} {
		ask(t, client(t, false), newRequest(t, "POST", p.url+path, `{"token":"kurz","configuration":{"pushNotificationConfig":{"token":"kurz"}}}`))
		x := b.closed(t, i+1)[i]
		require.Equal(t, `{"detail":[{"loc":["body"],"input":{"token":"***","url":"https://h/?sig=***"}}]}`, x.answer.body)
		require.NotEmpty(t, x.answer.ev.Masked)
	}
}
