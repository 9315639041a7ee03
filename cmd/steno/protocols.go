package main

import (
	"slices"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/translate"
	"github.com/steno-io/steno/translate/a2a"
	"github.com/steno-io/steno/translate/acp"
)

// translators is the one place where protocols are wired: of each the translator of new captures, then the
// other versions that this build has: those that captures still name, and those that are tried.
var translators = map[schema.Protocol][]translate.Translator{
	schema.ACP: {acp.Translator{}, acp.First{}},
	schema.A2A: {a2a.Translator{}},
}

func protocols() *translate.Catalogue {
	current := map[schema.Protocol]translate.Translator{}
	var others []translate.Translator
	for protocol, versions := range translators {
		current[protocol] = versions[0]
		others = append(others, versions[1:]...)
	}
	return translate.NewCatalogue(current, others...)
}

// translatorVersions are the versions that this build has, in order.
func translatorVersions() []string {
	var versions []string
	for _, of := range translators {
		for _, t := range of {
			versions = append(versions, t.Version())
		}
	}
	slices.Sort(versions)
	return versions
}
