package outside

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Frame is a stored frame.
type Frame struct {
	From, Type, End, Exchange, Chan string

	Journal string // that it was cut from
	Offset  uint64 // in the journal
	At      time.Time
	Data    []byte
}

// Capture is what STENO_RAW holds of one capture.
type Capture struct {
	Name   string // namespace/workflow/run/activity/attempt
	Frames []Frame
	Lines  []string // the frames as those of a capture file

	protocol string
	chain    []byte
}

// Frames reads every frame on STENO_RAW, by capture. Its error names the first one whose number does
// not follow, whose chain is not that of the frames before it, or that a journal gave twice or in
// another order.
func Frames(ctx context.Context, js jetstream.JetStream) (map[string]*Capture, error) {
	blobs, err := js.ObjectStore(ctx, blobBucket)
	if err != nil {
		return nil, fmt.Errorf("read frames: %w", err)
	}
	captures := map[string]*Capture{}
	err = read(ctx, js, rawStream, func(m jetstream.Msg, seq uint64) error {
		name, _, err := captureOf(m.Subject())
		if err != nil {
			return err
		}
		data, err := payload(ctx, blobs, name, m)
		if err != nil {
			return err
		}
		c := captures[name]
		if c == nil {
			c = &Capture{Name: name}
			captures[name] = c
		}
		if err := c.add(m.Headers(), data); err != nil {
			return fmt.Errorf("frame %d of %s, sequence %d: %w", len(c.Frames)+1, name, seq, err)
		}
		return nil
	})
	return captures, err
}

func (c *Capture) add(h nats.Header, data []byte) error {
	if want := strconv.Itoa(len(c.Frames) + 1); h.Get("Steno-Seq") != want {
		return fmt.Errorf("it has number %s", h.Get("Steno-Seq"))
	}
	if err := c.link(h, data); err != nil {
		return err
	}
	f := Frame{
		From: h.Get("Steno-From"), Type: h.Get("Steno-Type"), End: h.Get("Steno-End"),
		Exchange: h.Get("Steno-Exchange"), Chan: h.Get("Steno-Chan"), Data: data,
	}
	var err error
	if f.At, err = time.Parse(time.RFC3339Nano, h.Get("Steno-At")); err != nil {
		return err
	}
	journal, offset, _ := strings.Cut(h.Get("Steno-Writer"), ":")
	if f.Offset, err = strconv.ParseUint(offset, 10, 64); err != nil {
		return fmt.Errorf("writer %q: %w", h.Get("Steno-Writer"), err)
	}
	f.Journal = journal
	for i := len(c.Frames) - 1; i >= 0; i-- {
		before := &c.Frames[i]
		if before.Journal != journal {
			continue
		}
		if before.Offset >= f.Offset {
			return fmt.Errorf("offset %d of journal %s stands behind offset %d", f.Offset, journal, before.Offset)
		}
		if f.At.Before(before.At) {
			return fmt.Errorf("its time %s is before that of frame %d of the same journal", f.At, i+1)
		}
		break
	}
	if f.Type == "open" {
		var open struct{ Protocol string }
		if err := json.Unmarshal(data, &open); err != nil {
			return fmt.Errorf("open: %w", err)
		}
		c.protocol = open.Protocol
	}
	line, err := c.line(h, data)
	if err != nil {
		return err
	}
	c.Frames, c.Lines = append(c.Frames, f), append(c.Lines, line)
	return nil
}

// line writes a frame as a capture file has it.
func (c *Capture) line(h nats.Header, data []byte) (string, error) {
	f := map[string]any{"protocol": c.protocol, "b64": base64.StdEncoding.EncodeToString(data)}
	header := func(name string) string { return h.Get("Steno-" + strings.ToUpper(name[:1]) + name[1:]) }
	for _, name := range []string{"at", "from", "type", "end", "exchange", "chan"} {
		if value := header(name); value != "" {
			f[name] = value
		}
	}
	for _, name := range []string{"seq", "no"} {
		if value := header(name); value != "" {
			f[name] = json.Number(value)
		}
	}
	if value := header("http"); value != "" {
		evidence, err := base64.StdEncoding.DecodeString(value)
		if err != nil {
			return "", fmt.Errorf("HTTP evidence: %w", err)
		}
		f["http"] = json.RawMessage(evidence)
	}
	text, err := json.Marshal(f)
	return string(text), err
}

// Bytes puts together what one side sent on a channel of an exchange, or of the connection where the
// last two are empty.
func (c *Capture) Bytes(from, exchange string, channels ...string) []byte {
	var b []byte
	for _, f := range c.Frames {
		if f.Type != "data" || f.From != from || f.Exchange != exchange || len(channels) > 0 && !contains(channels, f.Chan) {
			continue
		}
		b = append(b, f.Data...)
		if f.End == "lf" {
			b = append(b, '\n')
		}
	}
	return b
}

func contains(list []string, s string) bool {
	for _, one := range list {
		if one == s {
			return true
		}
	}
	return false
}
