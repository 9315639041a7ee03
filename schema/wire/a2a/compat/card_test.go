package compat_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema/wire/a2a/compat"
)

func TestCardEndpoints(t *testing.T) {
	for name, c := range map[string]struct{ v10, want string }{
		"two transports": {
			`{"supportedInterfaces":[{"url":"https://a","protocolBinding":"GRPC"},{"url":"https://b","protocolBinding":"JSONRPC"}]}`,
			`"url":"https://a","preferredTransport":"GRPC","additionalInterfaces":[{"url":"https://a","transport":"GRPC"},{"url":"https://b","transport":"JSONRPC"}],"protocolVersion":"0.3.0"`},
		"an interface of 0.3 is the one to use": {
			`{"supportedInterfaces":[{"url":"https://new","protocolBinding":"JSONRPC","protocolVersion":"1.0"},{"url":"https://old","protocolBinding":"HTTP+JSON","protocolVersion":"0.3"}]}`,
			`"url":"https://old","preferredTransport":"HTTP+JSON","additionalInterfaces":[{"url":"https://old","transport":"HTTP+JSON"}],"protocolVersion":"0.3.0"`},
		"one endpoint for two tenants is listed once": {
			`{"supportedInterfaces":[{"url":"https://a","protocolBinding":"JSONRPC","tenant":"x"},{"url":"https://a","protocolBinding":"JSONRPC","tenant":"y"}]}`,
			`"url":"https://a","preferredTransport":"JSONRPC","additionalInterfaces":[{"url":"https://a","transport":"JSONRPC"}],"protocolVersion":"0.3.0"`},
		"no binding": {
			`{"supportedInterfaces":[null,{"url":"https://a"}]}`,
			`"url":"https://a","preferredTransport":"JSONRPC","additionalInterfaces":[{"url":"https://a","transport":"JSONRPC"}],"protocolVersion":"0.3.0"`},
		"the proto's spelling": {
			`{"supported_interfaces":[{"url":"https://a","protocol_binding":"GRPC","protocol_version":"1.0"}]}`,
			`"url":"https://a","preferredTransport":"GRPC","additionalInterfaces":[{"url":"https://a","transport":"GRPC"}],"protocolVersion":"0.3.0"`},
		"no interface": {`{"supportedInterfaces":[]}`, `"protocolVersion":"0.3.0"`},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.v10[:len(c.v10)-1]+","+c.want+"}", must(t, compat.CardDown, c.v10), "nothing is taken away")
		})
	}
	for name, c := range map[string]struct{ v03, want string }{
		"preferred first, none twice": {
			`{"protocolVersion":"0.3.0","url":"https://b","preferredTransport":"GRPC","additionalInterfaces":[{"url":"https://a","transport":"JSONRPC"},{"url":"https://b","transport":"GRPC"}]}`,
			`{"url":"https://b","protocolBinding":"GRPC","protocolVersion":"0.3"},{"url":"https://a","protocolBinding":"JSONRPC","protocolVersion":"0.3"}`},
		"a transport that is not named is JSON-RPC": {
			`{"url":"https://b","additionalInterfaces":[{"url":"https://c"},7]}`,
			`{"url":"https://b","protocolBinding":"JSONRPC","protocolVersion":"0.3"}`},
		"the version that the card names": {
			`{"url":"https://b","protocolVersion":"0.2.6"}`,
			`{"url":"https://b","protocolBinding":"JSONRPC","protocolVersion":"0.2"}`},
	} {
		t.Run("up: "+name, func(t *testing.T) {
			require.Equal(t, c.v03[:len(c.v03)-1]+`,"supportedInterfaces":[`+c.want+`]}`, must(t, compat.CardUp, c.v03), "nothing is taken away")
		})
	}
}

