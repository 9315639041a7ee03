package compat

import (
	"strings"

	"github.com/steno-io/steno/schema/wire/jsontree"
)

// CardUp adds to an agent card of version 0.3 what readers of version 1.0 look for: the interfaces,
// the extended card's flag, the security requirements and the wrapped security schemes. Nothing is
// taken away or overwritten, so that readers of either version can use the result, with one
// exception: signatures go if anything was added, since they no longer hold.
//
// The interfaces are said to speak the version that the card names. The result may be body itself.
// An error means that body is not one JSON value.
func CardUp(body []byte) ([]byte, error) { return apply("card", body, upward(cardUp)) }

// CardDown adds to an agent card of version 1.0 what readers of version 0.3 look for: the endpoint,
// its transport, all interfaces, the version, the extended card's flag, the security requirements and
// the flat security schemes. Nothing is taken away or overwritten, so that readers of either version
// can use the result, with one exception: signatures go if anything was added, since they no longer
// hold.
//
// Where some interfaces are of version 0.3, only those are given to readers of that version. Not
// carried over: the tenant of an interface and OAuth flows by device code. The result may be body
// itself. An error means that body is not one JSON value.
func CardDown(body []byte) ([]byte, error) { return apply("card", body, upward(cardDown)) }

func cardUp(o *object) {
	before := o.changed
	if len(interfacesOf(o)) == 0 {
		if all := interfacesUp(o); len(all) > 0 {
			o.set("supportedInterfaces", array(all))
		}
	}
	if flag := o.get("supportsAuthenticatedExtendedCard"); flag.Present() {
		if capabilities, ok := open(o.get("capabilities")); ok {
			capabilities.fill("extendedAgentCard", flag.Raw())
			o.set("capabilities", capabilities.bytes())
		} else if !o.given("capabilities") {
			o.set("capabilities", single("extendedAgentCard", flag.Raw()))
		}
	}
	securityUp(o)
	o.apply("skills", elements(upward(securityUp)))
	o.apply("securitySchemes", values(upward(schemeUp)))
	unsign(o, before)
}

func cardDown(o *object) {
	before := o.changed
	if usable := interfacesDown(o); len(usable) > 0 {
		o.fill("url", usable[0].url)
		o.fill("preferredTransport", usable[0].transport)
		o.fill("additionalInterfaces", entries(usable))
	}
	o.fill("protocolVersion", quote("0.3.0"))
	if capabilities, ok := openProto(o.get("capabilities")); ok && capabilities.has("extendedAgentCard") {
		o.fill("supportsAuthenticatedExtendedCard", capabilities.get("extendedAgentCard").Raw())
	}
	securityDown(o)
	o.apply("skills", elements(upward(securityDown)))
	if i := either(o, "securitySchemes"); i >= 0 {
		o.rewriteAt(i, values(upward(schemeDown)))
	}
	unsign(o, before)
}

// unsign drops signatures over a card that is no longer the one that was signed.
func unsign(o *object, before bool) {
	signed := false
	for range o.get("signatures").Children() {
		signed = true
	}
	if o.changed && !before && signed {
		o.drop("signatures")
	}
}

// either is the place of a member by its name in version 1.0, in either spelling; -1 if there is none.
func either(o *object, name string) int {
	if i := o.last(name); i >= 0 {
		return i
	}
	for i, m := range o.members {
		if strings.Contains(m.name, "_") && camelCase(m.name) == name {
			return i
		}
	}
	return -1
}

// endpoint is one way to reach an agent; its fields are JSON texts, nil where nothing is said.
type endpoint struct{ url, transport, version []byte }

// interfacesOf gives the interfaces that a card lists for readers of version 1.0.
func interfacesOf(o *object) (all []endpoint) {
	i := either(o, "supportedInterfaces")
	if i < 0 || o.members[i].value.Kind() != jsontree.Array {
		return nil
	}
	for one := range details(o.members[i].value) {
		if face, ok := openProto(one); ok && face.given("url") {
			all = append(all, endpoint{
				url: face.get("url").Raw(), transport: face.get("protocolBinding").Raw(), version: face.get("protocolVersion").Raw(),
			})
		}
	}
	return all
}

// interfacesDown gives the interfaces for a reader of version 0.3: those that speak it, or all if
// none says that it does. The first is the preferred one.
func interfacesDown(o *object) (usable []endpoint) {
	all := interfacesOf(o)
	for _, e := range all {
		if major(strings.Trim(string(e.version), `"`)) == "0" {
			usable = append(usable, e)
		}
	}
	if len(usable) == 0 {
		usable = all
	}
	for i := range usable {
		if usable[i].transport == nil {
			usable[i].transport = quote("JSONRPC")
		}
	}
	return distinct(usable)
}

// distinct leaves out what was there before. Two texts of one string are two endpoints.
func distinct(all []endpoint) (some []endpoint) {
	known := map[[2]string]bool{}
	for _, e := range all {
		key := [2]string{string(e.url), string(e.transport)}
		if !known[key] {
			known[key] = true
			some = append(some, e)
		}
	}
	return some
}

// entries is the list of version 0.3, which names the preferred interface too.
func entries(usable []endpoint) []byte {
	var all [][]byte
	for _, e := range usable {
		o := object{changed: true}
		o.set("url", e.url)
		o.set("transport", e.transport)
		all = append(all, o.bytes())
	}
	return array(all)
}

// interfacesUp is the list of version 1.0, the preferred interface first.
func interfacesUp(o *object) (all [][]byte) {
	var found []endpoint
	if o.given("url") {
		preferred := endpoint{url: o.get("url").Raw(), transport: o.get("preferredTransport").Raw()}
		if preferred.transport == nil {
			preferred.transport = quote("JSONRPC")
		}
		found = append(found, preferred)
	}
	for one := range details(o.get("additionalInterfaces")) {
		if face, ok := open(one); ok && face.given("url") && face.given("transport") {
			found = append(found, endpoint{url: face.get("url").Raw(), transport: face.get("transport").Raw()})
		}
	}
	version := string(V03)
	if said, ok := o.get("protocolVersion").Text(); ok {
		version = minor(said)
	}
	for _, e := range distinct(found) {
		face := object{changed: true}
		face.set("url", e.url)
		face.set("protocolBinding", e.transport)
		face.set("protocolVersion", quote(version))
		all = append(all, face.bytes())
	}
	return all
}

// minor is a version without its patch number.
func minor(version string) string {
	parts := strings.SplitN(version, ".", 3)
	if len(parts) < 3 {
		return version
	}
	return parts[0] + "." + parts[1]
}
