package proxy

import "sync"

// reach knows whether the upstream can be reached, as the last exchange saw it.
type reach struct {
	mu   sync.Mutex
	gone bool
	say  func(string)
}

// lost says once why the upstream cannot be reached.
func (r *reach) lost(why string) { r.turn(true, "the upstream cannot be reached: "+why) }

// found says once that the upstream is back.
func (r *reach) found() { r.turn(false, "the upstream is back") }

func (r *reach) turn(gone bool, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.gone != gone && r.say != nil {
		r.say(text)
	}
	r.gone = gone
}
