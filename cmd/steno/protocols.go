package main

import (
	"maps"
	"slices"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/translate"
	"github.com/steno-io/steno/translate/a2a"
	"github.com/steno-io/steno/translate/acp"
)

// translators is the one place where protocols are wired: the translator of new captures of each, then
// the older versions that captures may still name.
func translators() (current map[schema.Protocol]translate.Translator, kept []translate.Translator) {
	return map[schema.Protocol]translate.Translator{
		schema.ACP: acp.Translator{},
		schema.A2A: a2a.Translator{},
	}, []translate.Translator{acp.First{}}
}

func protocols() *translate.Catalogue {
	current, kept := translators()
	return translate.NewCatalogue(current, kept...)
}

// translatorVersions are the versions that this build has, in order.
func translatorVersions() []string {
	current, kept := translators()
	var versions []string
	for _, t := range slices.AppendSeq(kept, maps.Values(current)) {
		versions = append(versions, t.Version())
	}
	slices.Sort(versions)
	return versions
}
