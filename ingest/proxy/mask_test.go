package proxy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// shown is a request's body as it would be recorded.
func shown(verb, path, text string) (string, masks) {
	x := &exchange{proxy: &Proxy{}}
	x.request.calls = readCalls(verb, path, []byte(text))
	var h hidden
	return string(x.maskRequest([]byte(text), h.add)), h.masks
}

// answered is an answer's body as it would be recorded.
func answered(verb, path, question, text string) (string, masks) {
	x := &exchange{proxy: &Proxy{}}
	x.request.calls = readCalls(verb, path, []byte(question))
	var h hidden
	x.maskRequest([]byte(question), h.add)
	x.request.hidden = h
	b, m := x.maskAnswer([]byte(text), true, 200)
	return string(b), m
}

// In the tables S stands for a secret string, N for a secret number.
// fill gives a text with its secrets, <S> a string and <N> a number, and masked.
func fill(text string) (with, without string) {
	return strings.NewReplacer("<S>", `"geheim"`, "<N>", "4711").Replace(text), strings.NewReplacer("<S>", `"***"`, "<N>", `"***"`).Replace(text)
}

func TestSecretsInRequestsAreMasked(t *testing.T) {
	const v03 = `{"url":"https://h/p","token" : <S>,"authentication":{"schemes":["Bearer"],"credentials":<S>}}`
	for _, c := range []struct {
		name, path, text string
		masked           []string
	}{
		{"0.3 send", "/", `{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"configuration":{"pushNotificationConfig":` + v03 + `}}}`,
			[]string{"body params.configuration.pushNotificationConfig.token", "body params.configuration.pushNotificationConfig.authentication.credentials"}},
		{"0.3 stream", "/", `{"method":"message/stream","params":{"message":{"parts":[{"kind":"data","data":{"token":"t"}}]},"configuration":{"pushNotificationConfig":{"token":<S>}}}}`,
			[]string{"body params.configuration.pushNotificationConfig.token"}},
		{"0.3 set", "/", `{"method":"tasks/pushNotificationConfig/set","params":{"taskId":"t","pushNotificationConfig":` + v03 + `,"metadata":{"token":"kept"}}}`,
			[]string{"body params.pushNotificationConfig.token", "body params.pushNotificationConfig.authentication.credentials"}},
		{"0.1 send", "/", `{"method":"tasks/send","params":{"id":"1","pushNotification":{"url":"u","token":<S>}}}`, []string{"body params.pushNotification.token"}},
		{"0.1 set", "/", `{"method":"tasks/pushNotification/set","params":{"id":"1","pushNotificationConfig":{"token":<S>}}}`, []string{"body params.pushNotificationConfig.token"}},
		{"1.0 send", "/", `{"method":"SendMessage","params":{"configuration":{"taskPushNotificationConfig":{"token":<S>,"authentication":{"scheme":"Bearer","credentials":<N>}}}}}`,
			[]string{"body params.configuration.taskPushNotificationConfig.token", "body params.configuration.taskPushNotificationConfig.authentication.credentials"}},
		{"1.0 create", "/", `{"method":"CreateTaskPushNotificationConfig","params":{"taskId":"t","url":"u","token":<S>,"authentication":{"credentials":<S>}}}`,
			[]string{"body params.token", "body params.authentication.credentials"}},
		{"method last", "/", `{"params":{"token":<S>},"method":"CreateTaskPushNotificationConfig"}`, []string{"body params.token"}},
		{"snake case", "/", `{"method":"SendMessage","params":{"configuration":{"task_push_notification_config":{"token":<S>}}}}`, []string{"body params.configuration.task_push_notification_config.token"}},
		{"capitals", "/", `{"method":"SendMessage","Params":{"Configuration":{"TaskPushNotificationConfig":{"TOKEN":<S>}}}}`, []string{"body Params.Configuration.TaskPushNotificationConfig.TOKEN"}},
		{"escapes", "/", `{"method":"message/send","p\u0061rams":{"configuration":{"pushNotificationConfig":{"tok\u0065n":<S>}}}}`, []string{"body params.configuration.pushNotificationConfig.token"}},
		{"batch", "/", ` [ {"method":"message/send","params":{}}, {"method":"CreateTaskPushNotificationConfig","params":{"token":<S>}} ] `, []string{"body [1].params.token"}},
		{"duplicates", "/", `{"method":"message/send","params":{"configuration":{"pushNotificationConfig":{"token":<S>,"token":<S>}}},"params":{"pushNotificationConfig":{"token":<N>}}}`,
			[]string{"body params.configuration.pushNotificationConfig.token", "body params.pushNotificationConfig.token"}},
		{"any type", "/", `{"method":"message/send","params":{"pushNotificationConfig":{"token":[<S>,{"a":<N>,"b":[<S>]},null],"authentication":{"credentials":{"user":<S>}}}}}`,
			[]string{"body params.pushNotificationConfig.token", "body params.pushNotificationConfig.authentication.credentials"}},
		{"bare authentication", "/", `{"method":"message/send","params":{"pushNotificationConfig":{"authentication":<S>}}}`, []string{"body params.pushNotificationConfig.authentication"}},
		{"list of authentications", "/", `{"method":"message/send","params":{"pushNotificationConfig":{"authentication":[{"credentials":<S>},{"scheme":"x"}]}}}`, []string{"body params.pushNotificationConfig.authentication.credentials"}},
		{"other secrets", "/", `{"method":"message/send","params":{"pushNotificationConfig":{"apiKey":<S>,"client_secret":<S>}}}`, []string{"body params.pushNotificationConfig.apiKey", "body params.pushNotificationConfig.client_secret"}},
		{"unknown method", "/", `{"method":"a2a.SetPush","params":{"token":<S>}}`, []string{"body params.token"}},
		{"half migrated", "/", `{"method":"SendMessage","params":{"configuration":{"taskPushNotificationConfig":{"taskId":"x","pushNotificationConfig":{"token":<S>}}}}}`,
			[]string{"body params.configuration.taskPushNotificationConfig.pushNotificationConfig.token"}},
		{"1.0 REST send", "/message:send", `{"message":{"metadata":{"token":"kept"}},"configuration":{"taskPushNotificationConfig":{"token":<S>}}}`, []string{"body configuration.taskPushNotificationConfig.token"}},
		{"0.3 REST send", "/v1/message:stream", `{"configuration":{"pushNotification":{"token":<S>}}}`, []string{"body configuration.pushNotification.token"}},
		{"1.0 REST create", "/acme/tasks/t/pushNotificationConfigs", `{"url":"u","token":<S>}`, []string{"body token"}},
		{"0.3 REST create", "/v1/tasks/t/pushNotificationConfigs", `{"config":{"name":"n","pushNotificationConfig":{"token":<S>}}}`, []string{"body config.pushNotificationConfig.token"}},
		{"tokens of OAuth", "/", `{"method":"message/send","params":{"metadata":{"ext":{"access_token":<S>}},"message":{"metadata":{"id-token":<S>,"client_secret":<N>,"refresh_token":[<S>]},"parts":[{"data":{"access_token":"kept"},"metadata":{"accessToken":<S>}}]}}}`,
			[]string{"body metadata.access_token", "body metadata.id-token", "body metadata.client_secret", "body metadata.refresh_token", "body metadata.accessToken"}},
		{"tokens of OAuth that break off", "/", `{"method":"message/send","params":{"metadata":{"access_token":<S>,`, []string{"body metadata.access_token"}},
		{"byte order mark", "/", "\uFEFF" + `{"method":"message/send","params":{"pushNotificationConfig":{"token":<S>}}}`, []string{"body params.pushNotificationConfig.token"}},
		{"two values", "/", `{"method":"x"} {"method":"message/send","params":{"pushNotificationConfig":{"token":<S>}}}`, []string{"body params.pushNotificationConfig.token"}},
		{"no JSON any more", "/", `{"method":"message/send","params":{"x":nope,"pushNotificationConfig":{"token":<S>,"credentials" : <N>}}}`, []string{"body behind its JSON"}},
		{"too deep", "/", `{"params":{"metadata":` + strings.Repeat("[", 10_100) + strings.Repeat("]", 10_100) + `,"pushNotificationConfig":{"token":<S>}}}`, []string{"body behind its JSON"}},
		{"bad UTF-8", "/", "{\"x\":\"\xff\",\"method\":\"message/send\",\"params\":{\"pushNotificationConfig\":{\"token\":<S>}}}", []string{"body params.pushNotificationConfig.token"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			with, without := fill(c.text)
			got, masked := shown("POST", c.path, with)
			require.Equal(t, without, got)
			require.Equal(t, c.masked, []string(masked))
		})
	}
}

