package main

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/signal"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/steno-io/steno/cmd/steno/holder"
	"github.com/steno-io/steno/ingest/journal"
	"github.com/steno-io/steno/ingest/proxy"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/translate/a2a"
)

type proxyFlags struct {
	listen     string
	upstream   string
	peer       string
	namespace  string
	workflow   string
	profile    string
	labels     []string
	publicURL  string
	pushListen string
	pushURL    string
	pushKey    string
	serveV03   bool
	grace      time.Duration
	whenFull   string
	journalMax int64
}

func (a *app) proxyCommand() *cobra.Command {
	f := proxyFlags{journalMax: journal.DefaultMax}
	cmd := &cobra.Command{
		Use:   "proxy --upstream URL [flags]",
		Short: "Tap an A2A peer: clients talk to it through this proxy",
		Long: `proxy stands between A2A clients and a peer over HTTP. What passes is not changed
and not held back; every byte is journalled before it is passed on. Only what leads
past the proxy is rewritten: URLs in agent cards, and, with --push-listen, those
that the peer posts to. Authorization, cookies and the tokens of push
configurations are masked before they are recorded. gRPC is refused.

While a task goes on it can be cancelled, and a message can be said to it: see steno
cancel and steno inject. The proxy calls the peer for it as the task's client would, with
the credentials that it used last, which are kept in memory alone, and records the call.

It needs nothing else running: it writes a journal, and steno up, or the next
command that reads, publishes it. One conversation (contextId) is one transcript.

SIGTERM, SIGINT or SIGHUP stops it: nothing more is taken, and what runs may go on for
--grace; a second one cuts that off at once. The record of every exchange is
closed in both cases. With --log-level info each exchange is logged.`,
		Example: `  steno proxy --listen 127.0.0.1:8090 --upstream http://127.0.0.1:9000 --peer mill
  steno proxy --upstream https://agent.example.com/a2a --peer mill --push-listen 127.0.0.1:8091
  steno proxy --upstream http://127.0.0.1:9000 --peer mill --serve-v03`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return fmt.Errorf("%q: the peer's URL goes behind --upstream, such as: steno proxy --upstream %s", proxy.MaskURL(args[0]), proxy.MaskURL(args[0]))
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return a.proxy(cmd.Context(), &f) },
	}
	p := cmd.Flags()
	p.StringVar(&f.listen, "listen", "127.0.0.1:8090", "address for clients")
	p.StringVar(&f.upstream, "upstream", "", "the peer's URL: http, https, or h2c (HTTP/2 without TLS)")
	p.StringVar(&f.peer, "peer", "", "the peer's name; a peer has the same one in all its proxies (default: its host)")
	p.StringVar(&f.namespace, "namespace", "default", "namespace of the captures")
	p.StringVar(&f.workflow, "workflow", "", "workflow of the captures (default: the peer's name)")
	p.StringVar(&f.profile, "profile", "", "what the peer means where the protocol leaves it open: adk, gemini-cli, or a JSON object")
	p.StringArrayVar(&f.labels, "label", nil, "label k=v that lists show; may be repeated")
	p.StringVar(&f.publicURL, "public-url", "", "where clients reach the proxy, for agent cards (default: as each request was addressed)")
	p.StringVar(&f.pushListen, "push-listen", "", "address for the peer's push notifications; without it they pass by the proxy")
	p.StringVar(&f.pushURL, "push-url", "", "where the peer reaches that address (default: http:// and the address)")
	p.StringVar(&f.pushKey, "push-key", "", "file with the key of push URLs, the same for all replicas (default: push.key in the data directory, made at need)")
	p.BoolVar(&f.serveV03, "serve-v03", false, "let clients of A2A 0.3 (JSON-RPC) talk to a peer of 1.0")
	p.DurationVar(&f.grace, "grace", proxy.DefaultGrace, "how long running exchanges may go on once it is told to stop, at least 0s")
	p.StringVar(&f.whenFull, "when-full", string(journal.Block),
		"what to do where nothing can be recorded: block holds the conversation (or refuses it), pass lets it go on unrecorded")
	p.Var(byteSize{&f.journalMax, leastJournal}, "journal-max", "what all journals of the directory may take together, such as 1GB or 512MiB")
	return cmd
}

// proxy checks all that was asked for before it takes a port.
func (a *app) proxy(ctx context.Context, f *proxyFlags) error {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, stopSignals()...)
	defer signal.Stop(signals)
	publishing, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	head, err := a.proxyHead(f)
	if err != nil {
		return err
	}
	series, err := a.proxySeries(f, head, publishing)
	if err != nil {
		return err
	}
	recorder := &recorder{app: a, series: series, pass: f.whenFull == string(journal.Pass)}
	options, err := a.proxyOptions(f, recorder)
	if err != nil {
		return err
	}
	if _, err := a.newProxy(options); err != nil {
		return err
	}
	if err := a.checkListen(f); err != nil {
		return err
	}
	clients, pushes, err := listen(f)
	if err != nil {
		return err
	}
	defer clients.Close() // Serve has closed them, if it came so far
	if pushes != nil {
		defer pushes.Close()
		if f.pushURL == "" {
			options.Push.BaseURL = "http://" + pushes.Addr().String()
		}
	}
	p, err := a.newProxy(options)
	if err != nil {
		return err
	}
	// The first signal ends serving once it is said what is waited for.
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	over, told := make(chan struct{}), make(chan struct{})
	go func() { defer close(told); a.stopProxy(signals, over, p, f.grace, stop, cut) }()
	defer func() { close(over); <-told; stop() }()
	return a.serveProxy(serving, p, recorder, clients, pushes, func(ctx context.Context) func() {
		a.sayProxy(f, options, clients, pushes)
		var attended sync.WaitGroup
		attended.Go(func() { a.attendProxy(ctx, p, head) })
		return attended.Wait
	})
}

