package freeport

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNoAddressIsGivenTwice(t *testing.T) {
	seen := map[string]bool{}
	for range 200 {
		address, err := Address()
		require.NoError(t, err)
		require.False(t, seen[address])
		seen[address] = true
		l, err := net.Listen("tcp", address)
		require.NoError(t, err)
		require.NoError(t, l.Close())
	}
}
