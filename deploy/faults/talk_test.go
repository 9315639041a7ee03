//go:build faults

package faults

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/steno-io/steno/deploy/outside"
)

// peerName is the workflow of the captures of A2A.
const peerName = "mill"

// peer is an A2A agent of 1.0, which streams its answers item by item and remembers what it was asked.
type peer struct {
	seed uint64

	mu    sync.Mutex
	asked map[string]int // bodies that it read
}

// ServeHTTP implements http.Handler.
func (p *peer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	p.mu.Lock()
	p.asked[string(body)]++
	p.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	for _, item := range p.answers(body) {
		if _, err := io.WriteString(w, item); err != nil {
			return
		}
		_ = http.NewResponseController(w).Flush() // a client that left is the next write's error
		time.Sleep(4 * time.Millisecond)
	}
}

// answers are the items of the answer to a question: the same for the same seed.
func (p *peer) answers(body []byte) []string {
	var q struct {
		Params struct {
			Message struct{ MessageID, ContextID string }
		}
	}
	if err := json.Unmarshal(body, &q); err != nil {
		return nil // a body that was cut is no question
	}
	m := q.Params.Message
	r := of(p.seed, m.MessageID, 0)
	turn := 0
	_, _ = fmt.Sscan(m.MessageID[strings.LastIndexByte(m.MessageID, '-')+1:], &turn) // it is a number
	return answers(m.ContextID, turn, strings.Fields(text(r, 2+r.IntN(12))))
}

// exchanged is one exchange, as the client knows it.
type exchanged struct {
	conversation string
	body         []byte
	heard        []byte
	whole        bool // the answer came to its end
}

// keepProxy runs a proxy in a slot, over and over, until stopping is closed.
func (r *rig) keepProxy(s *slot, program, data, listen, upstream string, stopping <-chan struct{}) {
	for n := 1; ; n++ {
		select {
		case <-stopping:
			return
		default:
		}
		if _, err := s.run(r, fmt.Sprint(n), r.command(program, "proxy", "--nats", s.line.url(), "--data", data, "--listen", listen,
			"--upstream", upstream, "--peer", peerName, "--grace", "0s")); err != nil {
			r.t.Error(err)
			return
		}
		sleep(stopping, 50*time.Millisecond)
	}
}

// talk holds one conversation after the other, each through all of the proxies, as chance has it.
func (r *rig) talk(name string, proxies []string, stopping <-chan struct{}) (all []exchanged) {
	chance := of(r.seed, name, 0)
	for n := 0; ; n++ {
		select {
		case <-stopping:
			return all
		default:
		}
		const turns = 12
		e := exchanged{conversation: fmt.Sprintf("c-%s-%d", name, n/turns)}
		e.body = []byte(question(e.conversation, n%turns, text(chance, 2)))
		e.ask("http://" + proxies[chance.IntN(len(proxies))])
		all = append(all, e)
		sleep(stopping, time.Duration(10+chance.IntN(60))*time.Millisecond)
	}
}

// ask asks, and hears what comes of the answer.
func (e *exchanged) ask(url string) {
	request, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(e.body))
	if err != nil {
		return // the URL is ours
	}
	request.GetBody = nil // it is never sent twice
	request.Header.Set("A2A-Version", "1.0")
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return
	}
	e.heard, err = io.ReadAll(response.Body)
	_ = response.Body.Close() // it was read whole, or its error stands
	if response.StatusCode != http.StatusOK {
		e.heard = nil // of the proxy's own
		return
	}
	e.whole = err == nil
}

// place is where an exchange is stored.
type place struct {
	capture  *outside.Capture
	exchange string
}

// places finds the exchanges of the conversations of A2A by what was asked.
func places(stored map[string]*outside.Capture) map[string][]place {
	found := map[string][]place{}
	for name, c := range stored {
		if !strings.Contains(name, "/"+peerName+"/") {
			continue
		}
		seen := map[string]bool{}
		for _, f := range c.Frames {
			if f.Exchange != "" && !seen[f.Exchange] {
				seen[f.Exchange] = true
				body := string(c.Bytes("client", f.Exchange, "request"))
				found[body] = append(found[body], place{c, f.Exchange})
			}
		}
	}
	return found
}

// checkTalks compares what is stored of conversations of A2A with what client and peer know of them.
func checkTalks(p *peer, all []exchanged, stored map[string]*outside.Capture) error {
	found := places(stored)
	captures := map[string]string{}
	for _, e := range all {
		at := found[string(e.body)]
		asked := p.asked[string(e.body)]
		switch {
		case asked > 1 || len(at) > 1:
			return fmt.Errorf("%s: asked once, heard by the peer %d times, stored %d times", e.body, asked, len(at))
		case len(at) == 0 && (asked > 0 || len(e.heard) > 0):
			return fmt.Errorf("%s: it was passed on, and is not stored", e.body)
		case len(at) == 0:
			continue
		}
		c, exchange := at[0].capture, at[0].exchange
		want, got := []byte(strings.Join(p.answers(e.body), "")), c.Bytes("agent", exchange, "stream", "response")
		switch {
		case asked > 0 && !bytes.HasPrefix(want, got):
			return fmt.Errorf("%s: the answer stored is not the one given: %s", e.body, differ(want, got))
		case !bytes.HasPrefix(got, e.heard):
			return fmt.Errorf("%s: %d bytes of the answer were passed on, %d are stored", e.body, len(e.heard), len(got))
		case e.whole && len(got) != len(want):
			return fmt.Errorf("%s: the answer was passed on whole, and %d of %d bytes are stored", e.body, len(got), len(want))
		}
		if closes := closesOf(c, exchange); closes != 1 {
			return fmt.Errorf("%s: exchange %s of %s has %d close frames", e.body, exchange, c.Name, closes)
		}
		if before := captures[e.conversation]; before != "" && before != c.Name {
			return fmt.Errorf("conversation %s is in two captures: %s and %s", e.conversation, before, c.Name)
		}
		captures[e.conversation] = c.Name
	}
	return nil
}

func closesOf(c *outside.Capture, exchange string) (n int) {
	for _, f := range c.Frames {
		if f.Type == "close" && f.Exchange == exchange {
			n++
		}
	}
	return n
}
