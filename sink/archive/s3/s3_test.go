package s3_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/sink/archive"
	"github.com/steno-io/steno/sink/archive/s3"
	"github.com/steno-io/steno/sink/archive/s3/s3test"
	"github.com/steno-io/steno/sink/archive/storetest"
)

func open(ctx context.Context, address string) (archive.Store, error) {
	return s3.Open(ctx, address, s3.Options{Write: true})
}

func TestMain(m *testing.M) {
	for _, name := range []string{"AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_SESSION_TOKEN"} {
		os.Unsetenv(name)
	}
	os.Setenv("AWS_ACCESS_KEY_ID", s3test.AccessKey)
	os.Setenv("AWS_SECRET_ACCESS_KEY", s3test.SecretKey)
	storetest.Main(m, open)
}

const prefix = "some/prefix"

func TestFake(t *testing.T) {
	storetest.Run(t, storetest.Suite{
		Open: open, Fresh: func(t *testing.T) string { return new(s3test.Fake).Start(t, prefix) }, Page: s3test.Page,
	})
}

func opened(t *testing.T, address string, o s3.Options) *s3.Store {
	t.Helper()
	s, err := s3.Open(t.Context(), address, o)
	require.NoError(t, err)
	return s
}

func read(t *testing.T, s archive.Store, name string) string {
	t.Helper()
	in, err := s.Open(t.Context(), name)
	require.NoError(t, err)
	data, err := io.ReadAll(in)
	require.NoError(t, errors.Join(err, in.Close()))
	return string(data)
}

// once says yes to the first PUT of a name.
func once(name string) func(r *http.Request) bool {
	var done atomic.Bool
	return func(r *http.Request) bool {
		return r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, name) && done.CompareAndSwap(false, true)
	}
}

func TestAnAnswerThatIsLost(t *testing.T) {
	t.Parallel()
	f := &s3test.Fake{}
	s := opened(t, f.Start(t, prefix), s3.Options{Write: true})
	ctx := t.Context()

	f.Lose = once("/put")
	require.NoError(t, s.Put(ctx, "put", []byte("one")), "it is there, and it is ours")
	require.ErrorIs(t, s.Put(ctx, "put", []byte("one")), archive.ErrExists, "nothing was lost this time")

	f.Lose = once("/put")
	require.ErrorIs(t, s.Put(ctx, "put", []byte("two")), archive.ErrExists, "it is there, and another one")
	require.Equal(t, "one", read(t, s, "put"))

	f.Lose = once("/replaced")
	require.NoError(t, s.Replace(ctx, "replaced", nil, []byte("one")))
	f.Lose = once("/replaced")
	require.NoError(t, s.Replace(ctx, "replaced", []byte("one"), []byte("two")))
	f.Lose = once("/replaced")
	require.ErrorIs(t, s.Replace(ctx, "replaced", []byte("one"), []byte("three")), archive.ErrChanged)
	require.Equal(t, "two", read(t, s, "replaced"))

	lost := once("/passed")
	f.Lose = func(r *http.Request) bool { // before the second try, another one is quicker
		if !lost(r) {
			return false
		}
		f.Set(prefix+"/passed", s3test.Object{ETag: `"other"`, Data: []byte("other")})
		return true
	}
	require.ErrorIs(t, s.Replace(ctx, "passed", nil, []byte("mine")), archive.ErrChanged)
	require.Equal(t, "other", read(t, s, "passed"))
}

// TestAServerThatHangsUp has a server that refuses by closing the connection, as one does that does not read
// what is sent: what is in the bucket decides.
func TestAServerThatHangsUp(t *testing.T) {
	t.Parallel()
	for name, do := range map[string]func(*s3.Store, context.Context) error{
		"nil":            func(s *s3.Store, ctx context.Context) error { return s.Put(ctx, "a", []byte("one")) },
		"object exists":  func(s *s3.Store, ctx context.Context) error { return s.Put(ctx, "a", []byte("two")) },
		"not there":      func(s *s3.Store, ctx context.Context) error { return s.Put(ctx, "b", []byte("two")) },
		"object changed": func(s *s3.Store, ctx context.Context) error { return s.Replace(ctx, "a", nil, []byte("two")) },
		"as it was":      func(s *s3.Store, ctx context.Context) error { return s.Replace(ctx, "a", []byte("one"), []byte("two")) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &s3test.Fake{}
			s := opened(t, f.Start(t, prefix), s3.Options{Write: true})
			require.NoError(t, s.Put(t.Context(), "a", []byte("one")))
			f.Hurt = func(_ http.ResponseWriter, r *http.Request) bool {
				if r.Method == http.MethodPut {
					panic(http.ErrAbortHandler)
				}
				return false
			}
			switch err := do(s, t.Context()); name {
			case "nil":
				require.NoError(t, err)
			case "object exists":
				require.ErrorIs(t, err, archive.ErrExists)
			case "object changed":
				require.ErrorIs(t, err, archive.ErrChanged)
			default:
				require.ErrorIs(t, err, s3.ErrUnreachable)
			}
			require.Equal(t, "one", read(t, s, "a"))
		})
	}
}

