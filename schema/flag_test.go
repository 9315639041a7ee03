package schema_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
)

// Every flag constant is in Flags, in the file's order, and has one sentence that begins with its name.
func TestFlagsAreOneListWithASentenceEach(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "flag.go", nil, parser.ParseComments)
	require.NoError(t, err)
	var listed []schema.Flag
	for _, decl := range file.Decls {
		gen, ok := decl.(*ast.GenDecl)
		if !ok || gen.Tok != token.CONST {
			continue
		}
		for _, spec := range gen.Specs {
			value := spec.(*ast.ValueSpec)
			require.Len(t, value.Names, 1)
			text := strings.TrimSpace(value.Doc.Text())
			require.True(t, strings.HasPrefix(text, value.Names[0].Name+": "), value.Names[0].Name)
			require.True(t, strings.HasSuffix(text, "."), text)
			word, err := strconv.Unquote(value.Values[0].(*ast.BasicLit).Value)
			require.NoError(t, err)
			require.Regexp(t, `^[a-z0-9]+(_[a-z0-9]+)*$`, word)
			require.NotContains(t, listed, schema.Flag(word))
			listed = append(listed, schema.Flag(word))
		}
	}
	require.NotEmpty(t, listed)
	require.Equal(t, listed, schema.Flags)
}
