package proxy

import (
	"bytes"
	"regexp"
)

var maskJSON = quote(mask)

// said hears what is masked: how it is called, and what it was.
type said func(what, value string)

// maskConfigs gives a text without the secrets of its push configs. Everything else stays byte for byte.
func (p *Proxy) maskConfigs(text []byte, configs []config, say said) []byte {
	var edits []edit
	for _, c := range configs {
		for m := range inside(text, c.at) {
			at := config{m.at, join(c.path, m.name)}
			switch name := fold(m.name); {
			case name == "url":
				edits = p.maskAddress(edits, text, m, at.path, say)
			case name == "authentication":
				edits = maskAuthentication(edits, text, at, say)
			case secretMember(m.name):
				edits = maskScalars(edits, text, at, say)
			}
		}
	}
	return splice(text, edits)
}

func maskScalars(edits []edit, text []byte, at config, say said) []edit {
	for s := range scalars(text, at.at) {
		say("body "+at.path, scalarOf(text, s))
		edits = append(edits, edit{s, maskJSON})
	}
	return edits
}

// scalarOf is a string's text, or what is written there.
func scalarOf(text []byte, at span) string {
	if s, ok := textOf(text, at); ok {
		return s
	}
	return string(bytes.Trim(text[at.from:at.to], `"`))
}

// maskAuthentication masks all but the scheme where it is not what a version has: who writes a bare
// value there writes the secret.
func maskAuthentication(edits []edit, text []byte, at config, say said) []edit {
	switch kindOf(text, at.at) {
	case '{':
		for m := range inside(text, at.at) {
			if secretMember(m.name) {
				edits = maskScalars(edits, text, config{m.at, join(at.path, m.name)}, say)
			}
		}
	case '[':
		for m := range inside(text, at.at) {
			edits = maskAuthentication(edits, text, config{m.at, at.path}, say)
		}
	default:
		edits = maskScalars(edits, text, at, say)
	}
	return edits
}

func (p *Proxy) maskAddress(edits []edit, text []byte, m member, path string, say said) []edit {
	if !m.whole {
		return maskScalars(edits, text, config{m.at, path}, say)
	}
	address, ok := textOf(text, m.at)
	if !ok {
		return edits
	}
	masked := p.push.hide(address, func(what, value string) { say("body "+path+" "+shortName(what), value) })
	if masked == address {
		return edits
	}
	return append(edits, edit{m.at, quote(masked)})
}

// looksSecret finds members that bear a secret's name.
var looksSecret = regexp.MustCompile(`(?i)"[^"\\]{0,64}(?:token|credential|secret|password|api_?key|session)[^"\\]{0,64}"\s*:\s*("(?:[^"\\]|\\.)*"?|[0-9][0-9.eE+-]*)`)

// maskBehind masks what looks like a secret behind the byte where a text stops being JSON: where it
// stands cannot be told any more, and a peer with another parser may read it.
func maskBehind(text []byte, say said) []byte {
	if first := leading(text); first == len(text) || text[first] != '{' && text[first] != '[' {
		return text
	}
	broke := -1
	for root := range roots(text) {
		if !root.whole {
			broke = root.at.from + brokenAt(text, root.at)
		}
	}
	if broke < 0 {
		return text
	}
	var edits []edit
	for _, at := range looksSecret.FindAllSubmatchIndex(text[broke:], -1) {
		place := span{broke + at[2], broke + at[3]}
		say("body behind its JSON", scalarOf(text, place))
		edits = append(edits, edit{place, maskJSON})
	}
	return splice(text, edits)
}

// brokenAt is how far a value can be read.
func brokenAt(text []byte, at span) int {
	d := decode(text, at)
	for {
		if _, err := d.ReadToken(); err != nil {
			return int(d.InputOffset())
		}
	}
}
