package bench

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/steno-io/steno/console/api"
	"github.com/steno-io/steno/console/proof"
	"github.com/steno-io/steno/console/refold"
	"github.com/steno-io/steno/ingest/publish"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/sqlite"
	"github.com/steno-io/steno/sink/verify"
	"github.com/steno-io/steno/translate/stage"
)

// crowd is who follows what, over HTTP.
type crowd struct {
	name        string
	transcripts int
	each        int           // streams of each transcript
	every       time.Duration // between two frames of all transcripts
}

// follow says frames in transcripts that are followed over HTTP, and takes the time until each stream has
// each frame's delta. Beside it, in turn, a plain server writes the same bytes to as many streams, as soon
// as it has them.
func (b *bench) follow(ctx context.Context) error {
	of, err := b.recording(schema.ACP)
	if err != nil {
		return err
	}
	load, err := b.chunksOf(of)
	if err != nil {
		return err
	}
	for _, c := range []crowd{
		{"one transcript", 1, b.size.streams, 20 * time.Millisecond},
		{"a transcript each", b.size.streams, 1, time.Millisecond},
	} {
		c.name = fmt.Sprintf("follow, %d streams, %s", b.size.streams, c.name)
		b.Say("%s: starting", c.name)
		if err := withRig(ctx, everySecond, func(r *rig) error { return b.served(ctx, r, load, c) }); err != nil {
			return err
		}
	}
	return nil
}

