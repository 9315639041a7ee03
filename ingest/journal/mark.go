package journal

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/steno-io/steno/schema"
)

// Mark says how far a journal is stored. It is the publisher's word, kept beside the journal; a lost
// one costs work and nothing else, as the stream says what it holds.
type Mark struct {
	Identity schema.Identity // the final one, which may be another attempt than was asked for
	Offset   uint64          // data before it are stored
	Frames   uint64          // stored from this journal
	Done     bool            // the writer has ended and all that the journal holds is stored
	At       time.Time
	// Captures are the captures that a proxy's journal went to, with the numbers of their last frames: all
	// of one that is done, else those of before the mark, unless they are many. Frames is 0 then.
	Captures map[schema.Identity]uint64
}

type wireMark struct {
	Identity string    `json:"identity"`
	Offset   uint64    `json:"offset"`
	Frames   uint64    `json:"frames"`
	Done     bool      `json:"done"`
	At       time.Time `json:"at"`

	Captures map[string]uint64 `json:"captures,omitempty"`
}

// MarshalJSON writes identities as their one string.
func (m Mark) MarshalJSON() ([]byte, error) {
	w := wireMark{Identity: m.Identity.String(), Offset: m.Offset, Frames: m.Frames, Done: m.Done, At: m.At.UTC()}
	for id, frames := range m.Captures {
		if w.Captures == nil {
			w.Captures = map[string]uint64{}
		}
		w.Captures[id.String()] = frames
	}
	return json.Marshal(w)
}

// UnmarshalJSON reads a mark.
func (m *Mark) UnmarshalJSON(data []byte) error {
	var w wireMark
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	id, err := schema.ParseIdentity(w.Identity)
	if err != nil {
		return err
	}
	read := Mark{Identity: id, Offset: w.Offset, Frames: w.Frames, Done: w.Done, At: w.At}
	for name, frames := range w.Captures {
		id, err := schema.ParseIdentity(name)
		if err != nil {
			return err
		}
		if read.Captures == nil {
			read.Captures = map[schema.Identity]uint64{}
		}
		read.Captures[id] = frames
	}
	*m = read
	return nil
}

// WriteMark replaces the mark of the journal with that id. A reader sees the old one or the new one;
// the new one is durable when it returns. A tap that ends and the holder of its directory may both
// publish its journal and write its mark: one that says that all is stored is not replaced by one that
// does not know of it yet.
func WriteMark(dir, id string, m Mark) error {
	data, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("encode mark of journal %s: %w", id, err)
	}
	path := filepath.Join(dir, id+"."+rand.Text()+markSuffix+newSuffix)
	if err := writeSynced(path, append(data, '\n')); err != nil {
		return fmt.Errorf("write mark of journal %s: %w", id, err)
	}
	if !m.Done {
		if there, err := ReadMark(dir, id); err == nil && there.Done {
			return os.Remove(path)
		}
	}
	if err := os.Rename(path, MarkPath(dir, id)); err != nil {
		return fmt.Errorf("write mark of journal %s: %w", id, err)
	}
	return syncDir(dir)
}

// RemoveMark takes the mark of the journal with that id away: its publisher begins at the journal's
// start. Without one the error wraps fs.ErrNotExist.
func RemoveMark(dir, id string) error {
	if err := os.Remove(MarkPath(dir, id)); err != nil {
		return fmt.Errorf("remove mark of journal %s: %w", id, err)
	}
	return syncDir(dir)
}

func writeSynced(path string, data []byte) error {
	f, err := os.OpenFile(filepath.Clean(path), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// ReadMark reads the mark of the journal with that id; without one the error wraps fs.ErrNotExist.
func ReadMark(dir, id string) (Mark, error) {
	data, err := os.ReadFile(MarkPath(dir, id))
	if err != nil {
		return Mark{}, fmt.Errorf("read mark of journal %s: %w", id, err)
	}
	var m Mark
	if err := json.Unmarshal(data, &m); err != nil {
		return Mark{}, fmt.Errorf("read mark %s: %w: %w", MarkPath(dir, id), ErrDamaged, err)
	}
	return m, nil
}
