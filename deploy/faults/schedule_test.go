//go:build faults

package faults

import (
	"cmp"
	"math/rand/v2"
	"regexp"
	"slices"
	"time"
)

// deed is one fault of a schedule.
type deed struct {
	at     time.Duration
	what   string
	choice uint64 // of the victim
}

// rate is how often a fault comes, on average.
type rate struct {
	what  string
	every time.Duration
}

// rates of a run of minutes: more than 500 crashes, 100 zombies and 20 killed servers in ten.
var rates = []rate{
	{"kill ingest", 1400 * time.Millisecond},
	{"kill translate", 2200 * time.Millisecond},
	{"kill sink", 9 * time.Second},
	{"freeze translate", 2500 * time.Millisecond},
	{"freeze sink", 16 * time.Second},
	{"kill nats", 21 * time.Second},
	{"cut", 3 * time.Second},
	{"stall", 11 * time.Second},
	{"refuse", 2 * time.Second},
	{"lose", 1500 * time.Millisecond},
	{"lose and cut", 3 * time.Second},
}

// schedule makes the faults of a run whose names fit a pattern, the same for the same seed. The database
// is restarted once, in the middle.
func schedule(seed uint64, duration time.Duration, pattern string) (all []deed) {
	fits := regexp.MustCompile(pattern).MatchString
	for _, r := range rates {
		chance := of(seed, "schedule "+r.what, 0)
		at := time.Duration(float64(r.every) * chance.Float64())
		for ; at < duration; at += time.Duration(float64(r.every) * (0.5 + chance.Float64())) {
			all = append(all, deed{at, r.what, chance.Uint64()})
		}
	}
	all = append(all, deed{at: duration / 2, what: "restart database"})
	all = slices.DeleteFunc(all, func(d deed) bool { return !fits(d.what) })
	slices.SortFunc(all, func(a, b deed) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.what, b.what))
	})
	return all
}

// pick gives the slots in an order that chance has.
func pick(slots []*slot, choice uint64) []*slot {
	shuffled := slices.Clone(slots)
	rand.New(rand.NewPCG(choice, 0)).Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	return shuffled
}
