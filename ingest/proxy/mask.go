package proxy

import "regexp"

var maskJSON = quote(mask)

// maskConfigs gives a text without the secrets of its push configs; said hears what was masked.
// Everything else stays byte for byte.
func (p *Proxy) maskConfigs(text []byte, configs []config, said func(what string)) []byte {
	var edits []edit
	for _, c := range configs {
		for m := range inside(text, c.at) {
			at := config{m.at, join(c.path, m.name)}
			switch name := fold(m.name); {
			case name == "url":
				edits = p.maskAddress(edits, text, m, at.path, said)
			case name == "authentication":
				edits = maskAuthentication(edits, text, at, said)
			case name != "pagetoken" && name != "nextpagetoken" && secretName(m.name): // a page is no secret
				edits = maskScalars(edits, text, at, said)
			}
		}
	}
	return splice(text, edits)
}

func maskScalars(edits []edit, text []byte, at config, said func(string)) []edit {
	for s := range scalars(text, at.at) {
		said("body " + at.path)
		edits = append(edits, edit{s, maskJSON})
	}
	return edits
}

// maskAuthentication masks all but the scheme where it is not what a version has: who writes a bare
// value there writes the secret.
func maskAuthentication(edits []edit, text []byte, at config, said func(string)) []edit {
	switch kindOf(text, at.at) {
	case '{':
		for m := range inside(text, at.at) {
			if secretName(m.name) {
				edits = maskScalars(edits, text, config{m.at, join(at.path, m.name)}, said)
			}
		}
	case '[':
		for m := range inside(text, at.at) {
			edits = maskAuthentication(edits, text, config{m.at, at.path}, said)
		}
	default:
		edits = maskScalars(edits, text, at, said)
	}
	return edits
}

func (p *Proxy) maskAddress(edits []edit, text []byte, m member, path string, said func(string)) []edit {
	if !m.whole {
		return maskScalars(edits, text, config{m.at, path}, said)
	}
	address, ok := textOf(text, m.at)
	if !ok {
		return edits
	}
	masked := p.push.hide(address, func(what string) { said("body " + path + " " + shortName(what)) })
	if masked == address {
		return edits
	}
	return append(edits, edit{m.at, quote(masked)})
}

// looksSecret finds members that bear a secret's name.
var looksSecret = regexp.MustCompile(`(?i)"[^"\\]{0,64}(?:token|credential|secret|password|api_?key|session)[^"\\]{0,64}"\s*:\s*("(?:[^"\\]|\\.)*"?|[0-9][0-9.eE+-]*)`)

// maskBehind masks what looks like a secret behind the byte where a text stops being JSON: where it
// stands cannot be told any more, and a peer with another parser may read it.
func maskBehind(text []byte, said func(string)) []byte {
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
		said("body behind its JSON")
		edits = append(edits, edit{span{broke + at[2], broke + at[3]}, maskJSON})
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
