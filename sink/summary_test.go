package sink_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

func TestWhatTitlesATranscript(t *testing.T) {
	for name, c := range map[string]struct {
		protocol schema.Protocol
		given    string
		prompt   string
		messages uint64
		want     string
	}{
		"ACP's own":                {schema.ACP, "Sacks", "How many?", 2, "Sacks"},
		"the first prompt":         {schema.ACP, "", "How many?", 2, "How many?"},
		"A2A, nothing said":        {schema.A2A, "GET /tasks → 404", "", 0, "GET /tasks → 404"},
		"A2A, a list and a prompt": {schema.A2A, "GET /tasks", "How many?", 1, "How many?"},
		"A2A, only the agent says": {schema.A2A, "PushNotification", "", 1, ""},
	} {
		s := sink.Summarise(&sink.Capture{}, &sink.Transcript{
			About: schema.About{Title: c.given}, Prompt: c.prompt, Messages: c.messages, Source: schema.Source{Protocol: c.protocol},
		})
		require.Equal(t, c.want, s.Title, name)
		require.Equal(t, c.messages == 0, s.Empty, name)
	}
}
