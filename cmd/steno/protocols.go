package main

import (
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/translate"
	"github.com/steno-io/steno/translate/acp"
)

// protocols is the one place where protocols are wired: the translator of new captures of each, then
// the older versions that captures may still name.
func protocols() *translate.Catalogue {
	return translate.NewCatalogue(map[schema.Protocol]translate.Translator{
		schema.ACP: acp.Translator{},
	})
}
