package journal

import (
	"fmt"

	"github.com/google/uuid"

	"github.com/steno-io/steno/schema"
)

// Lane says where in an HTTP exchange an entry belongs. The zero value is that of a connection
// without exchanges.
type Lane struct {
	Exchange uuid.UUID   // uuid.Nil: none
	Chan     schema.Chan // empty on entries of the exchange as a whole
	// Served marks what a proxy made of the other entries of the same place and sent on in their stead.
	Served bool
}

// maxChunk is the most data that one entry of the lane holds.
func (l Lane) maxChunk() int { return MaxData - len(l.prefix()) }

func (l Lane) prefix() []byte {
	if l.Exchange == uuid.Nil {
		return nil
	}
	return l.Exchange[:]
}

// code gives the lane's two bytes.
func (l Lane) code() (place, bits byte, err error) {
	if l.Exchange == uuid.Nil {
		if l != (Lane{}) {
			return 0, 0, fmt.Errorf("%w: a place in an exchange without the exchange", ErrEntry)
		}
		return 0, 0, nil
	}
	if l.Chan != "" {
		if place, err = code(chans, l.Chan); err != nil {
			return 0, 0, err
		}
	}
	bits = laneExchange
	if l.Served {
		bits |= laneServed
	}
	return place, bits, nil
}

// laneFits reports whether a writer may have written the two bytes before so many bytes of data.
func laneFits(place, bits byte, length uint32) bool {
	if bits&laneExchange == 0 {
		return place == 0 && bits == 0
	}
	return int(place) < len(chans) && bits <= laneExchange|laneServed && length >= laneBytes
}

// readLane takes the lane off an entry's bytes.
func readLane(place, bits byte, data []byte) (Lane, []byte) {
	if bits&laneExchange == 0 {
		return Lane{}, data
	}
	l := Lane{Chan: chans[place], Served: bits&laneServed != 0}
	copy(l.Exchange[:], data)
	return l, data[laneBytes:]
}
