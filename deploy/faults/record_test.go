//go:build faults

package faults

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/steno-io/steno/deploy/outside"
)

// conversed is a conversation that was tapped, as both sides know it.
type conversed struct {
	capture           string
	all               []said
	toAgent, toClient []byte // what each of them read
	whole             bool   // the tap came to its own end
}

// record taps one conversation after the other into a data directory.
func (r *rig) record(s *slot, program, data string, stopping <-chan struct{}) (list []conversed) {
	for n := 1; ; n++ {
		select {
		case <-stopping:
			return list
		default:
		}
		one, err := r.converse(s, program, data, n)
		if err != nil {
			r.t.Errorf("conversation %d of %s: %v", n, s.name, err)
			return list
		}
		list = append(list, one)
	}
}

// converse holds one conversation through steno record, which may be killed meanwhile.
func (r *rig) converse(s *slot, program, data string, n int) (conversed, error) {
	run := fmt.Sprint("r-", n)
	c := conversed{capture: fmt.Sprintf("default/%s/%s/0/1", s.name, run), all: recorded(r.seed, s.name, n)}
	log := filepath.Join(r.dir, fmt.Sprintf("%s-%d.heard", s.name, n))
	self, err := os.Executable()
	if err != nil {
		return c, err
	}
	cmd := r.command(program, "record", "--nats", s.line.url(), "--data", data, "--workflow", s.name, "--run", run, "--",
		self, fmt.Sprint(r.seed), s.name, fmt.Sprint(n))
	cmd.Env = append(cmd.Env, asAgent+"="+log)
	stdin, in, err := os.Pipe()
	if err != nil {
		return c, err
	}
	out, stdout, err := os.Pipe()
	if err != nil {
		return c, err
	}
	cmd.Stdin, cmd.Stdout = stdin, stdout
	p, err := s.begin(r, run, cmd)
	if closed := errors.Join(stdin.Close(), stdout.Close()); err == nil {
		err = closed
	}
	if err != nil {
		return c, err
	}
	c.toClient = client(c.all, in, out, of(r.seed, "pace", n).IntN(12))
	<-p.ended
	s.clear(p)
	c.whole = p.state.Success()
	if err := out.Close(); err != nil {
		return c, err
	}
	c.toAgent, err = settled(log)
	return c, err
}

// client plays the client's side until it or the output ends, and gives every byte that it read.
func client(all []said, in io.WriteCloser, out io.Reader, pace int) []byte {
	var heard bytes.Buffer
	lines := bufio.NewReader(io.TeeReader(out, &heard))
	gone := false
	for _, s := range all {
		if gone {
			break
		}
		if s.client {
			time.Sleep(time.Duration(pace) * time.Millisecond)
			_, err := io.WriteString(in, s.text+"\n")
			gone = err != nil
		} else {
			_, err := lines.ReadBytes('\n')
			gone = err != nil
		}
	}
	_ = in.Close()                    // the tap may be gone
	_, _ = io.Copy(io.Discard, lines) // likewise
	return heard.Bytes()
}

// settled reads what an agent noted, once it notes no more: it outlives a tap that was killed by a
// moment.
func settled(path string) ([]byte, error) {
	var before []byte
	for i := 0; ; i++ {
		now, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
		if i > 0 && bytes.Equal(now, before) {
			return now, nil
		}
		before = now
		time.Sleep(20 * time.Millisecond)
	}
}

// check compares what is stored of the conversation with what both sides know of it.
func (c *conversed) check(stored map[string]*outside.Capture) error {
	got := stored[c.capture]
	if got == nil {
		if len(c.toAgent)+len(c.toClient) > 0 || c.whole {
			return fmt.Errorf("%s: nothing is stored", c.capture)
		}
		return nil
	}
	for _, side := range []struct {
		from        string
		want, heard []byte
	}{
		{"client", spoken(c.all, true), c.toAgent}, {"agent", spoken(c.all, false), c.toClient},
	} {
		bytesStored := got.Bytes(side.from, "")
		switch {
		case !bytes.HasPrefix(side.want, bytesStored):
			return fmt.Errorf("%s: the %d bytes stored of the %s are not those that it said: %s", c.capture, len(bytesStored), side.from, differ(side.want, bytesStored))
		case len(bytesStored) < len(side.heard):
			return fmt.Errorf("%s: %d bytes of the %s were passed on, %d are stored", c.capture, len(side.heard), side.from, len(bytesStored))
		case c.whole && len(bytesStored) != len(side.want):
			return fmt.Errorf("%s: the tap came to its end, and %d of %d bytes of the %s are stored", c.capture, len(bytesStored), len(side.want), side.from)
		}
	}
	last := got.Frames[len(got.Frames)-1]
	if first := got.Frames[0]; first.Type != "open" || last.Type != "close" {
		return fmt.Errorf("%s: it begins with %s and ends with %s", c.capture, first.Type, last.Type)
	}
	return nil
}

// differ says where got is not what want begins with.
func differ(want, got []byte) string {
	for i := range got {
		if i >= len(want) || want[i] != got[i] {
			return fmt.Sprintf("at byte %d want %.80q, got %.80q", i, want[min(i, len(want)):], got[i:])
		}
	}
	return "the same"
}