// TestAServerThatStumbles has each first request refused for now, and the second of each name go on.
func TestAServerThatStumbles(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusServiceUnavailable, http.StatusInternalServerError, http.StatusConflict, http.StatusTooManyRequests} {
		f := &s3test.Fake{}
		s := opened(t, f.Start(t, prefix), s3.Options{Write: true})
		stumble := once("/a")
		f.Hurt = func(w http.ResponseWriter, r *http.Request) bool {
			if stumble(r) {
				s3test.Refuse(w, status, "Stumbled")
				return true
			}
			return false
		}
		require.NoError(t, s.Put(t.Context(), "a", []byte("one")), status)
		require.Equal(t, "one", read(t, s, "a"))
	}
}

func TestConflictsWithoutEnd(t *testing.T) {
	t.Parallel()
	f := &s3test.Fake{}
	s := opened(t, f.Start(t, prefix), s3.Options{Write: true})
	ctx, cancel := context.WithCancel(t.Context())
	f.Hurt = func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/a") {
			return false
		}
		s3test.Refuse(w, http.StatusConflict, "ConditionalRequestConflict")
		cancel()
		return true
	}
	require.ErrorIs(t, s.Put(ctx, "a", []byte("one")), context.Canceled)
}

func TestAReadThatBreaks(t *testing.T) {
	t.Parallel()
	f := &s3test.Fake{}
	s := opened(t, f.Start(t, prefix), s3.Options{Write: true})
	data := bytes.Repeat([]byte("flour "), 1<<18)
	require.NoError(t, s.Put(t.Context(), "a", data))
	var reads atomic.Int32
	f.Cut = func(*http.Request) int { // the first few, and never at the same byte
		if n := int(reads.Add(1)); n < 10 {
			return n*100_003 - n
		}
		return 0
	}
	require.True(t, read(t, s, "a") == string(data))
	require.EqualValues(t, 6, reads.Load(), "each went on where the one before broke")

	f.Cut = func(*http.Request) int {
		f.Set(prefix+"/a", s3test.Object{ETag: `"other"`, Data: data})
		return 100
	}
	in, err := s.Open(t.Context(), "a")
	require.NoError(t, err)
	_, err = io.ReadAll(in)
	require.ErrorContains(t, err, "read a in archive s3://mill/some/prefix at http://127.0.0.1:")
	require.ErrorContains(t, err, "PreconditionFailed", "two objects do not make one")
	require.NoError(t, in.Close())
}

func TestServersThatAreUnfit(t *testing.T) {
	t.Parallel()
	for _, header := range []string{"If-None-Match", "If-Match"} {
		f := &s3test.Fake{Careless: []string{header}}
		address := f.Start(t, prefix)
		for range 2 { // with the mark there, too
			_, err := s3.Open(t.Context(), address, s3.Options{Write: true})
			require.ErrorIs(t, err, s3.ErrUnfit)
			require.ErrorContains(t, err, header)
		}
		opened(t, address, s3.Options{}) // it can be read
	}
	f := &s3test.Fake{}
	address := f.Start(t, prefix)
	f.Hurt = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get("If-None-Match") == "" {
			return false
		}
		s3test.Refuse(w, http.StatusNotImplemented, "NotImplemented")
		return true
	}
	_, err := s3.Open(t.Context(), address, s3.Options{Write: true})
	require.ErrorIs(t, err, s3.ErrUnfit)
}

func TestWhatAServerRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		status int
		code   string
		is     error
		says   string
	}{
		{http.StatusForbidden, "AccessDenied", s3.ErrDenied, "s3:PutObject"},
		{http.StatusForbidden, "SignatureDoesNotMatch", s3.ErrDenied, "SignatureDoesNotMatch"},
		{http.StatusNotFound, "NoSuchBucket", s3.ErrBucket, "steno makes none"},
		{http.StatusMovedPermanently, "PermanentRedirect", s3.ErrDenied, "&region="},
	} {
		f := &s3test.Fake{}
		address := f.Start(t, prefix)
		f.Hurt = func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Query().Has("location") {
				return false
			}
			s3test.Refuse(w, tt.status, tt.code)
			return true
		}
		_, err := s3.Open(t.Context(), address, s3.Options{Write: true})
		require.ErrorIs(t, err, tt.is)
		require.ErrorContains(t, err, tt.says)
		require.ErrorContains(t, err, "open archive s3://mill/some/prefix at http://127.0.0.1:")
		for _, err := range opened(t, address, s3.Options{}).List(t.Context(), "") {
			require.ErrorIs(t, err, tt.is)
		}
	}
}

func TestNobodyAnswers(t *testing.T) {
	t.Parallel()
	f := &s3test.Fake{}
	address := f.Start(t, prefix)
	f.Hurt = func(http.ResponseWriter, *http.Request) bool { panic(http.ErrAbortHandler) }
	_, err := s3.Open(t.Context(), address, s3.Options{Write: true})
	require.ErrorIs(t, err, s3.ErrUnreachable)
	address += "&region=eu-mill-1" // it need not be asked for, and what follows is tried several times
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err = s3.Open(ctx, address, s3.Options{Write: true})
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestLocks(t *testing.T) {
	t.Parallel()
	lock := s3.Lock{For: 365 * 24 * time.Hour, Mode: s3.Compliance, LegalHold: true}
	_, err := s3.Open(t.Context(), new(s3test.Fake).Start(t, prefix), s3.Options{Write: true, Lock: lock})
	require.ErrorIs(t, err, s3.ErrNoLock)

	f := &s3test.Fake{Locks: true}
	s := opened(t, f.Start(t, prefix), s3.Options{Write: true, Lock: lock})
	before := time.Now().UTC().Truncate(time.Second)
	require.NoError(t, s.Put(t.Context(), "sealed", []byte("one")))
	have := f.Get(prefix + "/sealed").Lock
	require.Equal(t, "COMPLIANCE", have.Get(s3test.LockMode))
	until, err := time.Parse(time.RFC3339, have.Get(s3test.LockUntil))
	require.NoError(t, err)
	require.WithinRange(t, until, before.Add(lock.For), time.Now().Add(lock.For))
	require.Equal(t, "ON", have.Get(s3test.LegalHold))

	require.NoError(t, s.Replace(t.Context(), "head", nil, []byte("one")))
	require.NoError(t, s.Replace(t.Context(), "head", []byte("one"), []byte("two")))
	for _, name := range []string{"/head", "/" + archive.MarkName} {
		require.NotEmpty(t, f.Get(prefix+name).Data)
		require.Empty(t, f.Get(prefix+name).Lock, "%s can be replaced", name)
	}

	s = opened(t, f.Start(t, prefix), s3.Options{Write: true, Lock: s3.Lock{For: time.Hour, Mode: s3.Governance}})
	require.NoError(t, s.Put(t.Context(), "sealed", nil))
	require.Equal(t, "GOVERNANCE", f.Get(prefix+"/sealed").Lock.Get(s3test.LockMode))
	require.Empty(t, f.Get(prefix+"/sealed").Lock.Get(s3test.LegalHold))
	_, err = s3.Open(t.Context(), "s3://mill", s3.Options{Lock: s3.Lock{For: time.Hour, Mode: "firm"}})
	require.ErrorContains(t, err, `"firm": want governance or compliance`)
}

func TestAPrefixOfItsOwn(t *testing.T) {
	t.Parallel()
	f := &s3test.Fake{}
	address := f.Start(t, prefix)
	s := opened(t, address, s3.Options{Write: true})
	beside := opened(t, strings.Replace(address, "/some/prefix", "/some/prefix2", 1), s3.Options{Write: true})
	require.NoError(t, s.Put(t.Context(), "a", nil))
	require.NoError(t, beside.Put(t.Context(), "b", nil))
	f.Set(prefix+"/", s3test.Object{}) // as consoles make it
	var names []string
	for l, err := range s.List(t.Context(), "") {
		require.NoError(t, err)
		names = append(names, l.Name)
	}
	require.Equal(t, []string{archive.MarkName, "a"}, slices.Sorted(slices.Values(names)))
}