func TestWhatIsNoSecretStays(t *testing.T) {
	for _, c := range []struct{ path, text string }{
		{"/", ``}, {"/", ` `}, {"/", `nothing "token":"x"`}, {"/", `["token"]`}, {"/", `"token"`}, {"/", `{"token":"x"}`},
		{"/", `{"method":"SendMessage","params":{"token":"x","message":{"parts":[{"data":{"pushNotificationConfig":{"token":"x"}}}]},"metadata":{"configuration":{"pushNotificationConfig":{"token":"x"}}}}}`},
		{"/", `{"method":"ListTaskPushNotificationConfigs","params":{"pageToken":"x"}}`},
		{"/", `{"method":"x","params":{"pageToken":"x","next_page_token":"y"}}`},
		{"/", `{"method":"message/send","params":{"pushNotificationConfig":{"token":null,"metadata":{"token":"x"},"data":{"credentials":"x"},"url":"https://h/p?q=1"}}}`},
		{"/tasks/t/pushNotificationConfigs", `{"metadata":{"token":"x"},"id":"token"}`},
		{"/other", `{"url":"u","token":"x"}`},
		{"/", "{\"a\" : 1e400,\n\t\"b\":\"\\ud800\"}"},
	} {
		got, masked := shown("POST", c.path, c.text)
		require.Equal(t, c.text, got)
		require.Empty(t, masked)
	}
}

