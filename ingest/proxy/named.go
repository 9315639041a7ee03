package proxy

// place is what the names around a value say of it.
type place uint8

const (
	inMetadata place = 1 << iota
	inSecret
	inAuthentication
	isAddress
)

// enter gives the place of a member's value.
type enter func(from place, name string) place

// oauth finds the tokens of OAuth in metadata: agents that act for a user are handed them there.
func oauth(from place, name string) place {
	name = plainName(name)
	switch {
	case name == "metadata":
		from |= inMetadata
	case from&inMetadata != 0:
		for _, secret := range oauthNames {
			if name == secret {
				from |= inSecret
			}
		}
	}
	return from
}

// anyConfig takes every object for a push config: an error quotes what it does not like, in parts, too.
func anyConfig(from place, name string) place {
	from &^= inAuthentication | isAddress
	switch {
	case secretMember(name):
		from |= inSecret
	case fold(name) == "authentication":
		from |= inAuthentication
	case fold(name) == "url":
		from |= isAddress
	}
	return from
}

// maskNamed masks the values whose names say that they are secrets, in one reading of the value at a
// place; path is what that is called.
func (p *Proxy) maskNamed(edits []edit, text []byte, at config, in enter, say said) []edit {
	d := decode(text, at.at)
	type level struct {
		place, value place // of the container, and of the member at hand
		name         string
	}
	levels := []level{{}}
	for {
		top := &levels[len(levels)-1]
		behind := at.at.from + int(d.InputOffset())
		container, n := d.StackIndex(d.StackDepth())
		kind := d.PeekKind()
		if kind == '}' || kind == ']' || kind == '{' || kind == '[' {
			if _, err := d.ReadToken(); err != nil {
				return edits
			}
			if kind == '{' || kind == '[' {
				inner := top.value
				if kind == '{' {
					inner &^= inAuthentication // its members say for themselves
				}
				levels = append(levels, level{inner, inner, top.name})
			} else {
				levels = levels[:len(levels)-1]
			}
			if d.StackDepth() == 0 {
				return edits
			}
			continue
		}
		v, err := d.ReadValue()
		to := at.at.from + int(d.InputOffset())
		s := span{to - len(v), to}
		if err != nil {
			s = span{behind + leading(text[behind:at.at.to]), at.at.to}
		}
		switch {
		case container == '{' && n%2 == 0:
			if err == nil {
				top.name = unquote(v)
				top.value = in(top.place, top.name)
			}
		case s.from >= s.to || kind == 'n':
		case top.value&(inSecret|inAuthentication) != 0:
			say("body "+join(at.path, top.name), scalarOf(text, s))
			edits = append(edits, edit{s, maskJSON})
		case top.value&isAddress != 0:
			edits = p.maskAddress(edits, text, member{at: s, whole: err == nil}, join(at.path, top.name), say)
		}
		if err != nil || d.StackDepth() == 0 {
			return edits
		}
	}
}

// maskOAuth masks the tokens of OAuth in the metadata of a text.
func (p *Proxy) maskOAuth(text []byte, say said) []byte {
	var edits []edit
	for root := range roots(text) {
		edits = p.maskNamed(edits, text, config{root.at, "metadata"}, oauth, say)
	}
	return splice(text, edits)
}

// maskErrors masks what errors quote of a push config: those of JSON-RPC, or a whole body of REST.
func (p *Proxy) maskErrors(text []byte, rpc bool, say said) []byte {
	var edits []edit
	for d := range documents(text) {
		if !rpc {
			edits = p.maskNamed(edits, text, config{d.at, join(d.path, "error")}, anyConfig, say)
			continue
		}
		for m := range inside(text, d.at) {
			if fold(m.name) == "error" {
				edits = p.maskNamed(edits, text, config{m.at, join(d.path, m.name)}, anyConfig, say)
			}
		}
	}
	return splice(text, edits)
}
