package secrets

import (
	"bytes"
	"encoding/base64"
	"strings"
)

// anchors are all that suspects are found by.
func anchors() (all []anchor) {
	for _, t := range tokens {
		all = append(all, anchor{text: t.prefix, at: t.at})
	}
	all = append(all,
		anchor{text: "eyJ", at: jwt},
		anchor{text: "-----BEGIN ", at: pem},
		anchor{text: "PRIVATE+KEY+", at: signingKey},
		anchor{text: "://", at: urlPassword},
		anchor{text: "bearer ", fold: true, at: bearer},
		anchor{text: "basic ", fold: true, at: basic},
	)
	for _, name := range []string{
		"password", "passwd", "secret", "apikey", "api_key", "api-key", "accesskey", "access_key", "access-key",
		"accesstoken", "access_token", "access-token", "authtoken", "auth_token", "auth-token",
	} {
		all = append(all, anchor{text: name, fold: true, at: func(text []byte, at int) (Kind, []byte, int) {
			return password(text, at, at+len(name))
		}})
	}
	return all
}

// begins reports whether nothing stands before at that could be part of a token. The letter of an escape
// that stands in a string inside a string is none.
func begins(text []byte, at int) bool {
	if at == 0 || !wordDash[text[at-1]] {
		return true
	}
	return at > 1 && text[at-2] == '\\' && strings.IndexByte("nrt", text[at-1]) >= 0
}

// run is where a run of a set ends.
func run(text []byte, at int, s *set) int {
	for at < len(text) && s[text[at]] {
		at++
	}
	return at
}

func (t *token) at(text []byte, at int) (Kind, []byte, int) {
	if !begins(text, at) {
		return "", nil, at
	}
	from := at + len(t.prefix)
	end := run(text, from, t.set)
	n := end - from
	if n < t.min {
		return "", nil, at
	}
	value := text[at:end]
	tooLong := t.max > 0 && (n > t.max || end < len(text) && word[text[end]])
	if tooLong || !t.random(text[from:end]) || placeholder(value) {
		return "", nil, end
	}
	return t.kind, value, end
}

func (t *token) random(behind []byte) bool {
	switch t.kind {
	case AWSAccessKey:
		return different(behind) >= 6
	case OpenAIAPIKey:
		return isRandom(behind) && has(behind, '0', '9') && longest(behind, '-') >= 16
	}
	return isRandom(behind)
}

func jwt(text []byte, at int) (Kind, []byte, int) {
	if !begins(text, at) {
		return "", nil, at
	}
	end := run(text, at, wordDash)
	head := text[at:end]
	for _, least := range []int{10, 16} {
		if end >= len(text) || text[end] != '.' {
			return "", nil, end
		}
		from := end + 1
		if end = run(text, from, wordDash); end-from < least {
			return "", nil, end
		}
	}
	var room [1024]byte
	n, err := base64.RawURLEncoding.Decode(room[:], head[:min(len(head), len(room))])
	if err != nil || !bytes.Contains(room[:n], []byte(`"alg"`)) {
		return "", nil, end
	}
	return JWT, text[at:end], end
}

// Bounds of a private key, in bytes behind its head: where its base64 must have begun, and where it ends.
const (
	keyWindow = 256
	maxKey    = 16 << 10
)

func pem(text []byte, at int) (Kind, []byte, int) {
	from := at + len("-----BEGIN ")
	label := text[from:min(from+64, len(text))]
	n := bytes.Index(label, []byte("-----"))
	if n < 0 || !bytes.HasSuffix(bytes.TrimSuffix(label[:n], []byte(" BLOCK")), []byte("PRIVATE KEY")) {
		return "", nil, at
	}
	from += n + len("-----")
	if longestRun(text[from:min(from+keyWindow, len(text))], base64Set) < 40 {
		return "", nil, from
	}
	end := min(from+maxKey, len(text))
	if n := bytes.Index(text[from:end], []byte("-----")); n >= 0 {
		end = from + n
	}
	return PrivateKey, text[at:end], end
}

func longestRun(text []byte, s *set) (n int) {
	for at := 0; at < len(text); at++ {
		end := run(text, at, s)
		n, at = max(n, end-at), end
	}
	return n
}

