package proxy

import (
	"encoding/base64"
	"net/http"
	"slices"
	"strings"
)

// secretParts are the parts of names whose values are secrets, wherever they stand; names are compared
// in lower case and without dashes and underscores.
var secretParts = []string{"token", "secret", "apikey", "credential", "password", "authorization", "cookie"}

// In headers and queries more is a secret: there names are short, and say less.
var (
	secretHeaderParts = []string{"session"}
	secretQueryParts  = []string{"session", "signature", "passwd", "jwt"} // X-Amz-Signature and X-Goog-Signature, too
	secretQueryNames  = []string{"key", "sig", "auth", "code", "pwd"}
)

// oauthNames are the members of metadata that hold the tokens of OAuth.
var oauthNames = []string{"accesstoken", "refreshtoken", "idtoken", "clientsecret"}

// plainName spells a name in one way.
func plainName(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '-' || r == '_':
			return -1
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return r
	}, name)
}

func hasPart(name string, parts []string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(name, part) })
}

// secretMember reports whether a member of a push config or of an error is a secret. The id of a
// session is none there: it may be a conversation's.
func secretMember(name string) bool {
	name = plainName(name)
	return name != "pagetoken" && name != "nextpagetoken" && hasPart(name, secretParts) // a page is no secret
}

// secretHeader reports whether a header is a secret.
func secretHeader(name string) bool {
	name = plainName(name)
	return hasPart(name, secretParts) || hasPart(name, secretHeaderParts)
}

// secretQuery reports whether a parameter of a query is a secret.
func secretQuery(name string) bool {
	name = plainName(name)
	return hasPart(name, secretParts) || hasPart(name, secretQueryParts) || slices.Contains(secretQueryNames, name)
}

// hidden is what was masked: how it is called, and what it was.
type hidden struct {
	masks  masks
	values []string
}

func (h *hidden) add(what, value string) {
	h.masks.add(what)
	h.values = append(h.values, value)
}

// headerSecrets are the secrets in headers that are masked. What stands for a session is left out: it
// may name the conversation, which must stay readable.
func headerSecrets(h http.Header) (values []string) {
	for name, all := range h {
		if plain := plainName(name); !hasPart(plain, secretParts) {
			continue
		}
		for _, value := range all {
			if name == "Cookie" {
				for pair := range strings.SplitSeq(value, ";") {
					_, one, _ := strings.Cut(pair, "=")
					values = append(values, strings.Trim(one, ` "`))
				}
				continue
			}
			scheme, rest, ok := strings.Cut(value, " ")
			if !ok {
				values = append(values, value)
				continue
			}
			rest = strings.TrimSpace(rest)
			values = append(values, rest)
			if plain, err := base64.StdEncoding.DecodeString(rest); err == nil && strings.EqualFold(scheme, "basic") {
				_, password, _ := strings.Cut(string(plain), ":")
				values = append(values, password)
			}
		}
	}
	return values
}

// querySecrets are the secrets in a raw query that are masked.
func querySecrets(raw string) (values []string) {
	maskQuery(raw, func(name, value string) {
		if !hasPart(plainName(name), secretHeaderParts) {
			values = append(values, value)
		}
	})
	return values
}
