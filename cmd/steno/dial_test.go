package main

import (
	"testing"

	"github.com/stretchr/testify/require"
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
