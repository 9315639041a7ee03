package compat

import (
	"bytes"

	"github.com/steno-io/steno/schema/wire/jsontree"
)

// scheme is one kind of security scheme: version 0.3 names it by its type, version 1.0 by the member
// that wraps it. Where a field has two names, fields pairs them.
type scheme struct {
	kind, wrapper string
	fields        []pair
}

var schemes = []scheme{
	{"apiKey", "apiKeySecurityScheme", []pair{{"description", "description"}, {"in", "location"}, {"name", "name"}}},
	{"http", "httpAuthSecurityScheme", []pair{{"description", "description"}, {"scheme", "scheme"}, {"bearerFormat", "bearerFormat"}}},
	{"oauth2", "oauth2SecurityScheme", []pair{{"description", "description"}, {"flows", "flows"}, {"oauth2MetadataUrl", "oauth2MetadataUrl"}}},
	{"openIdConnect", "openIdConnectSecurityScheme", []pair{{"description", "description"}, {"openIdConnectUrl", "openIdConnectUrl"}}},
	{"mutualTLS", "mtlsSecurityScheme", []pair{{"description", "description"}}},
}

// schemeUp adds the wrapped form to a flat security scheme.
func schemeUp(o *object) {
	for _, s := range schemes {
		if !o.get("type").Is(s.kind) || either(o, s.wrapper) >= 0 {
			continue
		}
		wrapper := object{changed: true}
		for _, f := range s.fields {
			if v := o.get(f.old); v.Given() {
				wrapper.set(f.current, v.Raw())
			}
		}
		o.set(s.wrapper, wrapper.bytes())
		return
	}
}

// schemeDown adds the flat form to a wrapped security scheme.
func schemeDown(o *object) {
	if o.has("type") {
		return
	}
	for _, s := range schemes {
		i := either(o, s.wrapper)
		if i < 0 {
			continue
		}
		wrapper, ok := openProto(o.members[i].value)
		if !ok {
			continue
		}
		o.set("type", quote(s.kind))
		for _, f := range s.fields {
			switch v := wrapper.get(f.current); {
			case !v.Given():
			case f.old == "flows":
				o.fill(f.old, downward(flowsDown)(v))
			default:
				o.fill(f.old, v.Raw())
			}
		}
		return
	}
}

// flowsDown leaves the flow out that version 0.3 has no word for.
func flowsDown(o *object) {
	o.drop("deviceCode")
	for _, flow := range []string{"authorizationCode", "clientCredentials", "implicit", "password"} {
		o.apply(flow, downward(func(*object) {}))
	}
}

// securityUp adds the requirements of version 1.0 to a card or a skill.
func securityUp(o *object) {
	if o.get("security").Kind() != jsontree.Array || either(o, "securityRequirements") >= 0 {
		return
	}
	o.set("securityRequirements", elements(func(v jsontree.Value) []byte {
		return single("schemes", values(scopesUp)(v))
	})(o.get("security")))
}

func scopesUp(v jsontree.Value) []byte {
	if v.Kind() == jsontree.Array {
		return single("list", v.Raw())
	}
	return v.Raw()
}

// securityDown adds the requirements of version 0.3 to a card or a skill.
func securityDown(o *object) {
	i := either(o, "securityRequirements")
	if i < 0 || o.members[i].value.Kind() != jsontree.Array || o.has("security") {
		return
	}
	o.set("security", elements(func(v jsontree.Value) []byte {
		requirement, ok := open(v)
		if !ok || !requirement.given("schemes") {
			return []byte("{}")
		}
		return values(scopesDown)(requirement.get("schemes"))
	})(o.members[i].value))
}

// scopesDown gives the scopes of one scheme; ProtoJSON leaves an empty list out.
func scopesDown(v jsontree.Value) []byte {
	o, ok := open(v)
	if !ok {
		return v.Raw()
	}
	if scopes := o.get("list"); scopes.Given() {
		return bytes.Clone(scopes.Raw())
	}
	return []byte("[]")
}
