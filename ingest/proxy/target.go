package proxy

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
)

// target is the peer's URL and what follows from it.
type target struct {
	url    *url.URL // its scheme http or https
	h2c    bool
	prefix string // of escaped paths, without a slash at its end
}

func readTarget(text string) (target, error) {
	u, err := readURL(text, "http", "https", "h2c")
	if err != nil {
		return target{}, err
	}
	t := target{url: u, h2c: u.Scheme == "h2c", prefix: strings.TrimSuffix(u.EscapedPath(), "/")}
	if t.h2c {
		u.Scheme = "http"
	}
	return t, nil
}

// readURL reads the URL of a server. Credentials do not belong in it: they are the client's, and what
// is in an option is shown.
func readURL(text string, schemes ...string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil {
		var parse *url.Error // says the text, which may hold credentials
		if errors.As(err, &parse) {
			err = parse.Err
		}
		return nil, fmt.Errorf("parse URL: %w", err)
	}
	u.Scheme = strings.ToLower(u.Scheme)
	switch {
	case !slices.Contains(schemes, u.Scheme) || u.Host == "":
		return nil, fmt.Errorf("URL %q: want %s://host", MaskURL(text), strings.Join(schemes, ":// or "))
	case u.User != nil:
		return nil, fmt.Errorf("URL %q: credentials belong into the client's headers", MaskURL(text))
	case u.Fragment != "":
		return nil, fmt.Errorf("URL %q: a fragment reaches no server", MaskURL(text))
	}
	return u, nil
}

// at is where a request for in goes: escapes and the query stay as sent.
func (t target) at(in *url.URL) *url.URL {
	u := *t.url
	switch path := in.EscapedPath(); path {
	case "/", "":
	case "*": // of OPTIONS: the server itself
		u.Path, u.RawPath = path, ""
	default:
		u.Path, u.RawPath = unescaped(t.prefix+path), t.prefix+path
	}
	switch {
	case u.RawQuery == "":
		u.RawQuery, u.ForceQuery = in.RawQuery, in.ForceQuery
	case in.RawQuery != "":
		u.RawQuery += "&" + in.RawQuery
	}
	return &u
}

// unescaped is a path whose escapes were read before.
func unescaped(path string) string {
	plain, err := url.PathUnescape(path)
	if err != nil {
		return path
	}
	return plain
}

// under is the rest of an escaped path below the peer's; ok is false for a path elsewhere.
func (t target) under(path string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(path, t.prefix)
	return rest, ok && (rest == "" || rest[0] == '/')
}

// rebase is a URL's way, from its path on, at the proxy.
func rebase(base, path string, u *url.URL) string {
	if u.RawQuery != "" || u.ForceQuery {
		path += "?" + u.RawQuery
	}
	if f := u.EscapedFragment(); f != "" {
		path += "#" + f
	}
	return base + path
}

// redirect is where a redirect of the peer leads through the proxy; one that leads elsewhere stays.
func (t target) redirect(location, base string) string {
	u, err := url.Parse(location)
	if err != nil || u.Opaque != "" || u.User != nil {
		return location
	}
	switch {
	case u.Host == "" && u.Scheme == "":
		if !strings.HasPrefix(u.Path, "/") {
			return location // it goes out from the request's path
		}
		if b, err := url.Parse(base); err == nil {
			base = b.EscapedPath()
		}
	case u.Scheme == "":
		u.Scheme = t.url.Scheme
		fallthrough
	default:
		if origin(u) != origin(t.url) {
			return location
		}
	}
	rest, ok := t.under(u.EscapedPath())
	if !ok {
		return location
	}
	if rest == "" {
		rest = "/"
	}
	return rebase(base, rest, u)
}

// origin is a URL's scheme, host and port, spelt in one way.
func origin(u *url.URL) string {
	port := u.Port()
	scheme := strings.ToLower(u.Scheme)
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[scheme]
	}
	return scheme + "://" + net.JoinHostPort(strings.ToLower(u.Hostname()), port)
}
