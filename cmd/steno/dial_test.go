package main

import (
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema/natstest"
	"github.com/steno-io/steno/schema/topology"
)

func TestNoSecretOfADestinationIsPrinted(t *testing.T) {
	for destination, want := range map[string]string{
		"nats://localhost:4222":                    "NATS at nats://localhost:4222",
		"nats://s3cret@localhost:4222":             "NATS at nats://localhost:4222",
		"nats://me:s3cret@a:1,tls://s3cret@b:2":    "NATS at nats://a:1,tls://b:2",
		"s3cret@localhost":                         "NATS at localhost",
		"nats://me:s3cr@et/s3cret@localhost:4222/": "NATS at nats://localhost:4222/",
		"context:prod":                             "NATS context prod",
	} {
		require.Equal(t, want, printable(destination))
	}
	_, err := dial("nats://s3cret@127.0.0.1:1")
	require.ErrorIs(t, err, errUnreachable)
	require.NotContains(t, err.Error(), "s3cret")
	for _, bad := range []string{"nats://s3cret@127.0.0.1:port", "nats://me:s3cret/x@h:1", "nats://s3cret\x7f@h:1"} {
		_, err = dial(bad)
		require.ErrorIs(t, err, errURL, bad)
		require.NotContains(t, err.Error(), "s3cret")
	}
}

// A context whose inboxes would get no answer is refused before anything waits for one.
func TestInboxesOfAContext(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t)
	conn, err := dialWith(s.URL(), nats.CustomInboxPrefix("_INBOX_me"))
	require.NoError(t, err)
	conn.Close()
	_, err = dialWith(s.URL(), nats.CustomInboxPrefix("me"))
	require.ErrorIs(t, err, errInbox)
	require.Equal(t, exitConfig, exitCode(err))
}

// Streams of an earlier build end a command, which says which setting is not as it must be and what to run.
func TestStreamsOfAnEarlierBuildHaveARemedy(t *testing.T) {
	s := natstest.Start(t)
	stream, err := s.JS.Stream(t.Context(), topology.ParkedStream)
	require.NoError(t, err)
	earlier := stream.CachedInfo().Config
	earlier.AllowDirect = true
	_, err = s.JS.UpdateStream(t.Context(), earlier)
	require.NoError(t, err)
	for _, args := range [][]string{{"worker", "translate"}, {"streams", "check"}} {
		_, stderr, code := steno(t, append(args, "--nats", s.URL())...)
		require.Equal(t, exitConfig, code, args)
		require.Contains(t, stderr, "allow_direct: want false, got true", args)
		require.Contains(t, stderr, "steno streams apply mends it", args)
	}
	_, stderr, code := steno(t, "streams", "apply", "--nats", s.URL())
	require.Equal(t, exitOK, code, stderr)
	_, stderr, code = steno(t, "streams", "check", "--nats", s.URL())
	require.Equal(t, exitOK, code, stderr)
}
