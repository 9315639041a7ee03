// Package ingest lets other programs record what they see of a conversation: one that stands between an
// ACP agent and its client, or is one of them, gives each line to a Capture. The rest of steno then has it
// as if one of its own taps had read it.
//
//	program ──Write──▶ journal ──Run──▶ STENO_RAW ──▶ translate ──▶ …
//	                (local file)
//
// What Write has returned for is in the journal: it survives the death of the program at once, and that of
// the machine after journal.SyncEvery while Run goes on. Run publishes it, each frame once and in its
// order, however often it is begun anew. What a program leaves, Site.Recover publishes, or the steno up
// of the data directory whose journals they are.
package ingest

import (
	"errors"

	"github.com/nats-io/nats.go"

	"github.com/steno-io/steno/ingest/journal"
)

// MaxFrame is how long a frame may be, in bytes. Large ones need their length in memory several times.
const MaxFrame = 64 << 20

// Sentinels for callers that decide.
var (
	// ErrFrame: what was given can be no frame; nothing was kept of it, and the next one is taken.
	ErrFrame = errors.New("no frame")
	// ErrUnpublished: nobody publishes the capture in this process.
	ErrUnpublished = errors.New("the capture is not published here")
)

// Site is where captures are kept: in journals on the local disk, and from there on a NATS.
type Site struct {
	// Dir is the directory of the journals; it is made where it is missing. A program may have its own, or
	// use the folder journal of a steno data directory, whose holder publishes what is left there.
	Dir string
	// Conn is the NATS that captures are published to, on which the streams stand (steno streams apply).
	// nil: they are only journalled here, for the holder of the data directory.
	Conn *nats.Conn
	// Destination is Conn's NATS as others can reach it: a URL, or context:NAME. Journals say by it where
	// they go, and go nowhere else. Required with Conn, and empty without.
	Destination string

	// Max is what all journals of Dir may take together, in bytes; 0: journal.DefaultMax.
	Max int64
	// WhenFull says what Write does when there is no room: wait for some, which is the default, or let the
	// frame go and record how much was not kept.
	WhenFull journal.WhenFull
	// Report hears what the program should say aloud, such as that there is no room; nil: nobody does. It
	// must not call the capture.
	Report func(journal.Notice)
	// Retry hears why publishing is tried again; nil: nobody does. It is called by several goroutines.
	Retry func(error)
}

func (s Site) check() error {
	switch {
	case s.Dir == "":
		return errors.New("check site: no directory for journals")
	case s.Conn != nil && s.Destination == "":
		return errors.New("check site: a connection without a destination, by which others find the same NATS")
	case s.Conn == nil && s.Destination != "":
		return errors.New("check site: a destination without a connection to it")
	}
	return nil
}

func (s Site) retry(err error) {
	if s.Retry != nil {
		s.Retry(err)
	}
}
