package compat

import (
	"strings"
)

// Version is a generation of the protocol, as far as shapes differ.
type Version string

const (
	// V03 is version 0.3 in its JSON-RPC form, and the 0.2 versions, which share its shapes.
	V03 Version = "0.3"
	// V10 is version 1.0 and whatever comes after it: nothing is rewritten, and a server that does
	// not know a later version says so itself.
	V10 Version = "1.0"
)

// VersionHeader is the header, and the query parameter, that names a request's version.
const VersionHeader = "A2A-Version"

// Signals is what a request shows of its version. Every field may be empty.
type Signals struct {
	// Header holds the request's headers; names are compared without regard to case.
	Header map[string][]string
	// Query holds the parameters of the request's URL; names are compared as in Header.
	Query map[string][]string
	// Method is the JSON-RPC method; empty where the body names none.
	Method string
	// Verb is the HTTP method, in capitals.
	Verb string
	// Path is the URL's path.
	Path string
}

// Detect tells a request's version. The first of these that says anything decides:
//
//  1. the header A2A-Version, read leniently: spaces, quotes, a leading v, patch numbers and lists
//     are taken; what names no version says nothing, and so does an empty value;
//  2. the query parameter A2A-Version, read alike;
//  3. the JSON-RPC method: a slash is version 0.3, any other name version 1.0;
//  4. the path: a POST to the root is version 0.3, which alone had its JSON-RPC there by custom, and
//     so is a REST path below /v1/.
//
// Otherwise the request is of version 1.0. Of a list that names both generations the method decides,
// where there is one, else the higher. The specification of 1.0 reads a missing header as 0.3; a
// method name in capitals exists in no 0.3, so that such a request stays 1.0 here.
func Detect(s Signals) Version {
	byMethod := methodVersion(s.Method)
	for _, said := range []map[string][]string{s.Header, s.Query} {
		old, current := named(said)
		switch {
		case old && current && byMethod != "":
			return byMethod
		case current:
			return V10
		case old:
			return V03
		}
	}
	if byMethod != "" {
		return byMethod
	}
	if s.Verb == "POST" && (s.Path == "" || s.Path == "/") || strings.HasPrefix(s.Path, "/v1/") {
		return V03
	}
	return V10
}

func methodVersion(method string) Version {
	switch {
	case method == "":
		return ""
	case strings.Contains(method, "/"):
		return V03
	}
	return V10
}

// named tells which generations the values under VersionHeader name.
func named(values map[string][]string) (old, current bool) {
	for name, list := range values {
		if !strings.EqualFold(name, VersionHeader) {
			continue
		}
		for _, value := range list {
			for _, one := range strings.FieldsFunc(value, separates) {
				switch major(one) {
				case "":
				case "0":
					old = true
				default:
					current = true
				}
			}
		}
	}
	return old, current
}

func separates(r rune) bool { return strings.ContainsRune(", \t;\"'", r) }

// major is a version's first number without leading zeros; empty for what is no version.
func major(version string) string {
	version = strings.TrimLeft(version, "vV")
	if at := strings.IndexAny(version, "-+"); at >= 0 {
		version = version[:at]
	}
	for _, number := range strings.Split(version, ".") {
		if number == "" || strings.Trim(number, "0123456789") != "" {
			return ""
		}
	}
	first, _, _ := strings.Cut(version, ".")
	if first = strings.TrimLeft(first, "0"); first == "" {
		return "0"
	}
	return first
}