func signingKey(text []byte, at int) (Kind, []byte, int) {
	from := at + len("PRIVATE+KEY+")
	name := bytes.IndexByte(text[from:min(from+256, len(text))], '+')
	if name < 1 {
		return "", nil, at
	}
	hash := from + name + 1
	end := run(text, hash, hexSet)
	if end-hash != 8 || end == len(text) || text[end] != '+' {
		return "", nil, at
	}
	from = end + 1
	if end = run(text, from, base64Set); end-from < 40 {
		return "", nil, at
	}
	return StenoSigningKey, text[at:end], end
}

func bearer(text []byte, at int) (Kind, []byte, int) {
	value, end := authorization(text, at, len("bearer"))
	if value == nil || !isRandom(value) || placeholder(value) {
		return "", nil, end
	}
	return Authorization, value, end
}

func basic(text []byte, at int) (Kind, []byte, int) {
	value, end := authorization(text, at, len("basic"))
	if len(value) > 4096 {
		return "", nil, end
	}
	plain, err := base64.StdEncoding.DecodeString(string(value))
	if err != nil || bytes.IndexByte(plain, ':') < 0 {
		return "", nil, end
	}
	return Authorization, value, end
}

// authorization gives what stands behind a scheme, nil where it is too short, or a token that is found by
// itself.
func authorization(text []byte, at, scheme int) (value []byte, end int) {
	if !begins(text, at) {
		return nil, at
	}
	from := at + scheme
	for from < len(text) && from < at+scheme+4 && text[from] == ' ' {
		from++
	}
	if isToken(text, from) {
		return nil, from
	}
	if end = run(text, from, credential); end-from < 20 {
		return nil, at
	}
	return text[from:end], end
}

// isToken reports whether a suspect of a shape of its own begins there.
func isToken(text []byte, at int) bool {
	if at+1 >= len(text) {
		return false
	}
	for _, a := range anchorsAt(text, at) {
		if a.fold {
			continue
		}
		if kind, _, _ := a.match(text, at); kind != "" {
			return true
		}
	}
	return false
}

func urlPassword(text []byte, at int) (Kind, []byte, int) {
	from := at + len("://")
	colon := urlPart(text, from, 64)
	if colon == from || colon == len(text) || text[colon] != ':' {
		return "", nil, at
	}
	end := urlPart(text, colon+1, 128)
	value := text[colon+1 : end]
	if len(value) < 3 || end == len(text) || text[end] != '@' || isToken(text, colon+1) || different(value) < 3 || isVariable(value) || placeholder(value) || isWord(value) {
		return "", nil, at
	}
	return URLPassword, value, end
}

// urlPart is where a user or password of a URL ends, after most bytes at the latest.
func urlPart(text []byte, at, most int) int {
	for end := min(at+most, len(text)); at < end; at++ {
		if c := text[at]; c <= ' ' || strings.IndexByte(`/?#@:"'<>\`, c) >= 0 {
			break
		}
	}
	return at
}

// password looks at what a name, which ends at end, is given.
func password(text []byte, at, end int) (Kind, []byte, int) {
	from := pass(text, end, `"'\`)
	from = pass(text, from, " \t")
	given := from
	from = pass(text, from, ":=>")
	if n := from - given; n == 0 || n > 2 || string(text[given:from]) == "==" {
		return "", nil, at
	}
	from = pass(text, from, " \t")
	from = pass(text, from, `"'\`)
	if isToken(text, from) {
		return "", nil, from
	}
	end = from
	for most := min(from+129, len(text)); end < most; end++ {
		if c := text[end]; c <= ' ' || strings.IndexByte("\"'`,;&<>\\)]}", c) >= 0 {
			break
		}
	}
	value := text[from:end]
	if len(value) > 128 || !isPassword(value) {
		return "", nil, at
	}
	return Password, value, end
}

// pass passes over a few bytes of a set.
func pass(text []byte, at int, set string) int {
	for end := min(at+8, len(text)); at < end && strings.IndexByte(set, text[at]) >= 0; at++ {
	}
	return at
}
