package postgres

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
)

const copySQL = `COPY steno.events (transcript, store_seq, event) FROM STDIN BINARY`

// copyEvents stores the events that were put.
func (t *tx) copyEvents(ctx context.Context) error {
	if len(t.events) == 0 {
		return nil
	}
	tag, err := t.conn.PgConn().CopyFrom(ctx, &copying{events: t.events}, copySQL)
	if err == nil && tag.RowsAffected() != int64(len(t.events)) {
		err = fmt.Errorf("the server took %d of %d", tag.RowsAffected(), len(t.events))
	}
	return err
}

// copying reads events as COPY's binary format, without a copy of them all:
//
//	signature "PGCOPY\n\377\r\n\0", flags int32, extension int32
//	each row: fields int16; each field: length int32, bytes
//	end: int16 of -1
type copying struct {
	events []event
	next   int    // event whose row head comes next
	head   []byte // to be read before body; the begun ones of buf
	body   []byte
	buf    []byte
	begun  bool
	ended  bool
}

// Read implements io.Reader.
func (c *copying) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		if len(c.head) == 0 && len(c.body) == 0 && !c.advance() {
			break
		}
		taken := copy(p[n:], c.head)
		c.head, n = c.head[taken:], n+taken
		taken = copy(p[n:], c.body)
		if len(c.head) == 0 {
			c.body, n = c.body[taken:], n+taken
		}
	}
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

// advance makes the next piece; false behind the last.
func (c *copying) advance() bool {
	buf := c.buf[:0]
	if !c.begun {
		c.begun = true
		buf = append(buf, "PGCOPY\n\377\r\n\000\000\000\000\000\000\000\000\000"...)
	}
	switch {
	case c.next < len(c.events):
		e := &c.events[c.next]
		c.next++
		buf = binary.BigEndian.AppendUint16(buf, 3)
		buf = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32(buf, 8), uint64(e.transcript))
		buf = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32(buf, 8), e.seq)
		buf = binary.BigEndian.AppendUint32(buf, uint32(len(e.bytes)))
		c.body = e.bytes
	case c.ended:
		return false
	default:
		c.ended = true
		buf = append(buf, 0xff, 0xff)
	}
	c.buf, c.head = buf, buf
	return true
}
