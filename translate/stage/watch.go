package stage

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/steno-io/steno/schema/topology"
)

// watchLook is how often a connection that was lost is looked at, beside what it tells by itself.
const watchLook = time.Second

// watch checks the streams again after each reconnect: the server may have come back with others, or with
// an older copy of them. Until that is known, nothing is folded and nothing stored.
func (w *Worker) watch(ctx context.Context) error {
	conn := w.js.Conn()
	changed := conn.StatusChanged(nats.CONNECTED, nats.RECONNECTING, nats.DISCONNECTED)
	defer conn.RemoveStatusListener(changed)
	tick := time.NewTicker(watchLook)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case _, ok := <-changed:
			if !ok {
				return fmt.Errorf("watch connection: %w", nats.ErrConnectionClosed)
			}
			w.gate.close()
		case <-tick.C: // of many changes some are not told
			if conn.IsReconnecting() || w.gate.now() != w.gate.seen.Load() {
				w.gate.close()
			}
		}
		if !w.gate.shut.Load() || !conn.IsConnected() {
			continue
		}
		number := w.gate.now()
		if err := w.checkAgain(ctx); err != nil {
			return err
		}
		if len(changed) == 0 && w.gate.now() == number {
			w.parked.again()
			w.gate.open(number)
		}
	}
}

// checkAgain refuses streams that were made anew, and takes those partitions anew whose last messages the
// streams have lost.
func (w *Worker) checkAgain(ctx context.Context) error {
	var now topology.Info
	err := w.retry(ctx, "check streams after a reconnect", func() (err error) {
		now, err = topology.Check(ctx, w.js)
		return err
	})
	if err != nil {
		return err
	}
	for stream, created := range w.info.Created {
		if !now.Created[stream].Equal(created) {
			return fmt.Errorf("check streams after a reconnect: %s was made anew at %s: what is folded is of the old one",
				stream, now.Created[stream].Format(time.RFC3339Nano))
		}
	}
	for _, p := range w.serving.all() {
		select {
		case <-p.began:
		default:
			continue // it begins again by itself
		}
		why, err := p.fits(ctx, p.mark.landmarks()...)
		if err != nil {
			return err
		}
		if why != nil {
			w.log.Warn().Err(why).Uint32("partition", p.number).Msg("the streams have lost messages; the partition is taken anew")
			w.takeAnew(p)
		}
	}
	return nil
}
