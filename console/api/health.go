package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/sink"
)

// lookWithin bounds how long each part has to show that it works.
const lookWithin = 5 * time.Second

// readiness says whether requests can be answered, and of each part whether it works: "ok", or what is
// wrong with it.
type readiness struct {
	Ready  bool              `json:"ready"`
	Checks map[string]string `json:"checks"`
}

func (s *Server) live(w http.ResponseWriter, _ *http.Request) error {
	return write(w, http.StatusOK, []byte("{\"live\":true}\n"))
}

func (s *Server) ready(w http.ResponseWriter, r *http.Request) error {
	// Side by side, so that none of them takes the time of another one.
	streams := s.look(r, func(ctx context.Context) error {
		if !s.o.Conn.IsConnected() {
			return errNotConnected
		}
		_, err := s.o.JS.Stream(ctx, topology.Raw)
		return err
	})
	ledger := s.look(r, func(ctx context.Context) error {
		_, err := s.o.Ledger.Transcripts(ctx, sink.Query{Limit: 1})
		return err
	})
	out := readiness{Ready: true, Checks: map[string]string{"server": "ok", "nats": "ok", "streams": "ok", "ledger": "ok"}}
	fails := func(name, wrong string) { out.Ready, out.Checks[name] = false, wrong }
	looked := func(name, wrong string, err error) {
		if err != nil {
			fails(name, wrong)
			s.o.Log.Warn().Err(err).Str("check", name).Msg("not ready")
		}
	}
	if s.stopping.Load() {
		fails("server", "it stops")
	}
	if err := <-streams; errors.Is(err, errNotConnected) {
		fails("nats", "not connected")
		fails("streams", "not asked: NATS is not connected")
	} else {
		looked("streams", "stream "+topology.Raw+" cannot be reached", err)
	}
	looked("ledger", "it cannot be read", <-ledger)
	status := http.StatusOK
	if !out.Ready {
		status = http.StatusServiceUnavailable
	}
	body, err := encode(out)
	if err != nil {
		return err
	}
	return write(w, status, body)
}

// look looks at a part, which has a time of its own. The answer must be taken.
func (s *Server) look(r *http.Request, at func(context.Context) error) <-chan error {
	ctx, cancel := context.WithTimeout(r.Context(), lookWithin)
	found := make(chan error, 1)
	go func() {
		defer cancel()
		found <- at(ctx)
	}()
	return found
}
