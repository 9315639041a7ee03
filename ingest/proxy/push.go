package proxy

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httputil"
	"strings"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/a2a/compat"
)

const (
	pushPath   = "/push/"
	pushV03    = "v03" // behind the address of a subscriber that speaks 0.3 to a peer of 1.0
	macBytes   = 16
	pushHidden = pushPath + mask
)

// pusher makes and reads the addresses that agents post to in the place of their subscribers':
// <base>/push/<mac>/<subscriber's URL>.
type pusher struct {
	base      string // without a slash at its end
	path      string // of base
	key       []byte
	transport http.RoundTripper
}

func newPusher(o *Push, transport http.RoundTripper) (*pusher, error) {
	base, err := readURL(o.BaseURL, "http", "https")
	if err == nil && (base.RawQuery != "" || base.ForceQuery) {
		err = fmt.Errorf("URL %q: a query has no place there", MaskURL(base.String()))
	}
	if err != nil {
		return nil, badOption("Push.BaseURL", err)
	}
	if len(o.Key) < LeastPushKey {
		return nil, badOption("Push.Key", fmt.Errorf("%d bytes, want at least %d", len(o.Key), LeastPushKey))
	}
	return &pusher{
		base: strings.TrimSuffix(base.String(), "/"), path: strings.TrimSuffix(base.EscapedPath(), "/"),
		key: append([]byte(nil), o.Key...), transport: transport,
	}, nil
}

// address is where an agent posts what a subscriber at address is to get.
func (p *pusher) address(address string, v03 bool) string {
	text := p.base + pushPath + p.mac(address, v03) + "/" + base64.RawURLEncoding.EncodeToString([]byte(address))
	if v03 {
		text += "/" + pushV03
	}
	return text
}

func (p *pusher) mac(address string, v03 bool) string {
	m := hmac.New(sha256.New, p.key)
	if v03 {
		m.Write([]byte(pushV03))
	}
	m.Write([]byte{0})
	m.Write([]byte(address))
	return hex.EncodeToString(m.Sum(nil)[:macBytes])
}

// subscriber reads the path of an address; ok is false for what this proxy has not made.
func (p *pusher) subscriber(path string) (address string, v03, ok bool) {
	rest, ok := strings.CutPrefix(path, p.path+pushPath)
	if !ok { // a gateway may have taken off its own part
		rest, ok = strings.CutPrefix(path, pushPath)
	}
	if !ok {
		return "", false, false
	}
	mac, encoded, ok := strings.Cut(rest, "/")
	if !ok {
		return "", false, false
	}
	encoded, v03 = strings.CutSuffix(encoded, "/"+pushV03)
	text, err := base64.RawURLEncoding.Strict().DecodeString(encoded)
	if err != nil || !hmac.Equal([]byte(mac), []byte(p.mac(string(text), v03))) {
		return "", false, false
	}
	return string(text), v03, true
}

// made reads a whole address; ok is false for what this proxy has not made.
func (p *pusher) made(address string) (subscriber string, ok bool) {
	if p == nil {
		return "", false
	}
	rest, ok := strings.CutPrefix(address, p.base)
	if !ok {
		return "", false
	}
	subscriber, _, ok = p.subscriber(p.path + rest)
	return subscriber, ok
}

// redirect puts the proxy's addresses into push configs.
func (p *pusher) redirect(text []byte, configs []config, v03 bool) []byte {
	if p == nil {
		return text
	}
	return editAddresses(text, configs, func(address string) string {
		if _, ok := readHTTP(address); !ok {
			return address
		}
		if _, ours := p.made(address); ours {
			return address
		}
		return p.address(address, v03)
	})
}

// restore puts the subscribers' addresses back.
func (p *pusher) restore(text []byte, configs []config) []byte {
	if p == nil {
		return text
	}
	return editAddresses(text, configs, func(address string) string {
		if subscriber, ok := p.made(address); ok {
			return subscriber
		}
		return address
	})
}

func editAddresses(text []byte, configs []config, change func(string) string) []byte {
	var edits []edit
	for _, c := range configs {
		for m := range inside(text, c.at) {
			if fold(m.name) != "url" || !m.whole {
				continue
			}
			if address, ok := textOf(text, m.at); ok {
				if other := change(address); other != address {
					edits = append(edits, edit{m.at, quote(other)})
				}
			}
		}
	}
	return splice(text, edits)
}

// hide masks an address for the record: the subscriber's in ours, too.
func (p *pusher) hide(address string, said func(what, value string)) string {
	subscriber, ok := p.made(address)
	if !ok {
		return maskURL(address, said)
	}
	if maskURL(subscriber, said) != subscriber {
		return p.base + pushHidden
	}
	return address
}

// PushHandler takes what agents post to subscribers, records it and passes it on to them; the answer
// goes back to the agent. Without the option Push it finds nothing.
func (p *Proxy) PushHandler() http.Handler {
	if p.push == nil {
		return http.NotFoundHandler()
	}
	return http.HandlerFunc(p.servePush)
}

func (p *Proxy) servePush(w http.ResponseWriter, r *http.Request) {
	address, v03, ok := p.push.subscriber(r.URL.EscapedPath())
	if !ok {
		http.NotFound(w, r)
		return
	}
	to, ok := readHTTP(address)
	if !ok {
		http.NotFound(w, r)
		return
	}
	to.Fragment, to.RawFragment = "", "" // it reaches no server
	switch {                             // agents that ask a subscriber first whether it is there put something behind
	case to.RawQuery == "":
		to.RawQuery = r.URL.RawQuery
	case r.URL.RawQuery != "":
		to.RawQuery += "&" + r.URL.RawQuery
	}
	x := &exchange{
		proxy: p, in: r, url: to, host: to.Host, transport: p.push.transport,
		chanAsk: schema.ChanPush, asker: schema.FromAgent, answerer: schema.FromClient, far: "receiver",
	}
	x.rewrite = func(pr *httputil.ProxyRequest) {
		pr.Out.URL = to
		x.passRequest(pr)
		if u := to.User; u != nil && pr.Out.Header.Get("Authorization") == "" { // as the agent's own client would
			password, _ := u.Password()
			pr.Out.SetBasicAuth(u.Username(), password)
		}
	}
	x.serveDown = v03
	x.run(w)
}

// pushDown rewrites what is posted for a subscriber of version 0.3.
func (x *exchange) pushDown() {
	down, err := compat.EventDown(x.request.plain)
	if err != nil {
		return // no JSON: it is passed on as it is
	}
	x.served, x.request.forward = string(compat.V03), down
	x.copied = func(h http.Header) {
		if mediaType(h) == "application/a2a+json" {
			h.Set("Content-Type", "application/json")
		}
	}
}