func TestSecretsInAddressesAreMasked(t *testing.T) {
	for in, want := range map[string]string{
		"https://u:geheim@h/p?a=1&token=geheim&b=2#f":                                              "https://***@h/p?a=1&token=***&b=2#f",
		"https://h/?api-key=geheim;x=1":                                                            "https://h/?api-key=***;x=1",
		"https://h/?access%5Ftoken=geheim":                                                         "https://h/?access%5Ftoken=***",
		"https://h/#access_token=geheim&a=1":                                                       "https://h/#access_token=***&a=1",
		"https://h/@p?token=&token":                                                                "https://h/@p?token=&token",
		"https://h/?key=geheim&Sig=geheim&code=geheim":                                             "https://h/?key=***&Sig=***&code=***",
		"https://h/?jwt=geheim&auth=geheim&pwd=geheim":                                             "https://h/?jwt=***&auth=***&pwd=***",
		"https://h/?X-Amz-Signature=geheim&passwd=geheim&X-Goog-Signature=geheim&signature=geheim": "https://h/?X-Amz-Signature=***&passwd=***&X-Goog-Signature=***&signature=***",
		"https://h/?X-Amz-Credential=geheim&X-Amz-Security-Token=geheim":                           "https://h/?X-Amz-Credential=***&X-Amz-Security-Token=***",
		"https://h/?keyword=a&author=b&codec=c&monkey=d":                                           "https://h/?keyword=a&author=b&codec=c&monkey=d",
		"//geheim@h": "//***@h",
		"not a url":  "not a url",
	} {
		text := fmt.Sprintf(`{"method":"message/send","params":{"pushNotificationConfig":{"url":%q}}}`, in)
		got, _ := shown("POST", "/", text)
		require.Equal(t, fmt.Sprintf(`{"method":"message/send","params":{"pushNotificationConfig":{"url":%q}}}`, want), got)
	}
}

