package secrets_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema/secrets"
)

func TestTallyCountsAValueOnceAndSaysWhere(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	token, other := "gh"+"p_"+draw(r, 36, alnum), "AI"+"za"+draw(r, 35, alnum)
	tally := secrets.NewTally()
	chunk := `{"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"%s"}}}`
	tally.Frame("n/w/r/0/1", 1, fmt.Appendf(nil, chunk, "it is "+token))
	tally.Frame("n/w/r/0/1", 2, fmt.Appendf(nil, chunk, "and "+other[:20])) // cut in two
	tally.Frame("n/w/r/0/1", 3, fmt.Appendf(nil, chunk, other[20:]))
	tally.Frame("n/w/r/0/1", 4, []byte("{}"), fmt.Appendf(nil, chunk, token), []byte(token))
	tally.Event("n/w/r/0/1/1", 1, fmt.Appendf(nil, `{"kind":{"kind":"Message","text":"it is %sand %s"}}`, token+" ", other))
	tally.Event("n/w/r/0/1/1", 2, []byte(`{"kind":{"kind":"Stop"}}`))
	require.Equal(t, secrets.Found{
		Secrets: 2, Kinds: map[secrets.Kind]uint64{secrets.GitHubToken: 1, secrets.GoogleAPIKey: 1}, Events: 1, Frames: 2,
		Places: []secrets.Place{
			{Kind: secrets.GitHubToken, Transcript: "n/w/r/0/1/1", Seq: 1, Capture: "n/w/r/0/1", Frame: 1},
			{Kind: secrets.GoogleAPIKey, Transcript: "n/w/r/0/1/1", Seq: 1},
		},
	}, tally.Found)
	said, err := json.Marshal(tally.Found)
	require.NoError(t, err)
	require.NotContains(t, string(said), token[4:])
}

func TestTallyKeepsSomePlacesAndCountsTheRest(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	tally := secrets.NewTally()
	for n := range uint64(150) {
		tally.Frame("c", n+1, []byte("gh"+"p_"+draw(r, 36, alnum)))
	}
	require.Equal(t, uint64(150), tally.Found.Secrets)
	require.Equal(t, uint64(150), tally.Found.Kinds[secrets.GitHubToken])
	require.Len(t, tally.Found.Places, 100)
}