// proxySeries makes the journals that the proxy writes. What goes to a NATS is published
// until publishing ends, at the latest.
func (a *app) proxySeries(f *proxyFlags, head journal.Head, publishing context.Context) (*journal.Series, error) {
	whenFull, err := journal.ParseWhenFull(f.whenFull)
	if err != nil {
		return nil, a.badValue(fmt.Errorf("--when-full: %w", err), "when-full")
	}
	var left sync.Once
	return journal.NewSeries(journal.SeriesOptions{
		Options: journal.Options{
			Dir: a.dir().Journals(), Head: head, Max: f.journalMax, WhenFull: whenFull,
			Report: func(n journal.Notice) { fmt.Fprintln(a.err, "steno proxy:", n) },
		},
		Follow: func(ctx context.Context, w *journal.Writer) {
			ctx, stop := context.WithCancel(ctx)
			defer stop()
			defer context.AfterFunc(publishing, stop)()
			left.Do(func() { a.publishLeft(ctx, w.Head(), "proxy") }) // a conversation may have begun there
			a.publishOwn(ctx, w.Path(), w.Head(), "proxy")
		},
		Grace:  publishGrace,
		Closed: func(err error) { fmt.Fprintln(a.err, "steno proxy: journal:", err) },
	}), nil
}

// proxyHead is the head of the proxy's journals. The run in it is the proxy's own; that of each capture
// is made from its conversation.
func (a *app) proxyHead(f *proxyFlags) (journal.Head, error) {
	labels, err := parseLabels(f.labels)
	if err != nil {
		return journal.Head{}, a.badValue(err, "label")
	}
	upstream, err := url.Parse(f.upstream)
	if err != nil || upstream.Host == "" {
		return journal.Head{}, a.badValue(fmt.Errorf("--upstream %q: want the peer's URL, such as http://127.0.0.1:9000", proxy.MaskURL(f.upstream)), "upstream")
	}
	if f.peer == "" {
		f.peer = upstream.Host
	}
	run, err := uuid.NewV7()
	if err != nil {
		return journal.Head{}, fmt.Errorf("proxy: make a run: %w", err)
	}
	id := schema.Identity{Namespace: f.namespace, Workflow: f.workflow, Run: run.String(), Attempt: 1}
	if id.Workflow == "" {
		id.Workflow = schema.Token(f.peer)
	}
	if err := id.Validate(); err != nil {
		return journal.Head{}, a.badValue(err, "namespace", "workflow")
	}
	if err := a2a.CheckProfile(f.profile); err != nil {
		return journal.Head{}, a.badValue(fmt.Errorf("--profile: %w", err), "profile")
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return journal.Head{
		Identity: id, Destination: a.destination(),
		Open: schema.OpenInfo{
			Protocol: schema.A2A, Tap: "proxy", Version: version, Host: host, Labels: labels,
			Peer: f.peer, Profile: f.profile, Upstream: proxy.MaskURL(f.upstream),
		},
	}, nil
}

func (a *app) proxyOptions(f *proxyFlags, r *recorder) (proxy.Options, error) {
	o := proxy.Options{
		Upstream: f.upstream, PublicURL: f.publicURL, ServeV03: f.serveV03, Journals: r, Grace: f.grace,
		Notice: func(what string) { fmt.Fprintln(a.err, "steno proxy:", what) }, Done: a.logExchange,
	}
	if f.pushListen == "" || !isAddress(f.pushListen) {
		return o, nil
	}
	base, err := a.pushBase(f)
	if err != nil {
		return o, err
	}
	key, err := a.pushKey(f.pushKey)
	if err != nil {
		return o, a.badValue(fmt.Errorf("--push-key: %w", err), "push-key")
	}
	o.Push = &proxy.Push{BaseURL: base, Key: key}
	return o, nil
}

// logExchange writes one line for an exchange.
func (a *app) logExchange(e proxy.Exchange) {
	line := a.log.Info().Str("method", e.Method).Int("status", e.Status).Dur("ms", e.Took).Int64("bytes", e.Bytes).
		Str("exchange", e.ID.String())
	if e.Push {
		line = line.Bool("push", true)
	} else {
		line = line.Str("path", e.Path)
	}
	if e.Error != "" {
		line = line.Str("error", e.Error)
	}
	line.Msg("exchange")
}

// pushKey reads the key of push URLs: that of the data directory, or of a file that replicas share.
func (a *app) pushKey(path string) ([]byte, error) {
	if path == "" {
		return a.dir().PushKey()
	}
	return holder.ReadPushKey(path)
}