func TestSecretsInAnswersAreMasked(t *testing.T) {
	const get, list, create = `{"method":"tasks/pushNotificationConfig/get"}`, `{"method":"ListTaskPushNotificationConfigs"}`, `{"method":"CreateTaskPushNotificationConfig"}`
	for _, c := range []struct{ name, verb, path, question, text string }{
		{"0.3 get", "POST", "/", get, `{"jsonrpc":"2.0","result":{"taskId":"t","pushNotificationConfig":{"token":<S>}}}`},
		{"0.3 list", "POST", "/", `{"method":"tasks/pushNotificationConfig/list"}`, `{"result":[{"pushNotificationConfig":{"token":<S>}},{"pushNotificationConfig":{"authentication":{"credentials":<S>}}}]}`},
		{"1.0 create", "POST", "/", create, `{"result":{"token":<S>,"authentication":{"credentials":<S>}}}`},
		{"1.0 list", "POST", "/", list, `{"result":{"configs":[{"token":<S>},{"token":<N>}],"nextPageToken":"kept"}}`},
		{"snake case", "POST", "/", get, `{"result":{"push_notification_config":{"token":<S>}}}`},
		{"batch", "POST", "/", "[" + get + `,{"method":"message/send"}]`, `[{"result":{"pushNotificationConfig":{"token":<S>}}}]`},
		{"REST get", "GET", "/tasks/t/pushNotificationConfigs/c", "", `{"token":<S>}`},
		{"REST list", "GET", "/v1/tasks/t/pushNotificationConfigs", "", `{"configs":[{"name":"n","pushNotificationConfig":{"token":<S>}}]}`},
		{"REST list, bare", "GET", "/v1/tasks/t/pushNotificationConfigs", "", `[{"pushNotificationConfig":{"token":<S>}}]`},
		{"REST create", "POST", "/tasks/t/pushNotificationConfigs", `{}`, `{"token":<S>}`},
		{"another call", "POST", "/", `{"method":"tasks/get"}`, `{"result":{"pushNotificationConfig":{"token":"kept"}}}`},
		{"error", "POST", "/", get, `{"error":{"code":1,"message":"token"}}`},
		{"error that quotes a config", "POST", "/", create, `{"error":{"code":-32602,"data":[{"loc":["params","url"],"input":{"token":<S>,"id":"kept","pageToken":"kept","authentication":{"scheme":"kept","credentials":<N>}}}]}}`},
		{"error that quotes a part", "POST", "/", create, `{"error":{"data":[{"authentication":<S>,"x":[{"client_secret":{"a":[<N>,null]}}]}]}}`},
		{"error that quotes an address", "POST", "/", create, `{"error":{"data":{"url":"https://h/?a=1"}}}`},
		{"error of a batch", "POST", "/", "[" + create + "]", `[{"error":{"data":{"token":<S>}}}]`},
		{"unknown method", "POST", "/", `{"method":"a2a.GetPush"}`, `{"result":{"token":<S>,"sessionId":"kept"}}`},
		{"error of an unknown method", "POST", "/", `{"method":"a2a.SetPush"}`, `{"error":{"data":{"input":{"token":<S>}}}}`},
		{"error of another call", "POST", "/", `{"method":"tasks/get"}`, `{"error":{"data":{"token":"kept"}}}`},
		{"error to a send", "POST", "/", `{"method":"message/send","params":{"configuration":{"pushNotificationConfig":{"token":"x"}}}}`, `{"error":{"data":{"input":{"configuration":{"pushNotificationConfig":{"token":<S>}}}}}}`},
		{"error to a send without a config", "POST", "/", `{"method":"message/send"}`, `{"error":{"data":{"token":"kept"}}}`},
		{"tokens of OAuth", "POST", "/", `{"method":"tasks/get"}`, `{"result":{"token":"kept","access_token":"kept","metadata":{"token":"kept","access_token":<S>,"a":[{"refreshToken":<S>,"id_token":<N>}],"client_secret":[<S>]}}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			with, without := fill(c.text)
			got, masked := answered(c.verb, c.path, c.question, with)
			require.Equal(t, without, got)
			require.Equal(t, with == without, len(masked) == 0)
		})
	}
}

func TestMasksAreBounded(t *testing.T) {
	var b strings.Builder
	for i := range 100 {
		fmt.Fprintf(&b, `,"token%d%s":"x"`, i, strings.Repeat("ü", 100))
	}
	got, masked := shown("POST", "/", `{"method":"message/send","params":{"pushNotificationConfig":{"a":1`+b.String()+`}}}`)
	require.NotContains(t, got, `"x"`)
	require.Len(t, masked, maxMasked)
	for _, m := range masked {
		require.Less(t, len(m), 200)
	}
	h := http.Header{}
	for i := range 100 {
		h.Set(fmt.Sprintf("X-Token-%d", i), "x")
	}
	require.Len(t, headerEvidence(h).Masked, maxMasked)
}

// TestMaskingTouchesSecretsOnly draws bodies of all dialects with secrets at their places and checks
// that exactly those are gone.
func TestMaskingTouchesSecretsOnly(t *testing.T) {
	const secret = "geheim"
	rapid.Check(t, func(t *rapid.T) {
		space := rapid.SampledFrom([]string{"", " ", "\n\t"})
		name := func(s string) string {
			switch rapid.IntRange(0, 3).Draw(t, "spelling") {
			case 1:
				var b strings.Builder
				for _, c := range s {
					if c >= 'A' && c <= 'Z' {
						b.WriteByte('_')
					}
					b.WriteString(strings.ToLower(string(c)))
				}
				s = b.String()
			case 2:
				s = strings.ToUpper(s)
			}
			return `"` + s + `"` + space.Draw(t, "space") + ":" + space.Draw(t, "space")
		}
		harmless := func() string {
			return rapid.SampledFrom([]string{
				`"metadata":{"token":"kept","pushNotificationConfig":{"token":"kept"}}`, `"data":[{"credentials":"kept"}]`, `"n":1.50`, `"s":"\u00e4\ud800 ü"`, `"x":{}`,
			}).Draw(t, "harmless")
		}
		// Two texts grow side by side: with secrets, and as they should be recorded.
		type pair struct{ with, without string }
		join := func(parts ...pair) (p pair) {
			for i, one := range parts {
				if i > 0 {
					p.with, p.without = p.with+",", p.without+","
				}
				p.with, p.without = p.with+one.with, p.without+one.without
			}
			return pair{"{" + p.with + "}", "{" + p.without + "}"}
		}
		member := func(n string, v pair) pair { k := name(n); return pair{k + v.with, k + v.without} }
		same := func(s string) pair { return pair{s, s} }
		hidden := func() pair {
			return rapid.SampledFrom([]pair{
				{`"` + secret + `"`, `"***"`}, {"4711", `"***"`}, {`["` + secret + `",null,{"k":"` + secret + `"}]`, `["***",null,{"k":"***"}]`}, {"null", "null"}, {`""`, `"***"`},
			}).Draw(t, "secret")
		}
		conf := func() pair {
			parts := []pair{same(harmless())}
			for range rapid.IntRange(0, 3).Draw(t, "members") {
				switch rapid.IntRange(0, 3).Draw(t, "member") {
				case 0:
					parts = append(parts, member("token", hidden()))
				case 1:
					parts = append(parts, member("authentication", join(same(`"schemes":["Bearer"]`), member("credentials", hidden()))))
				case 2:
					parts = append(parts, member("url", pair{`"https://u:` + secret + `@h/?token=` + secret + `"`, `"https://***@h/?token=***"`}))
				default:
					parts = append(parts, same(harmless()))
				}
			}
			return join(parts...)
		}
		var path, method string
		var params pair
		switch rapid.IntRange(0, 4).Draw(t, "place") {
		case 0:
			method, params = "message/send", join(same(harmless()), member("configuration", join(member("pushNotificationConfig", conf()), same(harmless()))))
		case 1:
			method, params = "tasks/pushNotificationConfig/set", join(same(harmless()), member("pushNotificationConfig", conf()))
		case 2:
			method, params = "SendStreamingMessage", join(member("configuration", join(member("taskPushNotificationConfig", conf()))), same(harmless()))
		case 3:
			method, params = "CreateTaskPushNotificationConfig", conf()
		default:
			method, params = "tasks/sendSubscribe", join(member("pushNotification", conf()))
		}
		doc := params
		if rapid.Bool().Draw(t, "rest") {
			path = "/message:send"
			if method == "CreateTaskPushNotificationConfig" {
				path = "/tasks/t/pushNotificationConfigs"
			}
		} else {
			doc = join(same(`"jsonrpc":"2.0"`), member("params", params), same(`"method":"`+method+`"`))
			if rapid.Bool().Draw(t, "batch") {
				doc = pair{"[" + doc.with + "]", "[" + doc.without + "]"}
			}
		}
		got, _ := shown("POST", path, doc.with)
		if got != doc.without {
			t.Fatalf("%s %s\nis    %s\nwants %s", path, doc.with, got, doc.without)
		}
		// Cut anywhere, it keeps its secrets to itself too.
		cut := doc.with[:rapid.IntRange(0, len(doc.with)).Draw(t, "cut")]
		if got, _ := shown("POST", path, cut); strings.Contains(strings.ReplaceAll(got, `"kept"`, ""), secret) {
			t.Fatalf("%s %s\nis %s", path, cut, got)
		}
	})
}

// FuzzMasks: whatever a body is, masking changes nothing but values, and what was JSON stays JSON.
func FuzzMasks(f *testing.F) {
	for _, s := range []string{
		`{"method":"message/send","params":{"configuration":{"pushNotificationConfig":{"token":"a","url":"http://u:p@h"}}}}`,
		`[{"method":"CreateTaskPushNotificationConfig","params":{"token":{"a":[1,null]},"authentication":{"credentials":"x"}}}]`,
		`{"configuration":{"taskPushNotificationConfig":{"token":1}}}`, `{"result":{"configs":[{"token":1}]}}`, `{"params":{"token":`,
	} {
		f.Add([]byte(s), "/")
		f.Add([]byte(s), "/tasks/1/pushNotificationConfigs")
	}
	f.Fuzz(func(t *testing.T, text []byte, path string) {
		before := bytes.Clone(text)
		got, masked := shown("POST", path, string(text))
		require.Equal(t, before, text)
		if len(masked) == 0 {
			require.Equal(t, string(text), got)
		}
		if isJSON(text) {
			require.True(t, isJSON([]byte(got)), "%s", got)
		}
		again, _ := shown("POST", path, got)
		require.Equal(t, got, again, "masking masked text changes nothing")
		back, _ := answered("GET", "/tasks/1/pushNotificationConfigs", "", string(text))
		if isJSON(text) {
			require.True(t, isJSON([]byte(back)))
		}
		if json.Valid(text) {
			require.True(t, json.Valid([]byte(got)))
		}
	})
}
