package sink

import "sync"

// claims are those under which a sink stores now.
type claims struct {
	mu   sync.Mutex
	held map[uint32]Claim
}

// Claimed gives the claim under which this sink stores a partition now; false if it does not. The ledger says whether it
// is still good.
func (s *Sink) Claimed(partition uint32) (Claim, bool) {
	s.claims.mu.Lock()
	defer s.claims.mu.Unlock()
	c, ok := s.claims.held[partition]
	return c, ok
}

// hold takes note of a claim until the returned function is called.
func (c *claims) hold(claim Claim) (release func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held == nil {
		c.held = map[uint32]Claim{}
	}
	c.held[claim.Partition] = claim
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.held, claim.Partition)
	}
}
