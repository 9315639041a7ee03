//go:build s3

package s3_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/sink/archive"
	"github.com/steno-io/steno/sink/archive/s3"
	"github.com/steno-io/steno/sink/archive/s3/s3test"
	"github.com/steno-io/steno/sink/archive/storetest"
)

// TestServer runs the suite of all stores against a real server.
func TestServer(t *testing.T) {
	server := s3test.StartServer(t)
	server.Bucket(t, "mill", false)
	var n atomic.Int32
	storetest.Run(t, storetest.Suite{Open: open, Page: s3test.Page, Fresh: func(*testing.T) string {
		return s3test.Address(fmt.Sprintf("mill/%d", n.Add(1)), server.URL)
	}})
}

// TestServerRefuses holds what a real server says against what it is taken for.
func TestServerRefuses(t *testing.T) {
	server := s3test.StartServer(t)
	address := server.Bucket(t, "mill", false)
	_, err := s3.Open(t.Context(), s3test.Address("quarry", server.URL), s3.Options{Write: true})
	require.ErrorIs(t, err, s3.ErrBucket)
	_, err = s3.Open(t.Context(), address, s3.Options{Write: true, Lock: s3.Lock{LegalHold: true}})
	require.ErrorIs(t, err, s3.ErrNoLock)
	_, err = s3.Open(t.Context(), address+"&region=eu-mill-1", s3.Options{Write: true})
	require.ErrorIs(t, err, s3.ErrDenied)

	s := opened(t, address, s3.Options{Write: true})
	t.Setenv("AWS_SECRET_ACCESS_KEY", "another")
	_, err = s3.Open(t.Context(), address, s3.Options{Write: true})
	require.ErrorIs(t, err, s3.ErrDenied)

	server.Stop()
	require.ErrorIs(t, s.Put(t.Context(), "a", nil), s3.ErrUnreachable)
}

// TestServerLocks looks whether what is locked can be taken away.
func TestServerLocks(t *testing.T) {
	server := s3test.StartServer(t)
	lock := s3.Lock{For: time.Hour, Mode: s3.Compliance, LegalHold: true}
	address := server.Bucket(t, "locked", true)
	s := opened(t, address, s3.Options{Write: true, Lock: lock})
	require.NoError(t, s.Put(t.Context(), "sealed", []byte("one")))
	require.ErrorIs(t, s.Put(t.Context(), "sealed", []byte("two")), archive.ErrExists)
	require.NoError(t, s.Replace(t.Context(), "head", nil, []byte("one")))
	require.NoError(t, s.Replace(t.Context(), "head", []byte("one"), []byte("two")))
	require.Equal(t, "two", read(t, s, "head"))
	for name, kept := range map[string]bool{"sealed": true, "head": false} {
		info, err := server.Owner.StatObject(t.Context(), "locked", name, minio.StatObjectOptions{})
		require.NoError(t, err)
		err = server.Owner.RemoveObject(t.Context(), "locked", name, minio.RemoveObjectOptions{VersionID: info.VersionID, GovernanceBypass: true})
		if kept {
			require.Error(t, err, "%s can be taken away", name)
		} else {
			require.NoError(t, err)
		}
	}
	require.Equal(t, "one", read(t, s, "sealed"))
	again := opened(t, address, s3.Options{Write: true, Lock: lock})
	require.ErrorIs(t, again.Put(t.Context(), "sealed", nil), archive.ErrExists)
}