// served runs the pipeline and the API of a data directory, and measures a crowd.
func (b *bench) served(ctx context.Context, r *rig, load chunks, c crowd) (err error) {
	l, err := sqlite.Open(filepath.Join(r.dir, "ledger.db"), sqlite.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	w, err := stage.New(stage.Options{JS: r.js, Catalogue: b.Catalogue})
	if err != nil {
		return err
	}
	conn, err := r.dial()
	if err != nil {
		return err
	}
	defer conn.Close()
	stored := topology.Frames{JS: r.js, Blobs: r.blobs, Partitions: r.info.Partitions}
	s, err := api.New(api.Options{
		Conn: conn, JS: r.js, Frames: stored, Ledger: l, Search: l, Partitions: r.info.Partitions,
		Folder: &refold.Source{Stored: stored, Versions: l, Catalogue: b.Catalogue},
		Prover: &proof.Source{Stream: verify.Stream{JS: r.js, Blobs: r.blobs, Partitions: r.info.Partitions}, Ledger: l, Catalogue: b.Catalogue},
	})
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	return alongside(ctx, func(ctx context.Context) error { return b.followed(ctx, r, w, listener.Addr().String(), load, c) },
		w.Run, sink.New(sink.Options{JS: r.js, Ledger: l}).Run, func(ctx context.Context) error { return s.Serve(ctx, listener) })
}

// alongside does something while others run, which end by themselves only if they fail.
func alongside(ctx context.Context, do func(context.Context) error, others ...func(context.Context) error) error {
	g, running := errgroup.WithContext(ctx)
	running, stop := context.WithCancel(running)
	defer stop()
	for _, run := range others {
		g.Go(func() error {
			if err := run(running); err != nil && running.Err() == nil {
				return err
			}
			return nil
		})
	}
	g.Go(func() error { defer stop(); return do(running) })
	return g.Wait()
}

// followed opens the streams and measures.
func (b *bench) followed(ctx context.Context, r *rig, w *stage.Worker, address string, load chunks, c crowd) error {
	head, tail, err := template(load.chunks)
	if err != nil {
		return err
	}
	appenders, behind, err := r.said(ctx, w, load, c.transcripts)
	if err != nil {
		return err
	}
	heard := &clock{copies: c.each}
	var streams []string
	for n := range c.transcripts {
		key := schema.Transcript{Identity: identity("follow", n), Session: load.session}.String()
		for range c.each {
			streams = append(streams, "http://"+address+"/v1/transcripts/"+key+"/stream")
		}
	}
	plain := &plainServer{came: make(chan struct{}, len(streams))}
	bare := &clock{copies: c.each}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	server := &http.Server{Handler: plain, ReadHeaderTimeout: time.Minute}
	var g sync.WaitGroup
	defer g.Wait()
	defer server.Close() //nolint:errcheck // it has nothing left to say
	g.Go(func() { _ = server.Serve(l) })
	listening, leave := context.WithCancel(ctx)
	defer leave()
	clients := &clients{client: &http.Client{Transport: &http.Transport{}}}
	defer clients.group.Wait()
	defer leave()
	for _, url := range streams {
		if err := clients.open(listening, url, heard); err != nil {
			return err
		}
	}
	for range streams {
		if err := clients.open(listening, "http://"+l.Addr().String(), bare); err != nil {
			return err
		}
		<-plain.came
	}
	if err := pause(ctx, settle); err != nil {
		return err
	}
	chunk := func(n int) []byte {
		return []byte("event: delta\ndata: " + strings.Repeat("x", 400) + fmt.Sprintf("%s%09d \n\n", mark, n))
	}
	return b.windows(ctx, c.name, c.every, [2]float64{}, heard, bare, func(n int) error {
		at := n % c.transcripts
		behind++
		return appenders[at].Append(ctx, []schema.Frame{{
			At: time.Now(), From: schema.FromAgent, Type: schema.TypeData, End: schema.EndLF,
			Data: fmt.Appendf(nil, "%s%s%09d %s", head, mark, n, tail), Writer: schema.Writer{Journal: "bench", Offset: behind},
		}})
	}, func(n int) error { return plain.say(n%c.transcripts, c.each, chunk(n)) })
}

// said stores what stands before the text in so many captures, and waits until it is committed.
func (r *rig) said(ctx context.Context, w *stage.Worker, load chunks, captures int) ([]*publish.Appender, uint64, error) {
	before := frames(Recording{Frames: load.before}, 0)
	first := frames(Recording{Frames: load.chunks[:1]}, uint64(len(before))) // opens the message
	before = append(before, first...)
	appenders := make([]*publish.Appender, captures)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(16)
	for n := range appenders {
		g.Go(func() (err error) {
			if appenders[n], err = r.appender(identity("follow", n)); err == nil {
				err = appenders[n].Append(ctx, before)
			}
			return err
		})
	}
	return appenders, uint64(len(before)), g.Wait()
}

// clients read streams.
type clients struct {
	client *http.Client
	group  sync.WaitGroup
}

// open opens a stream, which may not be there yet, and has the clock told what it hears.
func (c *clients) open(ctx context.Context, url string, heard *clock) error {
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		response, err := c.client.Do(request)
		if err != nil {
			return err
		}
		if response.StatusCode == http.StatusOK {
			c.group.Go(func() {
				defer response.Body.Close() //nolint:errcheck // nothing is left to be read
				hear(bufio.NewReaderSize(response.Body, 64<<10), heard)
			})
			return nil
		}
		if err := errors.Join(response.Body.Close(), pause(ctx, 10*time.Millisecond)); err != nil {
			return err
		}
	}
}

// hear reads a stream to its end.
func hear(stream *bufio.Reader, c *clock) {
	for {
		line, err := stream.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			continue // a snapshot or an old event
		}
		if err != nil {
			return
		}
		if _, number, ok := bytes.Cut(line, []byte(mark)); ok && bytes.HasPrefix(line, []byte("data:")) {
			c.heard(string(number[:min(len(number), 9)]))
		}
	}
}

// plainServer writes what it is given to those who came.
type plainServer struct {
	came chan struct{}

	mu      sync.Mutex
	writers []http.ResponseWriter
}

// ServeHTTP implements http.Handler.
func (p *plainServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.WriteHeader(http.StatusOK)
	if http.NewResponseController(w).Flush() != nil {
		return
	}
	p.mu.Lock()
	p.writers = append(p.writers, w)
	p.mu.Unlock()
	p.came <- struct{}{}
	<-r.Context().Done()
}

// say writes to the streams of one transcript.
func (p *plainServer) say(transcript, each int, chunk []byte) error {
	for _, w := range p.writers[transcript*each : (transcript+1)*each] {
		if _, err := w.Write(chunk); err != nil {
			return err
		}
		if err := http.NewResponseController(w).Flush(); err != nil {
			return err
		}
	}
	return nil
}
