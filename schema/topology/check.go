package topology

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Info is what a process must know of the streams that it runs on. It is read again after each
// reconnect: a stream that was made anew has another creation time, and no sequence, position or
// mark of the old one means anything there.
type Info struct {
	Partitions uint32
	Replicas   int                  // of STENO_RAW
	Created    map[string]time.Time // by stream, those of the buckets included
}

// Check reads the streams as they are. An error wraps ErrMissing if one does not exist, or
// ErrDrifted if a setting is not as it must be, naming each.
func Check(ctx context.Context, js jetstream.JetStream) (Info, error) {
	out := Info{Created: map[string]time.Time{}}
	infos := map[string]*jetstream.StreamInfo{}
	for _, name := range names {
		info, err := lookUp(ctx, js, name)
		if err != nil {
			return Info{}, err
		}
		if info == nil {
			return Info{}, fmt.Errorf("check stream %s: %w", name, ErrMissing)
		}
		infos[name] = info
		out.Created[name] = info.Created
	}
	p, err := partitionsOf(infos[Raw])
	if err != nil {
		return Info{}, err
	}
	out.Partitions, out.Replicas = p, infos[Raw].Config.Replicas

	c := Config{Partitions: p}
	for _, want := range c.streams() {
		if err := drift(settings, &want, infos[want.Name]); err != nil {
			return Info{}, err
		}
	}
	for _, b := range []struct {
		stream   string
		settings []setting
	}{{parkedStream, ledSettings}, {filedStream, endingSettings}, {leasesStream, endingSettings}, {blobStream, bucketSettings}} {
		want := c.bucket(b.stream)
		if err := drift(b.settings, &want, infos[b.stream]); err != nil {
			return Info{}, err
		}
	}
	return out, nil
}

func drift(settings []setting, want *jetstream.StreamConfig, info *jetstream.StreamInfo) error {
	if differences := compare(settings, want, &info.Config); len(differences) > 0 {
		return fmt.Errorf("check stream %s: %s: %w", want.Name, join(differences), ErrDrifted)
	}
	return nil
}

// partitionsOf reads the number of partitions that a stream was made with.
func partitionsOf(info *jetstream.StreamInfo) (uint32, error) {
	text := info.Config.Metadata[partitionsKey]
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil || n == 0 {
		return 0, fmt.Errorf("check stream %s: metadata %s: want a number above 0, got %q: %w",
			info.Config.Name, partitionsKey, text, ErrDrifted)
	}
	return uint32(n), nil
}
