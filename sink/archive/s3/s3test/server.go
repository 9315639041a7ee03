package s3test

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/stretchr/testify/require"
)

// What a Server's owner signs with.
const (
	AccessKey = "miller"
	SecretKey = "grist-to-the-mill"
)

// binary names the program; `make s3` builds it and says where.
const binary = "STENO_VERSITYGW"

// Server is versitygw on a directory of the test, on loopback.
type Server struct {
	URL     string
	Dir     string // its buckets are folders there, its objects files
	Owner   *minio.Client
	process *exec.Cmd
	stop    sync.Once
}

// StartServer starts a server, which ends with the test.
func StartServer(t *testing.T) *Server {
	t.Helper()
	program := os.Getenv(binary)
	require.NotEmpty(t, program, "these tests need a server: run them by make s3")
	s := &Server{Dir: filepath.Join(t.TempDir(), "buckets")}
	versions := filepath.Join(t.TempDir(), "versions")
	require.NoError(t, os.Mkdir(s.Dir, 0o700))
	require.NoError(t, os.Mkdir(versions, 0o700))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	at := listener.Addr().String()
	require.NoError(t, listener.Close())
	s.URL = "http://" + at
	s.process = exec.Command(program, "--access", AccessKey, "--secret", SecretKey, "--port", at, "--quiet",
		"--health", "/health", "posix", "--versioning-dir", versions, s.Dir)
	log := &logged{t: t}
	s.process.Stdout, s.process.Stderr = log, log
	require.NoError(t, s.process.Start())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = s.process.Wait() // it is killed
	}()
	t.Cleanup(func() { s.Stop(); <-ended; log.end() })
	s.ready(t, ended)
	endpoint, err := url.Parse(s.URL)
	require.NoError(t, err)
	s.Owner, err = minio.New(endpoint.Host, &minio.Options{Creds: credentials.NewStaticV4(AccessKey, SecretKey, "")})
	require.NoError(t, err)
	return s
}

// ready waits until the server answers.
func (s *Server) ready(t *testing.T, ended <-chan struct{}) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/health", nil)
		require.NoError(t, err)
		answer, err := http.DefaultClient.Do(r)
		if err == nil {
			require.NoError(t, answer.Body.Close())
			return
		}
		select {
		case <-ended:
			t.Fatal("the server has ended")
		case <-ctx.Done():
			t.Fatal(err)
		case <-time.After(10 * time.Millisecond): // nobody says when it listens
		}
	}
}

// Stop ends the server.
func (s *Server) Stop() {
	s.stop.Do(func() { _ = s.process.Process.Kill() })
}

// Bucket makes a bucket and gives the address of an archive in it.
func (s *Server) Bucket(t *testing.T, name string, lock bool) string {
	t.Helper()
	require.NoError(t, s.Owner.MakeBucket(t.Context(), name, minio.MakeBucketOptions{ObjectLocking: lock}))
	return Address(name, s.URL)
}

// logged writes what the server says into the test's log, as long as that runs.
type logged struct {
	mu sync.Mutex
	t  *testing.T
}

// Write implements io.Writer.
func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.t != nil {
		l.t.Logf("%s", p)
	}
	return len(p), nil
}

func (l *logged) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.t = nil
}
