package proxy

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/steno-io/steno/schema/wire/a2a"
)

// recorded are the headers that stand in evidence beside those that have a field of their own. What
// is in no list is not recorded: nobody can know what peers put into headers of their own.
var recorded = []string{
	"Accept", "A2a-Extensions", "X-A2a-Extensions", "Content-Encoding", "User-Agent", "Traceparent",
	"Tracestate", "Last-Event-Id", "Retry-After", "Www-Authenticate", "Location", "Etag", "X-Request-Id",
}

const versionHeader = "A2a-Version"

// maxMasked bounds the list of what was masked.
const maxMasked = 32

// maxName bounds what of a peer's names goes into a list of masks.
const maxName = 64

func shortName(name string) string { return shortened(name, maxName) }

// mask stands in the place of a secret.
const mask = "***"

// masks lists what was masked, each once.
type masks []string

func (m *masks) add(what string) {
	if len(*m) < maxMasked && !slices.Contains(*m, what) {
		*m = append(*m, what)
	}
}

// requestEvidence is what the request line and the headers say, without secrets.
func requestEvidence(method string, u *url.URL, host string, h http.Header) a2a.Evidence {
	e := headerEvidence(h)
	e.Method = method
	e.Path = u.EscapedPath()
	var masked masks = e.Masked
	if u.RawQuery != "" || u.ForceQuery {
		e.Path += "?" + maskQuery(u.RawQuery, func(name, _ string) { masked.add("query " + shortName(name)) })
	}
	e.Masked = masked
	if host != "" {
		if e.Headers == nil {
			e.Headers = map[string]string{}
		}
		e.Headers["host"] = host
	}
	return e
}

// answerEvidence is what the status line and the headers say, without secrets.
func answerEvidence(res *http.Response) a2a.Evidence {
	e := headerEvidence(res.Header)
	e.Status = res.StatusCode
	return e
}

func headerEvidence(h http.Header) a2a.Evidence {
	e := a2a.Evidence{ContentType: h.Get("Content-Type"), Version: strings.Join(h[versionHeader], ", ")}
	var masked masks
	for name := range h {
		if secretHeader(name) {
			masked = append(masked, strings.ToLower(shortName(name)))
		}
	}
	slices.Sort(masked) // a map's order is no order
	masked = masked[:min(len(masked), maxMasked)]
	for _, name := range recorded {
		values, ok := h[name]
		if !ok {
			continue
		}
		if e.Headers == nil {
			e.Headers = map[string]string{}
		}
		value := strings.Join(values, ", ")
		if name == "Location" {
			value = maskURL(value, func(what, _ string) { masked.add("location " + shortName(what)) })
		}
		e.Headers[strings.ToLower(name)] = value
	}
	e.Masked = masked
	return e
}

// maskQuery masks the values of a raw query whose names are those of secrets; said hears of them.
func maskQuery(raw string, said func(name, value string)) string {
	if raw == "" {
		return raw
	}
	var out strings.Builder
	for raw != "" {
		pair, rest, sep := raw, "", ""
		if i := strings.IndexAny(raw, "&;"); i >= 0 {
			pair, sep, rest = raw[:i], raw[i:i+1], raw[i+1:]
		}
		raw = rest
		name, value, _ := strings.Cut(pair, "=")
		if plain, err := url.QueryUnescape(name); err == nil && value != "" && secretQuery(plain) {
			pair = name + "=" + mask
			said(plain, unescapedQuery(value))
		}
		out.WriteString(pair)
		out.WriteString(sep)
	}
	return out.String()
}

func unescapedQuery(value string) string {
	if plain, err := url.QueryUnescape(value); err == nil {
		return plain
	}
	return value
}

// MaskURL is a URL as it may be shown and recorded: without its user and the secrets in its query.
func MaskURL(text string) string { return maskURL(text, func(string, string) {}) }

// maskURL masks a URL's user and the secrets in its query; all else stays as written.
func maskURL(text string, said func(what, value string)) string {
	text, fragment, hasFragment := strings.Cut(text, "#")
	text, query, hasQuery := strings.Cut(text, "?")
	if head, rest, ok := strings.Cut(text, "//"); ok {
		authority, path, hasPath := strings.Cut(rest, "/")
		if at := strings.LastIndexByte(authority, '@'); at >= 0 {
			user := authority[:at]
			authority = mask + authority[at:]
			if _, password, ok := strings.Cut(user, ":"); ok {
				user = password
			}
			said("user", unescaped(user))
		}
		text = head + "//" + authority
		if hasPath {
			text += "/" + path
		}
	}
	if hasQuery {
		text += "?" + maskQuery(query, said)
	}
	if hasFragment {
		text += "#" + maskQuery(fragment, said) // tokens stand there too
	}
	return text
}

// narrowEncodings leaves of the encodings that a client takes those that the record can be read in:
// the answer's bytes are passed on as sent, and their record is decoded.
func narrowEncodings(h http.Header) {
	values, ok := h["Accept-Encoding"]
	if !ok {
		return
	}
	h.Set("Accept-Encoding", "identity")
	for _, one := range strings.Split(strings.Join(values, ","), ",") {
		coding, parameters, _ := strings.Cut(one, ";")
		switch strings.ToLower(strings.TrimSpace(coding)) {
		case "gzip", "x-gzip", "*":
			if weight(parameters) > 0 {
				h.Set("Accept-Encoding", "gzip")
			}
		}
	}
}

// weight is the q of a list's element; 1 if it names none.
func weight(parameters string) float64 {
	name, value, _ := strings.Cut(strings.TrimSpace(parameters), "=")
	if !strings.EqualFold(strings.TrimSpace(name), "q") {
		return 1
	}
	q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if err != nil {
		return 1
	}
	return q
}

// dropEncodings takes off a message what does not hold for a body that was rewritten.
func dropEncodings(h http.Header) {
	for _, name := range []string{"Content-Encoding", "Content-Length", "Digest", "Content-Digest", "Repr-Digest", "Content-Md5", "Accept-Ranges"} {
		h.Del(name)
	}
}
