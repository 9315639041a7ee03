// Package pgtest gives tests databases on a real PostgreSQL: one private server for a test binary,
// started when the first test asks for it.
package pgtest

import (
	"fmt"
	"net/url"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// within bounds each wait for the server.
const within = time.Minute

// shared is the test binary's server.
var shared struct {
	once      sync.Once
	server    *server
	err       error
	databases atomic.Uint64
}

// Main runs a binary's tests and then ends its server; it gives the exit code. TestMain calls it.
func Main(m *testing.M) int {
	code := m.Run()
	if shared.server != nil {
		if err := shared.server.remove(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return max(code, 1)
		}
	}
	return code
}

func start(t testing.TB) *server {
	t.Helper()
	_, measured := t.(*testing.B)
	shared.once.Do(func() { shared.server, shared.err = newServer(measured) })
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.server
}

// Database makes an empty database, which ends with the test, and gives its URL.
func Database(t testing.TB) string {
	t.Helper()
	s := start(t)
	name := fmt.Sprintf("test_%d", shared.databases.Add(1))
	require.NoError(t, s.execute("CREATE DATABASE "+name))
	// A server that is restarted looks at every file of every database.
	t.Cleanup(func() { require.NoError(t, s.execute("DROP DATABASE "+name+" WITH (FORCE)")) })
	return s.url(name)
}

// Restart ends the server without a checkpoint and without waiting for anybody, as
// pg_ctl restart -m immediate does, and starts it again: every connection breaks, and what was not
// committed is gone. No other test may use the server meanwhile.
func Restart(t testing.TB) {
	t.Helper()
	require.NoError(t, start(t).restart())
}

// Through gives the URL of the same database by way of another address.
func Through(t testing.TB, database, address string) string {
	t.Helper()
	u, err := url.Parse(database)
	require.NoError(t, err)
	u.Host = address
	return u.String()
}

// Address is where the database's server listens.
func Address(t testing.TB, database string) string {
	t.Helper()
	u, err := url.Parse(database)
	require.NoError(t, err)
	return u.Host
}
