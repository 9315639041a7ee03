package capturefile

import (
	"bytes"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/steno-io/steno/schema"
)

func frameSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	const name = "https://github.com/steno-io/steno/schema/frame.schema.json"
	c := jsonschema.NewCompiler()
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(schema.FrameSchema()))
	require.NoError(t, err)
	require.NoError(t, c.AddResource(name, document))
	s, err := c.Compile(name)
	require.NoError(t, err)
	return s
}

func validate(s *jsonschema.Schema, line []byte) error {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(line))
	if err != nil {
		return err
	}
	return s.Validate(value)
}

func TestLinesFitTheirSchema(t *testing.T) {
	s := frameSchema(t)
	rapid.Check(t, func(t *rapid.T) {
		f := drawFrame(t, rapid.Uint64Min(1).Draw(t, "seq"), schema.A2A)
		for _, write := range []func([]byte, *schema.Frame) ([]byte, error){AppendLine, AppendArchiveLine} {
			line, err := write(nil, &f)
			require.NoError(t, err)
			require.NoError(t, validate(s, line), "%s", line)
		}
	})
}

// A line that the schema refuses is one that the Reader refuses, and the other way round.
func TestSchemaAndReaderAgree(t *testing.T) {
	s := frameSchema(t)
	blob := strings.Repeat("b", 64)
	for line, good := range map[string]bool{
		`{"from":"client","text":""}`:                                                            true,
		`{"from":"stderr","b64":"/w=="}`:                                                         true,
		`{"from":"agent","type":"data","text":"","no":0,"http":{}}`:                              true,
		`{"type":"close","text":"{}"}`:                                                           true,
		`{"type":"gap","from":"control","b64":"e30="}`:                                           true,
		`{"from":"agent","blob":"` + blob + `"}`:                                                 true,
		`{"from":"agent","text":"","blob":"` + blob + `"}`:                                       true,
		`{"seq":18446744073709551615,"at":"2026-01-01T00:00:00+01:00","from":"agent","text":""}`: true,
		`{}`:                                   false,
		`{"text":""}`:                          false,
		`{"from":"client"}`:                    false,
		`{"from":"client","text":"","b64":""}`: false,
		`{"from":"client","text":null}`:        false,
		`{"from":"control","text":"{}"}`:       false,
		`{"from":"agent","type":"open","text":"{\"protocol\":\"acp\"}"}`: false,
		`{"type":"data","text":""}`:                                      false,
		`{"from":"user","text":""}`:                                      false,
		`{"from":"agent","type":"line","text":""}`:                       false,
		`{"from":"agent","end":"","text":""}`:                            false,
		`{"from":"agent","chan":"sse","text":""}`:                        false,
		`{"from":"agent","protocol":"mcp","text":""}`:                    false,
		`{"from":"agent","exchange":"","text":""}`:                       false,
		`{"from":"agent","exchange":"a b","text":""}`:                    false,
		`{"from":"agent","no":-1,"text":""}`:                             false,
		`{"from":"agent","no":18446744073709551616,"text":""}`:           false,
		`{"from":"agent","http":[],"text":""}`:                           false,
		`{"from":"agent","seq":0,"text":""}`:                             false,
		`{"from":"agent","seq":"1","text":""}`:                           false,
		`{"from":"agent","at":"2026-01-01","text":""}`:                   false,
		`{"from":"agent","b64":"/w"}`:                                    false,
		`{"from":"agent","salt":"0","text":""}`:                          false,
		`{"from":"agent","chain":"0","text":""}`:                         false,
		`{"from":"agent","writer":"j","text":""}`:                        false,
		`{"from":"agent","blob":"x"}`:                                    false,
		`{"from":"agent","txt":"","text":""}`:                            false,
	} {
		_, err := readAll(line)
		if good {
			require.NoError(t, err, line)
			require.NoError(t, validate(s, []byte(line)), line)
		} else {
			require.Error(t, err, line)
			require.Error(t, validate(s, []byte(line)), line)
		}
	}
}
