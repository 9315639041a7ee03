package proxy

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRequestsWaitForRoom: of large requests only as many are held as there is room for; small ones
// pass by them, and who is forwarded holds none.
func TestRequestsWaitForRoom(t *testing.T) {
	const size = 100 << 10
	var held atomic.Int64
	answer := make(chan struct{})
	peer := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/stream" {
			_, _ = io.Copy(io.Discard, r.Body)
			_ = stream(w)("data: 1\n\n")
			<-r.Context().Done()
			return
		}
		if r.ContentLength >= size {
			held.Add(1)
			<-answer
		}
	})
	b := newBook(t)
	p := start(t, b, peer.URL)
	p.limit(2*size + size/2)
	body := strings.Repeat("x", size)
	streaming, leave := context.WithCancel(t.Context())
	defer leave()
	for range 4 { // they are answered, and go on: what they brought is held no more
		res, err := client(t, false).Do(newRequest(t, "POST", p.url+"/stream", body).WithContext(streaming))
		require.NoError(t, err)
		defer res.Body.Close()
	}
	done := make(chan int, 5)
	for range 5 {
		go func() {
			res, err := client(t, false).Do(newRequest(t, "POST", p.url, body))
			if assert.NoError(t, err) {
				_ = res.Body.Close()
				done <- res.StatusCode
			}
		}()
	}
	require.Eventually(t, func() bool { return held.Load() == 2 }, soon, time.Millisecond)
	res, _ := ask(t, client(t, false), newRequest(t, "POST", p.url, "small"))
	require.Equal(t, 200, res.StatusCode)
	require.EqualValues(t, 2, held.Load(), "no third one has found room")
	run := func(n int64) {
		t.Helper()
		require.Eventually(t, func() bool { return p.Running() == n }, soon, time.Millisecond)
	}
	run(4 + 5)
	ctx, leaves := context.WithCancel(t.Context())
	defer leaves()
	gone := make(chan error, 1)
	go func() {
		_, err := client(t, false).Do(newRequest(t, "POST", p.url, body).WithContext(ctx))
		gone <- err
	}()
	run(4 + 5 + 1)
	leaves()
	require.Error(t, <-gone, "nor does one that goes away")
	close(answer)
	for range 5 {
		require.Equal(t, 200, <-done)
	}
	leave()
	for _, x := range b.closed(t, 11) {
		require.NotContains(t, x.closed.Error, "room")
	}
	require.True(t, p.reading.TryAcquire(p.room), "all of the room is back")
	p.reading.Release(p.room)
}

// TestRoomForWhatGzipBecomes: a few bytes may become many.
func TestRoomForWhatGzipBecomes(t *testing.T) {
	in := make(chan struct{})
	peer := upstream(t, func(_ http.ResponseWriter, r *http.Request) { <-in })
	b := newBook(t)
	p := start(t, b, peer.URL)
	const size = 1 << 20
	bomb := string(squeeze(t, 9, strings.Repeat("x", size)))
	require.Less(t, len(bomb), smallBody)
	done := make(chan int, 1)
	go func() {
		res, _ := ask(t, client(t, false), newRequest(t, "POST", p.url, bomb, "Content-Encoding", "gzip"))
		done <- res.StatusCode
	}()
	require.Eventually(t, func() bool {
		free := p.reading.TryAcquire(p.room - size + 1)
		if free {
			p.reading.Release(p.room - size + 1)
		}
		return !free
	}, soon, time.Millisecond)
	close(in)
	require.Equal(t, 200, <-done)
	b.closed(t, 1)
	require.True(t, p.reading.TryAcquire(p.room))
}

func TestAParcelIsSentAgainUntilItIsLetGo(t *testing.T) {
	p := newParcel([]byte("text"))
	first, err := p.open()
	require.NoError(t, err)
	for range 2 {
		again, err := p.open()
		require.NoError(t, err)
		got, err := io.ReadAll(again)
		require.NoError(t, err)
		require.Equal(t, "text", string(got))
	}
	p.drop()
	got, err := io.ReadAll(first)
	require.NoError(t, err)
	require.Equal(t, "text", string(got), "who reads it has it")
	_, err = p.open()
	require.ErrorContains(t, err, "let go")
}
