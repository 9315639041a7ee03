package translate

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
)

func TestAboutsFitIntoTheHeaders(t *testing.T) {
	var a Abouts
	require.Nil(t, a.Take())
	about := schema.About{Title: strings.Repeat("t", schema.MaxAbout), Status: schema.StatusOpen}
	for session := range uint32(200) {
		a.note(session, about)
	}
	a.note(7, about) // no change
	got := map[uint32]schema.About{}
	for taken := a.Take(); taken != nil; taken = a.Take() {
		require.LessOrEqual(t, AboutBytes(taken), MaxAboutBytes)
		rec := schema.Record{First: map[uint32]uint64{}, About: taken}
		header, err := rec.Header()
		require.NoError(t, err)
		require.Less(t, len(header[schema.HeaderAbout][0]), 40<<10)
		for session, about := range taken {
			got[session] = about
		}
	}
	require.Len(t, got, 200)

	labels := map[string]string{}
	for i := range 1000 {
		labels[fmt.Sprint("label", i)] = strings.Repeat("v", 100)
	}
	a.note(1, schema.About{Title: "t", Labels: labels, Status: schema.StatusEnded})
	require.Equal(t, map[uint32]schema.About{1: {Status: schema.StatusEnded}}, a.Take())
	require.Nil(t, a.Take())
}
