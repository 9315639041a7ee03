package api_test

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/console/api"
	"github.com/steno-io/steno/schema"
)

const documentURL = "http://steno.test/v1/openapi.json"

// openAPI is the parts of the document that tests look at.
type openAPI struct {
	OpenAPI string `json:"openapi"`
	Paths   map[string]map[string]struct {
		Parameters []json.RawMessage          `json:"parameters"`
		Responses  map[string]json.RawMessage `json:"responses"`
	} `json:"paths"`
	Components struct {
		Schemas    map[string]json.RawMessage `json:"schemas"`
		Parameters map[string]json.RawMessage `json:"parameters"`
		Responses  map[string]json.RawMessage `json:"responses"`
	} `json:"components"`
}

func document(t testing.TB) (d openAPI) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(api.OpenAPI()), &d))
	return d
}

var compiler = sync.OnceValues(func() (*jsonschema.Compiler, error) {
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{})
	for name, text := range map[string]string{
		"openapi.json": api.OpenAPI(), "event.schema.json": schema.EventSchema(), "frame.schema.json": schema.FrameSchema(),
	} {
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err == nil {
			err = c.AddResource("http://steno.test/v1/"+name, value)
		}
		if err != nil {
			return nil, err
		}
	}
	return c, nil
})

var compiling sync.Mutex

// fits holds JSON against a schema of the document, which pointer names.
func fits(t testing.TB, pointer, data string) {
	t.Helper()
	compiling.Lock()
	defer compiling.Unlock()
	c, err := compiler()
	require.NoError(t, err)
	s, err := c.Compile(documentURL + "#" + pointer)
	require.NoError(t, err)
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(data))
	require.NoError(t, err, data)
	require.NoError(t, s.Validate(value), "%s\n%s", pointer, data)
}

func escape(path string) string {
	return strings.ReplaceAll(strings.ReplaceAll(path, "~", "~0"), "/", "~1")
}

// pathOf is the document's path for a request's, "" if there is none.
func pathOf(d openAPI, path string) string {
	for template := range d.Paths {
		pattern := "^" + regexp.MustCompile(`\\\{\w+\\\}`).ReplaceAllString(regexp.QuoteMeta(template), `[^/]+`) + "$"
		if regexp.MustCompile(pattern).MatchString(path) {
			return template
		}
	}
	return ""
}

// described holds an answer against what the document says of it.
func described(t testing.TB, a answer) {
	t.Helper()
	d := document(t)
	at := pathOf(d, a.Request.URL.Path)
	method := strings.ToLower(a.Request.Method)
	if at == "" {
		return
	}
	if _, own := d.Paths[at][method]; !own {
		if method != "head" && a.StatusCode != http.StatusMethodNotAllowed {
			return
		}
		method = "get"
	}
	status := strconv.Itoa(a.StatusCode)
	raw, ok := d.Paths[at][method].Responses[status]
	require.True(t, ok, "%s of %s is not in the document: %s", status, at, a.body)
	pointer := "/paths/" + escape(at) + "/" + method + "/responses/" + status
	var r struct {
		Ref     string                     `json:"$ref"`
		Content map[string]json.RawMessage `json:"content"`
	}
	require.NoError(t, json.Unmarshal(raw, &r))
	if r.Ref != "" {
		pointer = strings.TrimPrefix(r.Ref, "#")
		raw = d.Components.Responses[strings.TrimPrefix(r.Ref, "#/components/responses/")]
		require.NoError(t, json.Unmarshal(raw, &r))
	}
	if len(r.Content) == 0 {
		require.Empty(t, a.body)
		return
	}
	require.Contains(t, r.Content, a.Header.Get("Content-Type"))
	if a.Header.Get("Content-Type") == "application/json" && a.Request.Method != http.MethodHead {
		require.True(t, strings.HasSuffix(a.body, "}\n"))
		fits(t, pointer+"/content/application~1json/schema", a.body)
	}
	if a.Header.Get("Content-Type") == "application/x-ndjson" {
		for line := range strings.Lines(a.body) {
			fits(t, "/components/schemas/TypingLine", line)
		}
	}
}

// TestTheDocumentHasEveryRoute and answers are held against it wherever tests ask for one.
func TestTheDocumentHasEveryRoute(t *testing.T) {
	d := document(t)
	require.Equal(t, "3.1.0", d.OpenAPI)
	var paths []string
	for path, operations := range d.Paths {
		paths = append(paths, path)
		if strings.HasSuffix(path, "/interventions") {
			require.Contains(t, operations, "post")
			delete(operations, "post")
		}
		require.Len(t, operations, 1, path)
		for _, name := range []string{"200", "403", "405"} {
			require.Contains(t, operations["get"].Responses, name, path)
		}
	}
	slices.Sort(paths)
	require.Equal(t, slices.Sorted(slices.Values(api.Paths())), paths)

	// What it refers to is there, and what is there is referred to.
	uses := map[string]int{}
	for _, ref := range regexp.MustCompile(`"\$ref": "([^"]+)"`).FindAllStringSubmatch(api.OpenAPI(), -1) {
		uses[ref[1]]++
	}
	named := map[string]map[string]json.RawMessage{"schemas": d.Components.Schemas, "parameters": d.Components.Parameters, "responses": d.Components.Responses}
	for ref := range uses {
		if parts := strings.Split(ref, "/"); parts[0] == "#" {
			require.Contains(t, named[parts[2]], parts[3], ref)
		}
	}
	for kind, all := range named {
		for name := range all {
			if !slices.Contains([]string{"Snapshot", "Lag", "End", "TypingLine"}, name) { // of streams, whose lines have no schema of their own there
				require.NotZero(t, uses["#/components/"+kind+"/"+name], "%s %s is for nobody", kind, name)
			}
		}
	}
}

func TestTheDocumentIsServedWithWhatItRefersTo(t *testing.T) {
	s := newPipeline(t).serve(api.Options{})
	require.Equal(t, api.OpenAPI(), s.get("/v1/openapi.json").body)
	require.Equal(t, schema.EventSchema(), s.get("/v1/event.schema.json").body)
	require.Equal(t, schema.FrameSchema(), s.get("/v1/frame.schema.json").body)
}
