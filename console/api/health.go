package api

import (
	"context"
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
	ctx, cancel := context.WithTimeout(r.Context(), lookWithin)
	defer cancel()
	out := readiness{Ready: true, Checks: map[string]string{}}
	look := func(name, wrong string, err error) {
		out.Checks[name] = "ok"
		if err != nil {
			out.Ready, out.Checks[name] = false, wrong
			s.o.Log.Warn().Err(err).Str("check", name).Msg("not ready")
		}
	}
	if s.stopping.Load() {
		out.Ready, out.Checks["server"] = false, "it stops"
	} else {
		out.Checks["server"] = "ok"
	}
	if s.o.Conn.IsConnected() {
		out.Checks["nats"] = "ok"
		_, err := s.o.JS.Stream(ctx, topology.Raw)
		look("streams", "stream "+topology.Raw+" cannot be reached", err)
	} else {
		out.Ready, out.Checks["nats"] = false, "not connected"
		out.Checks["streams"] = "not asked: NATS is not connected"
	}
	_, err := s.o.Ledger.Transcripts(ctx, sink.Query{Limit: 1})
	look("ledger", "it cannot be read", err)
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
