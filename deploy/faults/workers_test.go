//go:build faults

package faults

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/nats-io/nats.go/jetstream"
)

// keep runs a worker in a slot, over and over, until stopping is closed and it was told to end.
func (r *rig) keep(s *slot, program, stage string, stopping <-chan struct{}, flags ...string) {
	for n := 1; ; n++ {
		select {
		case <-stopping:
			return
		default:
		}
		name := fmt.Sprintf("%s-%d", s.name, n)
		args := append([]string{"worker", stage, "--nats", s.line.url(), "--name", name}, flags...)
		if _, err := s.run(r, name, r.command(program, args...)); err != nil {
			r.t.Error(err)
			return
		}
		sleep(stopping, 100*time.Millisecond)
	}
}

// end tells a slot's process to end and waits until it has.
func (s *slot) end() {
	s.mu.Lock()
	p := s.process
	s.mu.Unlock()
	if p == nil {
		return
	}
	p.stop()
	select {
	case <-p.ended:
	case <-time.After(15 * time.Second):
		p.kill()
		<-p.ended
	}
}

// leases says who has which partition of STENO_RAW, as the bucket does.
func (r *rig) leases() (map[string]string, error) {
	ctx, cancel := context.WithTimeout(r.ctx, time.Second)
	defer cancel()
	kv, err := r.js.KeyValue(ctx, "STENO_LEASES")
	if err != nil {
		return nil, err
	}
	watch, err := kv.Watch(ctx, "partition.*", jetstream.IgnoreDeletes())
	if err != nil {
		return nil, err
	}
	defer watch.Stop() //nolint:errcheck // it has said all
	held := map[string]string{}
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case e := <-watch.Updates():
			if e == nil {
				return held, nil
			}
			held[e.Key()], _, _ = strings.Cut(string(e.Value()), " ") // its instance follows the name
		}
	}
}

// owners says who has which partition of STENO_EVENTS, as the ledger does.
func (r *rig) owners() (map[string]string, error) {
	ctx, cancel := context.WithTimeout(r.ctx, time.Second)
	defer cancel()
	db, err := pgx.Connect(ctx, r.ledger)
	if err != nil {
		return nil, err
	}
	defer db.Close(ctx) //nolint:errcheck // it only read
	rows, err := db.Query(ctx, "SELECT partition::text, owner FROM steno.owners WHERE owner <> ''")
	if err != nil {
		return nil, err
	}
	held := map[string]string{}
	var partition, owner string
	_, err = pgx.ForEachRow(rows, []any{&partition, &owner}, func() error {
		held[partition] = owner
		return nil
	})
	return held, err
}
