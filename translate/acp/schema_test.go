package acp

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/acp"
)

// node is a piece of a JSON Schema, as far as the words of the protocol stand in it.
type node struct {
	Ref        string          `json:"$ref"`
	Const      json.RawMessage `json:"const"`
	Properties map[string]node `json:"properties"`
	Items      *node           `json:"items"`
	Values     json.RawMessage `json:"additionalProperties"`
	AnyOf      []node          `json:"anyOf"`
	OneOf      []node          `json:"oneOf"`
	AllOf      []node          `json:"allOf"`
	Method     string          `json:"x-method"`
	Side       string          `json:"x-side"`
}

// word is one that the schema lists: a variant's tag, a status, a kind; it stands under a name in a type.
type word struct{ of, name, is string }

// spec is the schema of one version of the protocol.
type spec struct {
	Defs map[string]node `json:"$defs"`
}

func readSpec(t *testing.T, file string) *spec {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	s := &spec{}
	require.NoError(t, json.Unmarshal(data, s))
	require.NotEmpty(t, s.Defs)
	return s
}

// branches are the types that a node is made of or may be.
func (n *node) branches() []node { return slices.Concat(n.AnyOf, n.OneOf, n.AllOf) }

// values is the type of a map's values, if the node is one.
func (n *node) values() *node {
	var v node
	if json.Unmarshal(n.Values, &v) != nil { // true, false, or absent
		return nil
	}
	return &v
}

func (n *node) constant() (text string, ok bool) {
	return text, n.Const != nil && json.Unmarshal(n.Const, &text) == nil
}

// all collects the words below a node that stands under a name in a type.
func (s *spec) all(n *node, of, name string, seen map[word]bool, words map[word]bool) {
	if text, ok := n.constant(); ok {
		words[word{of, name, text}] = true
	}
	if def := strings.TrimPrefix(n.Ref, "#/$defs/"); n.Ref != "" && !seen[word{def, name, ""}] {
		seen[word{def, name, ""}] = true
		next := s.Defs[def]
		s.all(&next, def, name, seen, words)
	}
	for member, next := range n.Properties {
		s.all(&next, of, member, seen, words)
	}
	for _, next := range n.branches() {
		s.all(&next, of, name, seen, words)
	}
	for _, next := range []*node{n.Items, n.values()} {
		if next != nil {
			s.all(next, of, name, seen, words)
		}
	}
}

// fits reports whether a value may be of a branch: its members that are words there are these words.
func (s *spec) fits(n *node, value any) bool {
	object, isObject := value.(map[string]any)
	for member, next := range n.Properties {
		if text, ok := next.constant(); ok && (!isObject || object[member] != text) {
			return false
		}
	}
	return true
}

// said takes the words that a value says away from those that are missing.
func (s *spec) said(n *node, of, name string, value any, missing map[word]bool) {
	if value == nil {
		return
	}
	if text, ok := n.constant(); ok && value == text {
		delete(missing, word{of, name, text})
	}
	if def := strings.TrimPrefix(n.Ref, "#/$defs/"); n.Ref != "" {
		next := s.Defs[def]
		s.said(&next, def, name, value, missing)
	}
	for _, next := range n.branches() {
		if s.fits(&next, value) {
			s.said(&next, of, name, value, missing)
		}
	}
	switch v := value.(type) {
	case []any:
		for _, element := range v {
			if n.Items != nil {
				s.said(n.Items, of, name, element, missing)
			}
		}
	case map[string]any:
		values := n.values()
		for member, element := range v {
			if next, ok := n.Properties[member]; ok {
				s.said(&next, of, member, element, missing)
			} else if values != nil {
				s.said(values, of, name, element, missing)
			}
		}
	}
}

// part is what a type is of its method: its request, its notification or its response.
type part struct{ method, side, what string }

// parts finds the type of each part of each method. What only proxies between agents say is left out.
func (s *spec) parts() map[part]string {
	all := map[part]string{}
	for def, n := range s.Defs {
		for _, what := range []string{"Request", "Notification", "Response"} {
			if strings.HasSuffix(def, what) && n.Method != "" && n.Side != "proxy" {
				all[part{n.Method, n.Side, what}] = def
			}
		}
	}
	return all
}

// sides are who answers what each side sends.
var sides = map[schema.From]string{schema.FromClient: "agent", schema.FromAgent: "client"}

// take takes away what the frames of a golden file say.
func (s *spec) take(t *testing.T, frames []schema.Frame, parts map[part]string, methods map[part]bool, words map[word]bool) {
	t.Helper()
	asked := map[string]part{}
	for _, f := range frames {
		if f.Type != schema.TypeData {
			continue
		}
		var line struct {
			ID             any
			Method         string
			Params, Result any
		}
		require.NoError(t, json.Unmarshal(f.Data, &line), "%s", f.Data)
		p, value := part{line.Method, sides[f.From], "Notification"}, line.Params
		switch key := fmt.Sprint(f.From, line.ID); {
		case line.Method == "":
			p, value = asked[fmt.Sprint(otherSide(f.From), line.ID)], line.Result
			p.what = "Response"
		case line.ID != nil:
			p.what = "Request"
			asked[key] = p
		}
		for _, side := range []string{p.side, "protocol"} {
			p.side = side
			if def, ok := parts[p]; ok {
				delete(methods, p)
				n := s.Defs[def]
				s.said(&n, def, "", value, words)
			}
		}
	}
}

// Every method of the schemas, and every word that they list for a variant, a status or a kind, stands in
// a golden file of its version: what the translator makes of it is decided and pinned.
func TestEveryVariantOfTheSchemasHasAGolden(t *testing.T) {
	all := goldens(t, strings.ReplaceAll(Version, "/", "-"))
	for version, file := range map[string]string{"v1": "testdata/schema/acp-v1.json", "v2": "testdata/schema/acp-v2.json"} {
		t.Run(version, func(t *testing.T) {
			s := readSpec(t, file)
			parts, methods, words, seen := s.parts(), map[part]bool{}, map[word]bool{}, map[word]bool{}
			for p, def := range parts {
				methods[p] = true
				n := s.Defs[def]
				s.all(&n, def, "", seen, words)
			}
			require.True(t, words[word{"SessionUpdate", "sessionUpdate", "agent_message_chunk"}])
			require.Greater(t, len(words), 100)
			require.Greater(t, len(methods), 50)
			for name, frames := range all {
				if strings.Contains(name, "/"+version+"-") {
					s.take(t, frames, parts, methods, words)
				}
			}
			require.Empty(t, slices.Collect(maps.Keys(methods)), "methods without a golden file")
			require.Empty(t, slices.Collect(maps.Keys(words)), "words without a golden file")
		})
	}
}

// The words that the translator knows are those of the schemas.
func TestTheVariantsOfTheSchemasAreKnown(t *testing.T) {
	for version, file := range map[int]string{1: "testdata/schema/acp-v1.json", 2: "testdata/schema/acp-v2.json"} {
		s := readSpec(t, file)
		words := map[word]bool{}
		n := s.Defs["SessionUpdate"]
		s.all(&n, "SessionUpdate", "", map[word]bool{}, words)
		for w := range words {
			if w.name == "sessionUpdate" {
				require.True(t, acp.KnownUpdate(version, w.is), "%s of version %d", w.is, version)
			}
		}
	}
}
