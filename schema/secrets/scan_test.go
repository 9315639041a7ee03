package secrets_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/steno-io/steno/schema/secrets"
)

// Secrets are drawn here, so that no scanner of source trees finds one.
const (
	lower  = "abcdefghijklmnopqrstuvwxyz"
	upper  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits = "0123456789"
	alnum  = lower + upper + digits
)

func draw(r *rand.Rand, n int, from string) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = from[r.IntN(len(from))]
	}
	return string(b)
}

// fixture is a text of a kind, and the part of it that is the secret.
type fixture struct {
	kind         secrets.Kind
	text, secret string
}

func whole(kind secrets.Kind, text string) fixture { return fixture{kind, text, text} }

func fixtures(seed uint64) []fixture {
	r := rand.New(rand.NewPCG(seed, 7))
	base := func(n int) string { return base64.StdEncoding.EncodeToString([]byte(draw(r, n, alnum))) }
	url := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	key := func(label string) fixture {
		head, lines := "-----BEGIN "+label+"-----\n", ""
		for range 4 {
			lines += base(48) + "\n"
		}
		return fixture{secrets.PrivateKey, head + lines + "-----END " + label + "-----\n", head + lines}
	}
	all := []fixture{
		whole(secrets.AWSAccessKey, "AK"+"IA"+draw(r, 16, upper+"234567")),
		whole(secrets.AWSAccessKey, "AS"+"IA"+draw(r, 16, upper+"234567")),
		whole(secrets.GitHubToken, "gh"+"p_"+draw(r, 36, alnum)),
		whole(secrets.GitHubToken, "gh"+"s_"+draw(r, 40, alnum)),
		whole(secrets.GitHubToken, "github"+"_pat_"+draw(r, 22, alnum)+"_"+draw(r, 59, alnum)),
		whole(secrets.GitLabToken, "gl"+"pat-"+draw(r, 20, alnum)),
		whole(secrets.SlackToken, "xo"+"xb-"+draw(r, 12, digits)+"-"+draw(r, 12, digits)+"-"+draw(r, 24, alnum)),
		whole(secrets.SlackWebhook, "hooks.slack"+".com/services/T"+draw(r, 8, upper)+"/B"+draw(r, 8, upper)+"/"+draw(r, 24, alnum)),
		whole(secrets.GoogleAPIKey, "AI"+"za"+draw(r, 35, alnum+"-_")),
		whole(secrets.GoogleOAuth, "GOC"+"SPX-"+draw(r, 28, alnum)),
		whole(secrets.AnthropicAPIKey, "sk-"+"ant-api03-"+draw(r, 93, alnum)+"AA"),
		whole(secrets.OpenAIAPIKey, "sk"+"-"+draw(r, 48, alnum)),
		whole(secrets.OpenAIAPIKey, "sk"+"-proj-"+draw(r, 100, alnum)),
		whole(secrets.OpenAIAPIKey, "sk"+"-"+draw(r, 32, "abcdef"+digits)),
		whole(secrets.StripeKey, "sk"+"_live_"+draw(r, 24, alnum)),
		whole(secrets.NPMToken, "np"+"m_"+draw(r, 36, alnum)),
		whole(secrets.HuggingFace, "h"+"f_"+draw(r, 34, lower+upper)),
		whole(secrets.StenoSigningKey, "PRIVATE"+"+KEY+mill.example+"+draw(r, 8, "abcdef"+digits)+"+"+base(33)),
		whole(secrets.JWT, url(`{"alg":"HS256","typ":"JWT"}`)+"."+url(`{"sub":"`+draw(r, 10, digits)+`"}`)+"."+draw(r, 43, alnum)),
		key("RSA PRIVATE " + "KEY"), key("PRIVATE " + "KEY"), key("PGP PRIVATE " + "KEY BLOCK"),
	}
	for _, f := range []struct {
		kind         secrets.Kind
		format, word string
	}{
		{secrets.Authorization, "Authorization: Bearer %s\r\n", draw(r, 40, alnum)},
		{secrets.Authorization, "authorization=basic %s;", base(30) + "==="},
		{secrets.URLPassword, "postgres://mill:%s@127.0.0.1/grain", draw(r, 12, alnum)},
		{secrets.Password, "password=%s\n", draw(r, 12, alnum) + "7a"},
		{secrets.Password, "DB_PASSWORD: \"%s\"", draw(r, 12, alnum) + "7a"},
		{secrets.Password, `{"api_key":"%s"}`, draw(r, 32, "abcdef") + "7a"},
		{secrets.Password, `clientSecret := '%s'`, draw(r, 20, alnum) + "#a7"},
		{secrets.Password, "https://mill.example/?access_token=%s&x=1", draw(r, 30, alnum) + "7a"},
		{secrets.Password, "aws_secret_access_key = %s", draw(r, 39, alnum) + "7"},
	} {
		if strings.HasSuffix(f.word, "===") { // of user and password
			f.word = base64.StdEncoding.EncodeToString([]byte("miller:" + draw(r, 20, alnum)))
		}
		all = append(all, fixture{f.kind, fmt.Sprintf(f.format, f.word), f.word})
	}
	return all
}

func scan(text string) (found []fixture) {
	var s secrets.Scanner
	s.Scan([]byte(text), func(kind secrets.Kind, value []byte) {
		found = append(found, fixture{kind, "", string(value)})
	})
	return found
}

