package journal

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"time"

	"github.com/steno-io/steno/schema"
)

// The bytes of a journal. Numbers are little-endian, checksums CRC-32C.
//
//	head   0        8       12      16
//	       ┌────────┬───────┬───────┬──────────┐
//	       │ magic  │ length│ check │ JSON …   │      check covers length and JSON
//	       └────────┴───────┴───────┴──────────┘
//	entry  0       4     5     6       8       16       20       24
//	       ┌───────┬─────┬─────┬───────┬───────┬────────┬────────┬────────┐
//	       │ length│ from│ type│ lane  │ time  │ check  │ check  │ data … │
//	       │ (data)│     │     │       │ ns    │of data │ of 0…19│        │
//	       └───────┴─────┴─────┴───────┴───────┴────────┴────────┴────────┘
//
// The lane's first byte is the place in an HTTP exchange, the second says whether there is an exchange
// and which of two wires was written to; the exchange's id are the first 16 bytes of the data then.
//
// An entry's first part has a checksum of its own, so that a length is believed only when it is
// right: a flipped bit in it must not make the rest of the file look like a torn tail.
const (
	magic      = "STENOJ\x00\x01" // the last byte is the format's version
	headPrefix = 16
	entryHead  = 24
	laneBytes  = 16
)

// Bits of a lane's second byte.
const (
	laneExchange = 1 << iota
	laneServed
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

var (
	errShort = errors.New("more bytes are needed")
	errBad   = errors.New("checksum does not fit")
)

// Codes on disk; the place in the list is the code, 0 is none.
var (
	sides = []schema.From{"", schema.FromClient, schema.FromAgent, schema.FromStderr, schema.FromControl}
	types = []schema.FrameType{
		"", schema.TypeData, schema.TypeOpen, schema.TypeClose, schema.TypeGap, schema.TypeHTTP, schema.TypeDecision, schema.TypeIntervention,
	}
	chans = []schema.Chan{"", schema.ChanRequest, schema.ChanResponse, schema.ChanStream, schema.ChanPush, schema.ChanCard}
)

func code[T comparable](list []T, v T) (byte, error) {
	for i := 1; i < len(list); i++ {
		if list[i] == v {
			return byte(i), nil
		}
	}
	return 0, fmt.Errorf("%w: no code for %v", ErrEntry, v)
}

func appendHead(dst []byte, h Head) ([]byte, error) {
	body, err := json.Marshal(h)
	if err != nil {
		return nil, fmt.Errorf("encode head of journal %s: %w", h.ID, err)
	}
	if len(body) > MaxHead {
		return nil, fmt.Errorf("encode head of journal %s: %d bytes, at most %d", h.ID, len(body), MaxHead)
	}
	dst = append(dst, magic...)
	length := len(dst)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(body)))
	check := crc32.Update(crc32.Checksum(dst[length:], castagnoli), castagnoli, body)
	return append(binary.LittleEndian.AppendUint32(dst, check), body...), nil
}

// decodeHead reads a head and its whole length. With errShort, n is how many bytes it takes.
func decodeHead(b []byte) (h Head, n int, err error) {
	if len(b) < headPrefix {
		return Head{}, headPrefix, errShort
	}
	if string(b[:len(magic)]) != magic {
		return Head{}, 0, fmt.Errorf("%w: it does not begin like a journal of version %d", ErrDamaged, magic[len(magic)-1])
	}
	length := binary.LittleEndian.Uint32(b[8:])
	if length > MaxHead {
		return Head{}, 0, fmt.Errorf("%w: head of %d bytes, at most %d", ErrDamaged, length, MaxHead)
	}
	n = headPrefix + int(length)
	if len(b) < n {
		return Head{}, n, errShort
	}
	body := b[headPrefix:n]
	check := crc32.Update(crc32.Checksum(b[8:12], castagnoli), castagnoli, body)
	if check != binary.LittleEndian.Uint32(b[12:]) {
		return Head{}, 0, fmt.Errorf("%w: checksum of its head does not fit", ErrDamaged)
	}
	if err := json.Unmarshal(body, &h); err != nil {
		return Head{}, 0, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return h, n, nil
}

func appendEntry(dst []byte, lane Lane, from schema.From, typ schema.FrameType, ns int64, data []byte) ([]byte, error) {
	place, bits, err := lane.code()
	if err != nil {
		return nil, err
	}
	f, err := code(sides, from)
	if err != nil {
		return nil, err
	}
	t, err := code(types, typ)
	if err != nil {
		return nil, err
	}
	if (from == schema.FromControl) == (typ == schema.TypeData) {
		return nil, fmt.Errorf("%w: type %q from %q: data come from a peer, the others from control", ErrEntry, typ, from)
	}
	prefix := lane.prefix()
	if len(prefix)+len(data) > MaxData {
		return nil, fmt.Errorf("%w: %d bytes of data, at most %d", ErrEntry, len(data), MaxData-len(prefix))
	}
	start := len(dst)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(prefix)+len(data)))
	dst = append(dst, f, t, place, bits)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(ns))
	check := crc32.Update(crc32.Checksum(prefix, castagnoli), castagnoli, data)
	dst = binary.LittleEndian.AppendUint32(dst, check)
	dst = binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst[start:], castagnoli))
	return append(append(dst, prefix...), data...), nil
}

// decodeEntry reads the entry at b's beginning. n is its whole length; with errShort how many bytes
// are needed to go on, with errBad 0 where even the length cannot be believed. The entry's offset is
// the caller's to set; its data are a part of b.
func decodeEntry(b []byte) (e Entry, n int, err error) {
	if len(b) < entryHead {
		return Entry{}, entryHead, errShort
	}
	length := binary.LittleEndian.Uint32(b)
	from, typ := b[4], b[5]
	if length > MaxData || from == 0 || typ == 0 || int(from) >= len(sides) || int(typ) >= len(types) ||
		(sides[from] == schema.FromControl) == (types[typ] == schema.TypeData) || !laneFits(b[6], b[7], length) ||
		crc32.Checksum(b[:entryHead-4], castagnoli) != binary.LittleEndian.Uint32(b[entryHead-4:]) {
		return Entry{}, 0, errBad
	}
	n = entryHead + int(length)
	if len(b) < n {
		return Entry{}, n, errShort
	}
	data := b[entryHead:n:n]
	if crc32.Checksum(data, castagnoli) != binary.LittleEndian.Uint32(b[16:]) {
		return Entry{}, n, errBad
	}
	at := time.Unix(0, int64(binary.LittleEndian.Uint64(b[8:]))).UTC()
	e = Entry{From: sides[from], Type: types[typ], At: at, Data: data}
	e.Lane, e.Data = readLane(b[6], b[7], data)
	return e, n, nil
}
