package proxy

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/a2a"
)

// Paths of agent cards, of all versions, at the end of a path.
const (
	cardPath       = "/.well-known/agent-card.json"
	cardPathV02    = "/.well-known/agent.json"
	extendedCardV2 = "/agent/authenticatedExtendedCard"
)

func isCardPath(verb, path string) bool {
	if strings.HasSuffix(path, cardPath) || strings.HasSuffix(path, cardPathV02) || strings.HasSuffix(path, extendedCardV2) {
		return true
	}
	call, _ := a2a.ReadPath(verb, path)
	return call == a2a.ExtendedCard
}

// base is where the asker reaches the proxy, without a slash at its end.
func (x *exchange) base() string {
	if x.proxy.public != nil {
		return strings.TrimSuffix(x.proxy.public.String(), "/")
	}
	return scheme(x.in) + "://" + x.in.Host
}

// rewriteCard gives a card whose endpoints are those of the proxy; what is no card stays. Everything
// else stays byte for byte, but for signatures over a card that is no longer the one that was signed.
func (p *Proxy) rewriteCard(text []byte, base string, rpc bool) []byte {
	if !isJSON(text) {
		return text
	}
	var edits []edit
	for d := range documents(text) {
		if !rpc {
			edits = append(edits, p.editCard(text, d.at, base)...)
			continue
		}
		for m := range inside(text, d.at) {
			if m.name == "result" {
				edits = append(edits, p.editCard(text, m.at, base)...)
			}
		}
	}
	return splice(text, edits)
}

// endpoint is one way to reach an agent, as its card says.
type endpoint struct {
	whole     span
	url       span
	address   string
	binding   span // its transport, or protocolBinding
	transport string
}

func (e endpoint) grpc() bool { return strings.EqualFold(e.transport, "grpc") }

// readEndpoint reads an endpoint out of an object.
func readEndpoint(text []byte, at span, bindings ...string) endpoint {
	e := endpoint{whole: at}
	for m := range inside(text, at) {
		s, ok := textOf(text, m.at)
		switch name := fold(m.name); {
		case !ok:
		case name == "url":
			e.url, e.address = m.at, s
		case slices.Contains(bindings, name):
			e.binding, e.transport = m.at, s
		}
	}
	return e
}

// card is what of an agent card has to do with where the agent is.
type card struct {
	main       endpoint     // of 0.3
	additional []endpoint   // of 0.3
	lists      [][]endpoint // these and supportedInterfaces of 1.0
	supported  []endpoint
	members    []span
	signatures []bool // which of members are
}

// isEmptyList reports whether a value is a list of nothing: no signatures sign nothing.
func isEmptyList(text []byte, at span) bool {
	return string(schema.AppendCompact(nil, text[at.from:at.to])) == "[]"
}

func readCard(text []byte, at span) (c card) {
	c.main = readEndpoint(text, at, "preferredtransport")
	for m := range inside(text, at) {
		c.members = append(c.members, span{m.key.from, m.at.to})
		name := fold(m.name)
		c.signatures = append(c.signatures, name == "signatures" && !isEmptyList(text, m.at))
		if name != "additionalinterfaces" && name != "supportedinterfaces" {
			continue
		}
		var list []endpoint
		for one := range inside(text, m.at) {
			list = append(list, readEndpoint(text, one.at, "transport", "protocolbinding"))
		}
		c.lists = append(c.lists, list)
		if name == "additionalinterfaces" {
			c.additional = list
		} else {
			c.supported = list
		}
	}
	return c
}

// usable is the first endpoint of a list that the proxy can stand before.
func usable(list []endpoint) (endpoint, bool) {
	for _, e := range list {
		if !e.grpc() && e.address != "" {
			return e, true
		}
	}
	return endpoint{}, false
}

// origins are the peer's: the upstream's, and those of the card's main URLs, since a peer that lies
// behind a name of its own writes that.
func (c card) origins(up target) map[string]bool {
	own := map[string]bool{origin(up.url): true}
	for _, list := range [][]endpoint{append([]endpoint{c.main}, c.additional...), c.supported} {
		if e, ok := usable(list); ok {
			if u, ok := readHTTP(e.address); ok {
				own[origin(u)] = true
			}
		}
	}
	return own
}

func (p *Proxy) editCard(text []byte, at span, base string) (edits []edit) {
	c := readCard(text, at)
	own := c.origins(p.upstream)
	lead := func(url span, to endpoint) {
		address, ok := p.mapped(to.address, base, own)
		if !ok {
			p.notices.once(fmt.Sprintf("agent card: %q does not lead to the upstream and stays; what goes there is not recorded", MaskURL(to.address)))
			address = to.address
		}
		if was, _ := textOf(text, url); was != address {
			edits = append(edits, edit{url, quote(address)})
		}
	}
	for _, list := range c.lists {
		places, gone := make([]span, len(list)), make([]bool, len(list))
		for i, e := range list {
			places[i], gone[i] = e.whole, e.grpc()
			if gone[i] {
				p.notices.once(fmt.Sprintf("agent card: the gRPC interface %q is left out: gRPC is not recorded", MaskURL(e.address)))
			} else if e.address != "" {
				lead(e.url, e)
			}
		}
		edits = append(edits, cuts(places, gone)...)
	}
	switch other, ok := usable(c.additional); {
	case c.main.address == "":
	case !c.main.grpc():
		lead(c.main.url, c.main)
	case ok && other.transport != "":
		p.notices.once(fmt.Sprintf("agent card: the gRPC interface %q is left out: gRPC is not recorded", MaskURL(c.main.address)))
		lead(c.main.url, other)
		edits = append(edits, edit{c.main.binding, text[other.binding.from:other.binding.to]})
	default:
		p.notices.once(fmt.Sprintf("agent card: there is only gRPC, at %q; the card leads to the proxy, which refuses it", MaskURL(c.main.address)))
		edits = append(edits, edit{c.main.url, quote(base)})
	}
	if len(edits) > 0 && slices.Contains(c.signatures, true) {
		p.notices.once("agent card: its signatures are left out: they do not hold for the proxy's URLs")
		edits = append(edits, cuts(c.members, c.signatures)...)
	}
	return edits
}

// cuts takes elements or members out of a list: with the comma before each, or behind it where
// nothing before it stays.
func cuts(list []span, gone []bool) (edits []edit) {
	kept := false
	for i, at := range list {
		switch {
		case !gone[i]:
			kept = true
			continue
		case kept:
			at.from = list[i-1].to
		case i+1 < len(list):
			at.to = list[i+1].from
		}
		edits = append(edits, edit{at, nil})
	}
	return edits
}

// mapped is an endpoint's URL at the proxy; ok is false where it leads elsewhere.
func (p *Proxy) mapped(address, base string, own map[string]bool) (to string, ok bool) {
	u, ok := readHTTP(address)
	if !ok || !own[origin(u)] {
		return "", false
	}
	rest, under := p.upstream.under(u.EscapedPath())
	switch {
	case under:
	case origin(u) == origin(p.upstream.url):
		return "", false // beside the upstream's path, where the proxy does not reach
	default:
		rest = u.EscapedPath() // a name of the peer's own need not show where the peer really lies
	}
	return rebase(base, rest, u), true
}

// readHTTP reads an absolute URL of HTTP.
func readHTTP(address string) (*url.URL, bool) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || !strings.EqualFold(u.Scheme, "http") && !strings.EqualFold(u.Scheme, "https") {
		return nil, false
	}
	return u, true
}