func TestCardFlagsAndSecurity(t *testing.T) {
	const down = `{"protocolVersion":"0.3.0","capabilities":{"streaming":true,"extendedAgentCard":true},` +
		`"securityRequirements":[{"schemes":{"key":{},"oauth":{"list":["read","write"]}}},{}],` +
		`"skills":[{"id":"s","securityRequirements":[{"schemes":{"key":{"list":[]}}}]},{"id":"open"}],` +
		`"securitySchemes":{` +
		`"key":{"apiKeySecurityScheme":{"location":"header","name":"X-Key","description":"a key"}},` +
		`"http":{"httpAuthSecurityScheme":{"scheme":"Bearer","bearerFormat":"JWT"}},` +
		`"oauth":{"oauth2SecurityScheme":{"flows":{"deviceCode":{"scopes":{}},"authorizationCode":{"authorizationUrl":"https://a","tokenUrl":"https://t","scopes":{"read":"r"},"pkceRequired":true}},"oauth2MetadataUrl":"https://m"}},` +
		`"oidc":{"open_id_connect_security_scheme":{"open_id_connect_url":"https://o"}},` +
		`"tls":{"mtlsSecurityScheme":{}},"strange":{"vendorScheme":{}},"none":null}}`
	same(t, `{"protocolVersion":"0.3.0","capabilities":{"streaming":true,"extendedAgentCard":true},"supportsAuthenticatedExtendedCard":true,
		"securityRequirements":[{"schemes":{"key":{},"oauth":{"list":["read","write"]}}},{}],"security":[{"key":[],"oauth":["read","write"]},{}],
		"skills":[{"id":"s","securityRequirements":[{"schemes":{"key":{"list":[]}}}],"security":[{"key":[]}]},{"id":"open"}],
		"securitySchemes":{
		"key":{"apiKeySecurityScheme":{"location":"header","name":"X-Key","description":"a key"},"type":"apiKey","in":"header","name":"X-Key","description":"a key"},
		"http":{"httpAuthSecurityScheme":{"scheme":"Bearer","bearerFormat":"JWT"},"type":"http","scheme":"Bearer","bearerFormat":"JWT"},
		"oauth":{"oauth2SecurityScheme":{"flows":{"deviceCode":{"scopes":{}},"authorizationCode":{"authorizationUrl":"https://a","tokenUrl":"https://t","scopes":{"read":"r"},"pkceRequired":true}},"oauth2MetadataUrl":"https://m"},
			"type":"oauth2","flows":{"authorizationCode":{"authorizationUrl":"https://a","tokenUrl":"https://t","scopes":{"read":"r"},"pkceRequired":true}},"oauth2MetadataUrl":"https://m"},
		"oidc":{"open_id_connect_security_scheme":{"open_id_connect_url":"https://o"},"type":"openIdConnect","openIdConnectUrl":"https://o"},
		"tls":{"mtlsSecurityScheme":{},"type":"mutualTLS"},"strange":{"vendorScheme":{}},"none":null}}`,
		must(t, compat.CardDown, down))

	const up = `{"capabilities":{"streaming":true,"stateTransitionHistory":true},"supportsAuthenticatedExtendedCard":true,` +
		`"security":[{"key":[],"oauth":["read"]}],"skills":[{"id":"s","security":[{"key":[]}]}],` +
		`"securitySchemes":{"key":{"type":"apiKey","in":"query","name":"k"},"http":{"type":"http","scheme":"Basic"},` +
		`"oauth":{"type":"oauth2","flows":{"implicit":{"authorizationUrl":"https://a","scopes":{}}}},` +
		`"oidc":{"type":"openIdConnect","openIdConnectUrl":"https://o"},"tls":{"type":"mutualTLS","description":"d"},"strange":{"type":"vendor"}}}`
	same(t, `{"capabilities":{"streaming":true,"stateTransitionHistory":true,"extendedAgentCard":true},"supportsAuthenticatedExtendedCard":true,
		"security":[{"key":[],"oauth":["read"]}],"securityRequirements":[{"schemes":{"key":{"list":[]},"oauth":{"list":["read"]}}}],
		"skills":[{"id":"s","security":[{"key":[]}],"securityRequirements":[{"schemes":{"key":{"list":[]}}}]}],
		"securitySchemes":{"key":{"type":"apiKey","in":"query","name":"k","apiKeySecurityScheme":{"location":"query","name":"k"}},
		"http":{"type":"http","scheme":"Basic","httpAuthSecurityScheme":{"scheme":"Basic"}},
		"oauth":{"type":"oauth2","flows":{"implicit":{"authorizationUrl":"https://a","scopes":{}}},"oauth2SecurityScheme":{"flows":{"implicit":{"authorizationUrl":"https://a","scopes":{}}}}},
		"oidc":{"type":"openIdConnect","openIdConnectUrl":"https://o","openIdConnectSecurityScheme":{"openIdConnectUrl":"https://o"}},
		"tls":{"type":"mutualTLS","description":"d","mtlsSecurityScheme":{"description":"d"}},"strange":{"type":"vendor"}}}`,
		must(t, compat.CardUp, up))

	require.Equal(t, `{"securitySchemes":{"k":{"apiKeySecurityScheme":7}},"securityRequirements":[7,{"schemes":{"k":["r"]}}],"protocolVersion":"0.3.0","security":[{},{"k":["r"]}]}`,
		must(t, compat.CardDown, `{"securitySchemes":{"k":{"apiKeySecurityScheme":7}},"securityRequirements":[7,{"schemes":{"k":["r"]}}]}`), "odd schemes stay, lists in short form are taken")
	require.Equal(t, `{"security":[{"k":"r"}],"securityRequirements":[{"schemes":{"k":"r"}}]}`, must(t, compat.CardUp, `{"security":[{"k":"r"}]}`))
	require.Equal(t, `{"supportsAuthenticatedExtendedCard":false,"capabilities":{"extendedAgentCard":false}}`,
		must(t, compat.CardUp, `{"supportsAuthenticatedExtendedCard":false}`))
}

func TestACardForBothVersionsStays(t *testing.T) {
	for _, card := range []string{
		`{"supportedInterfaces":[{"url":"https://a","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],"capabilities":{}}`,
		`{"url":"https://a","protocolVersion":"0.3.0","preferredTransport":"GRPC","capabilities":{},"supportsAuthenticatedExtendedCard":true,"security":[{"k":[]}],"securitySchemes":{"k":{"type":"http","scheme":"Basic"}}}`,
	} {
		both := must(t, compat.CardDown, must(t, compat.CardUp, card))
		require.Equal(t, both, must(t, compat.CardUp, must(t, compat.CardDown, both)))
	}
}

func TestSignaturesGoWithWhatWasSigned(t *testing.T) {
	const signed = `{"url":"https://a","preferredTransport":"JSONRPC","additionalInterfaces":[],"protocolVersion":"0.3.0","signatures":[{"protected":"p","signature":"s"}]}`
	require.Equal(t, signed, must(t, compat.CardDown, signed), "nothing was added")
	require.NotContains(t, must(t, compat.CardUp, signed), "signatures")
}

func TestTheExtendedCardIsRewrittenToo(t *testing.T) {
	const v10 = `{"supportedInterfaces":[{"url":"https://a","protocolBinding":"GRPC"}]}`
	require.Equal(t, answer(must(t, compat.CardDown, v10)), must(t, responseDown("GetExtendedAgentCard"), answer(v10)))
	const v03 = `{"url":"https://a","protocolVersion":"0.3.0"}`
	require.Equal(t, answer(must(t, compat.CardUp, v03)), must(t, responseUp("agent/getAuthenticatedExtendedCard"), answer(v03)))
}