func TestEveryShapeIsFound(t *testing.T) {
	kinds := map[secrets.Kind]bool{}
	for seed := range uint64(50) {
		for _, f := range fixtures(seed) {
			kinds[f.kind] = true
			want := []fixture{{f.kind, "", f.secret}}
			for _, frame := range []string{"%s", "a %s b", "\n%s\n", `"%s"`, "say:%s,", "é%s é", "(%s)"} {
				require.Equal(t, want, scan(fmt.Sprintf(frame, f.text)), "%s in %q", f.kind, frame)
			}
			once, err := json.Marshal(map[string]any{"text": "so\n" + f.text, "n": 1})
			require.NoError(t, err)
			require.Equal(t, want, scan(string(once)), "in a JSON string")
		}
	}
	require.Len(t, kinds, 18)
}

// A tool's output is JSON in a string of JSON, often enough.
func TestTokensInJSONInJSON(t *testing.T) {
	for _, f := range fixtures(1) {
		if f.kind == secrets.PrivateKey {
			continue // its lines are told from others by their ends
		}
		once, err := json.Marshal("so:\n" + f.text)
		require.NoError(t, err)
		twice, err := json.Marshal(map[string]string{"output": string(once)})
		require.NoError(t, err)
		found := scan(string(twice))
		require.Len(t, found, 1, "%s: %s", f.kind, twice)
		require.Equal(t, f.kind, found[0].kind)
	}
}

func TestWhatIsNoSecretIsNotFound(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, text := range []string{
		"", "a", "sk-", "the password is not here", "password: ", `"password":""`, `{"type":"password","secret":"string"}`,
		"AK" + "IAIOSFODNN7EXAMPLE", "AK" + "IA" + strings.Repeat("A", 16), "AK" + "IA" + draw(r, 20, upper+"234567"),
		"task-" + draw(r, 40, alnum), "sk-learn-model-for-classification-of-grain-v2", "disk-" + draw(r, 32, "abcdef"+digits),
		"gh" + "p_" + draw(r, 12, alnum), "gh" + "p_" + strings.Repeat("x", 36), "hf_transformers_utils_and_more_of_these",
		"password=os.environ[\"DB_PASSWORD\"]", "password: ${DB_PASSWORD_1}", "password = getPassword1()", "secret: process.env.SECRET_1",
		"password == other1234", "password: changeme123", "API_KEY=your-api-key-1234", "api_key: <the key 1234567>", "secret=/run/secrets/db1",
		"password=********", "apiKey: xxxxxxxx1234", `"secret": null, "password": undefined`, "const password = await readPassword1;",
		"https://mill.example:8080/a@b", "http://[::1]:7070/", "https://user:password@mill.example/", "https://user:$TOKEN@mill.example/", "scheme://a:b",
		"-----BEGIN PRIVATE " + "KEY-----", "-----BEGIN PRIVATE " + "KEY-----\n…\n-----END PRIVATE KEY-----\n" + strings.Repeat("grain is ground here ", 20),
		"-----BEGIN CERTIFICATE-----\n" + draw(r, 64, alnum), "-----BEGIN PUBLIC KEY-----\n" + draw(r, 64, alnum),
		"eyJ" + draw(r, 40, alnum), "eyJ" + draw(r, 20, alnum) + "." + draw(r, 20, alnum) + "." + draw(r, 20, alnum),
		"Bearer of the news from yesterday", "Bearer ....................", "a basic understanding-of-things-2024", "basic 2024-roadmap-discussion-notes",
		"0198f3d2-7c6b-7b3e-9d43-a3f3a7a3a0c1", strings.Repeat("deadbeef", 8), "sha256:" + draw(r, 64, "abcdef"+digits),
		`\`, `\u`, `\ud83d`, `\ud83d\u`, `password=\`, "://", "://:@",
	} {
		require.Empty(t, scan(text), "%q", text)
	}
}

func TestATokenIsNotCountedAgainForItsName(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	token := "gh" + "p_" + draw(r, 36, alnum)
	for _, frame := range []string{"password=%s", "Authorization: Bearer %s", `{"access_token": "%s"}`, "https://x:%s@github.example/a", "authtoken=%s"} {
		require.Equal(t, []fixture{{secrets.GitHubToken, "", token}}, scan(fmt.Sprintf(frame, token)), frame)
	}
}

// What is planted is found, whatever stands around it.
func TestPlantedInAnything(t *testing.T) {
	all := fixtures(5)
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.SampledFrom(all[:19]).Draw(t, "secret") // those with a shape of their own
		before := rapid.StringMatching(`[a-zA-Z0-9_:=/"' -]{0,40}`).Draw(t, "before")
		behind := rapid.StringN(0, 40, -1).Draw(t, "behind")
		require.Contains(t, scan(before+" ; "+f.text+" ; "+behind), fixture{f.kind, "", f.secret})
	})
}

func FuzzScan(f *testing.F) {
	for _, one := range fixtures(9) {
		f.Add([]byte(one.text))
	}
	f.Add([]byte(`secret=secret=\u00e9\ud83d\ude00://a:b@password:password`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var s secrets.Scanner
		total := 0
		s.Scan(text, func(kind secrets.Kind, value []byte) {
			require.NotEmpty(t, kind)
			total += len(value)
		})
		require.LessOrEqual(t, total, len(text), "no byte is of two suspects")
	})
}

func BenchmarkScan(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	text := strings.Repeat(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"The miller counts the sacks, and the \"password\" is kept:\n nobody has access to it.\n"}}}}`, 40)
	for name, text := range map[string]string{
		"talk":   text,
		"plain":  strings.ReplaceAll(text, `\`, ""),
		"base64": draw(r, 10_000, alnum),
		"worst":  strings.Repeat("secret=sk-://", 800),
	} {
		b.Run(name, func(b *testing.B) {
			var s secrets.Scanner
			data := []byte(text)
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				s.Scan(data, func(secrets.Kind, []byte) {})
			}
		})
	}
}
