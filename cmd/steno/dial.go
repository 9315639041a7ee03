package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/synadia-io/orbit.go/natscontext"

	"github.com/steno-io/steno/cmd/steno/holder"
	"github.com/steno-io/steno/ingest/publish"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/translate/stage"
)

// errUnreachable marks a NATS that does not answer.
var errUnreachable = errors.New("NATS is not reachable")

// errURL marks a text that is no NATS URL. What is wrong with it is not said: it may hold a secret.
var errURL = errors.New("not a NATS URL: want nats://host:port")

// errInbox marks a NATS context whose inboxes no part of steno would answer on.
var errInbox = errors.New("its inbox prefix must begin with _INBOX, such as _INBOX_me")

// contextPrefix marks a destination that is a NATS context by name.
const contextPrefix = "context:"

// destination is the NATS that the flags name, as a journal's head states it: a URL, or a context
// behind contextPrefix. Empty is the holder of the data directory.
func (a *app) destination() string {
	if a.context != "" {
		return contextPrefix + a.context
	}
	return a.nats
}

// remote reports whether the command goes to a NATS of its own.
func (a *app) remote() bool { return a.destination() != "" }

func (a *app) holderOptions(kind holder.Kind) (holder.Options, error) {
	interval, err := a.syncInterval()
	return holder.Options{
		Dir: a.dir(), Kind: kind, Version: version, Catalogue: protocols(), SyncInterval: interval, Dial: dial, Log: a.log,
		Returned: func(js jetstream.JetStream) stage.Returned { return returned(js, "") }, Sealed: a.sealedIn(""),
	}, err
}

// dial connects to a destination, and to nothing else whatever this command's flags say: it may be
// another process's journal that goes there. Errors wrap errUnreachable, errURL or errInbox.
func dial(destination string) (*nats.Conn, error) { return dialWith(destination) }

// dialWith is dial with more options.
func dialWith(destination string, more ...nats.Option) (*nats.Conn, error) {
	options := append([]nats.Option{nats.Name("steno"), nats.MaxReconnects(-1), nats.Timeout(5 * time.Second)}, more...)
	var conn *nats.Conn
	var err error
	if name, named := strings.CutPrefix(destination, contextPrefix); named {
		conn, _, err = natscontext.Connect(name, options...)
	} else {
		conn, err = nats.Connect(destination, options...)
	}
	var parse *url.Error
	switch {
	case err == nil && schema.IsInbox(conn.NewInbox()):
		return conn, nil
	case err == nil:
		conn.Close()
		return nil, fmt.Errorf("connect to %s: %w: %q", printable(destination), errInbox, conn.Opts.InboxPrefix)
	case errors.As(err, &parse):
		return nil, fmt.Errorf("connect to %s: %w", printable(destination), errURL)
	}
	return nil, fmt.Errorf("connect to %s: %w: %w", printable(destination), errUnreachable, err)
}

// checkURLs refuses what is no list of URLs with errURL.
func checkURLs(urls string) error {
	if urls == "" {
		return nil
	}
	for one := range strings.SplitSeq(urls, ",") {
		one = strings.TrimSpace(one)
		if !strings.Contains(one, "://") {
			one = "nats://" + one
		}
		if u, err := url.Parse(one); err != nil || u.Hostname() == "" {
			return fmt.Errorf("%s: %w", printable(one), errURL)
		}
	}
	return nil
}

// printable is a destination without its secrets: each URL loses its whole user part, where a token
// stands without a colon.
func printable(destination string) string {
	if strings.HasPrefix(destination, contextPrefix) {
		return "NATS " + strings.Replace(destination, ":", " ", 1)
	}
	urls := strings.Split(destination, ",")
	for i, u := range urls {
		scheme, rest, ok := strings.Cut(u, "://")
		if !ok {
			scheme, rest = "", u
		}
		rest = rest[strings.LastIndexByte(rest, '@')+1:]
		if ok {
			rest = scheme + "://" + rest
		}
		urls[i] = rest
	}
	return "NATS at " + strings.Join(urls, ",")
}

// streams is a connection to a NATS with what appending to it takes.
type streams struct {
	conn      *nats.Conn
	js        jetstream.JetStream
	info      topology.Info
	blobs     *topology.Blobs
	filed     *topology.FiledKeys
	batchFrom int // frames; whether the server fsyncs every write is not known, so as if it did
}

// connectStreams connects to a destination and checks its streams; close conn at the end.
func connectStreams(ctx context.Context, destination string) (*streams, error) {
	conn, err := dial(destination)
	if err != nil {
		return nil, err
	}
	s := &streams{conn: conn}
	for began := time.Now(); ; {
		if err = s.open(ctx); err == nil {
			break
		}
		// A cluster that has just lost a leader answers when it has the next one.
		if ctx.Err() != nil || !isTransient(err) || time.Since(began) > patience {
			conn.Close()
			return nil, err
		}
		select {
		case <-ctx.Done():
		case <-time.After(raceEvery):
		}
	}
	s.batchFrom = publish.BatchFrom(s.info.Replicas, true)
	return s, nil
}

// open checks the streams and opens the buckets.
func (s *streams) open(ctx context.Context) (err error) {
	if s.js, err = jetstream.New(s.conn); err != nil {
		return fmt.Errorf("open JetStream: %w", err)
	}
	if s.info, err = topology.Check(ctx, s.js); err != nil {
		return withRemedy(err)
	}
	if s.blobs, err = topology.OpenBlobs(ctx, s.js); err != nil {
		return err
	}
	s.filed, err = topology.OpenFiled(ctx, s.js)
	return err
}

// withRemedy says what to run where streams are not as they must be.
func withRemedy(err error) error {
	switch {
	case errors.Is(err, topology.ErrMissing):
		return fmt.Errorf("%w: steno streams apply makes it", err)
	case errors.Is(err, topology.ErrDrifted):
		return fmt.Errorf("%w: steno streams apply mends it, once the translators of an earlier build are stopped", err)
	}
	return err
}
