package compat

import (
	"strconv"
	"strings"

	"github.com/steno-io/steno/schema/wire/jsontree"
)

// protoNames are the member names of version 1.0 that readers of ProtoJSON also take with
// underscores.
var protoNames = setOf(`acceptedOutputModes apiKeySecurityScheme artifactId artifactUpdate
	authorizationCode authorizationUrl bearerFormat clientCredentials contextId defaultInputModes
	defaultOutputModes deviceCode documentationUrl extendedAgentCard historyLength
	httpAuthSecurityScheme iconUrl includeArtifacts inputModes lastChunk mediaType messageId
	mtlsSecurityScheme nextPageToken oauth2MetadataUrl oauth2SecurityScheme openIdConnectSecurityScheme
	openIdConnectUrl outputModes pageSize pageToken pkceRequired protocolBinding protocolVersion
	pushNotifications referenceTaskIds refreshUrl returnImmediately securityRequirements
	securitySchemes statusTimestampAfter statusUpdate supportedInterfaces taskId
	taskPushNotificationConfig tokenUrl totalSize`)

func setOf(words string) map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(words) {
		set[word] = true
	}
	return set
}

// openProto opens an object of version 1.0, its known names in camel case.
func openProto(v jsontree.Value) (o *object, ok bool) {
	if o, ok = open(v); !ok {
		return nil, false
	}
	tried := map[string]bool{}
	for _, m := range o.members {
		if !strings.Contains(m.name, "_") || tried[m.name] {
			continue
		}
		tried[m.name] = true
		if camel := camelCase(m.name); protoNames[camel] {
			o.rename(m.name, camel)
		}
	}
	return o, true
}

// edit turns an open object into one of the other version.
type edit func(*object)

// upward rewrites an object of version 0.3; any other value stays.
func upward(e edit) rewrite { return edited(open, e) }

// downward rewrites an object of version 1.0; any other value stays.
func downward(e edit) rewrite { return edited(openProto, e) }

func edited(open func(jsontree.Value) (*object, bool), e edit) rewrite {
	return func(v jsontree.Value) []byte {
		o, ok := open(v)
		if !ok {
			return v.Raw()
		}
		e(o)
		return o.bytes()
	}
}

func camelCase(name string) string {
	words := strings.Split(name, "_")
	for i, word := range words[1:] {
		if word != "" {
			words[i+1] = strings.ToUpper(word[:1]) + word[1:]
		}
	}
	return strings.Join(words, "")
}

// wordUp gives the words of version 1.0; what is not listed stays.
func wordUp(words []pair) rewrite {
	return func(v jsontree.Value) []byte {
		if word, ok := v.Text(); ok {
			if other := up(words, word); other != word {
				return quote(other)
			}
		}
		return v.Raw()
	}
}

// wordDown gives the words of version 0.3, also for the numbers that stand for words in version 1.0;
// what is not listed stays.
func wordDown(words []pair) rewrite {
	return func(v jsontree.Value) []byte {
		switch v.Kind() {
		case jsontree.String:
			word, _ := v.Text()
			if other := down(words, word); other != word {
				return quote(other)
			}
		case jsontree.Number:
			if n, err := strconv.Atoi(string(v.Raw())); err == nil && n >= 0 && n < numbered(words) {
				return quote(words[n].old)
			}
		}
		return v.Raw()
	}
}

// numbered is how many words have a number: version 1.0 counts nine states and three roles.
func numbered(words []pair) int { return min(len(words), 9) }

var (
	stateUp   = wordUp(states)
	stateDown = wordDown(states)
	roleUp    = wordUp(roles)
	roleDown  = wordDown(roles)
)
