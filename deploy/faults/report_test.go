//go:build faults

package faults

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/deploy/outside"
)

// report ends the workers, who must end well, and prints what was done to whom and what was fenced.
func (s *storm) report() {
	s.closeOnce(s.ending)
	for _, one := range slices.Concat(s.translators, s.sinks, s.ingest) {
		one.end()
	}
	s.workers.Wait()
	db := s.database()
	defer db.Close(s.ctx) //nolint:errcheck // it only read
	ledger, err := outside.ReadLedger(s.ctx, db)
	require.NoError(s.t, err)

	e := s.exits
	e.mu.Lock()
	defer e.mu.Unlock()
	var kills []string
	for _, kind := range []string{"import", "record", "proxy", "up", "translate", "sink"} {
		kills = append(kills, fmt.Sprintf("%s %d", kind, e.killed[kind]))
	}
	crashes := 0
	for kind, n := range e.killed {
		if kind != "nats" {
			crashes += n
		}
	}
	seen := &s.seen
	fmt.Printf("        crashes        %d, by exit states: %s\n", crashes, strings.Join(kills, ", "))
	fmt.Printf("        zombies        %d, frozen until others had their work: translate %d, sink %d\n", s.zombies.total(), s.zombies.of["translate"], s.zombies.of["sink"])
	fmt.Printf("        servers killed %d; the database restarted %d time(s)\n", e.killed["nats"], s.restarts.Load())
	fmt.Printf("        on the wire    %d publishes refused, %d acknowledgements lost, %d connections cut, %d stalled\n",
		seen.refused.Load(), seen.lost.Load(), seen.cuts.Load(), seen.stalls.Load())
	fmt.Printf("        fenced         frames %d, records %d, keys %d (answers 10071); %d more told to try again (10164)\n",
		seen.fencedRaw.Load(), seen.fencedEvent.Load(), seen.fencedOther.Load(), seen.busy.Load())
	fmt.Printf("        sinks          %d times deposed, by their own word; partitions claimed %d times, by the ledger\n", s.deposed(), ledger.Claims)
	if s.programs.skewed != "" {
		fmt.Printf("        clocks         of five processes jumped by %s s every 1.5 s\n", skewBy)
	}
	for _, failed := range e.failed {
		fmt.Println("        ended by itself:", failed)
	}
}

// deposed counts what the sinks said of partitions that were taken from them.
func (s *storm) deposed() (n int) {
	logs, err := filepath.Glob(filepath.Join(s.dir, "sink*.log"))
	require.NoError(s.t, err)
	for _, log := range logs {
		text, err := os.ReadFile(log)
		require.NoError(s.t, err)
		n += strings.Count(string(text), "partition was taken over")
	}
	return n
}
