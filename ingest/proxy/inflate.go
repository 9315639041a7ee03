package proxy

import "errors"

// errDeflate marks bytes that are no deflate stream.
var errDeflate = errors.New("deflate stream is damaged")

// inflater decodes deflate (RFC 1951). It differs from compress/flate in one thing, for which it is
// here: when it asks for another byte it has handed over all that the bytes before it decode to.
// compress/flate keeps up to 32 KiB to itself until a sender flushes, and a client that decodes more
// eagerly would see what no journal holds.
type inflater struct {
	next  func() (byte, error) // the stream; called only for a byte that is needed
	flush func([]byte) error   // takes what was decoded; it does not hold on to it

	out     []byte // the last decoded bytes, at least the window
	flushed int    // so many of out were handed over
	bits    uint32 // the stream's next bits, the first one lowest
	count   uint
	lengths [maxLiterals + maxDistances]byte
	literal huffman
	distant huffman
}

const (
	window       = 32 << 10
	maxLiterals  = 288
	maxDistances = 32
	endOfBlock   = 256
)

// Of length and distance codes: the smallest value, and how many bits more say the rest.
var (
	lengthBase   = [...]uint16{3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258}
	lengthBits   = [...]uint8{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0}
	distanceBase = [...]uint16{1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577}
	distanceBits = [...]uint8{0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13}
	// codeOrder is the order in which the lengths of the codes of lengths are sent.
	codeOrder = [...]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}
)

// stream decodes one deflate stream to its end.
func (f *inflater) stream() error {
	if f.out == nil {
		f.out = make([]byte, 0, 2*window)
	}
	f.out, f.flushed, f.bits, f.count = f.out[:0], 0, 0, 0
	for {
		last, err := f.take(1)
		if err != nil {
			return err
		}
		kind, err := f.take(2)
		if err != nil {
			return err
		}
		switch kind {
		case 0:
			err = f.stored()
		case 1:
			f.fixed()
			err = f.block()
		case 2:
			if err = f.dynamic(); err == nil {
				err = f.block()
			}
		default:
			err = errDeflate
		}
		if err != nil {
			return err
		}
		if last == 1 {
			return f.hand()
		}
	}
}

// hand gives what was decoded and not given yet.
func (f *inflater) hand() error {
	if f.flushed == len(f.out) {
		return nil
	}
	b := f.out[f.flushed:]
	f.flushed = len(f.out)
	return f.flush(b)
}

// put appends a decoded byte.
func (f *inflater) put(c byte) error {
	if len(f.out) == cap(f.out) {
		if err := f.hand(); err != nil {
			return err
		}
		f.out = f.out[:copy(f.out, f.out[len(f.out)-window:])]
		f.flushed = len(f.out)
	}
	f.out = append(f.out, c)
	return nil
}

func (f *inflater) more() error {
	c, err := f.next()
	if err != nil {
		return err
	}
	f.bits |= uint32(c) << f.count
	f.count += 8
	return nil
}

// take reads n bits, at most 16.
func (f *inflater) take(n uint) (int, error) {
	for f.count < n {
		if err := f.more(); err != nil {
			return 0, err
		}
	}
	v := f.bits & (1<<n - 1)
	f.bits >>= n
	f.count -= n
	return int(v), nil
}

// stored reads a block of plain bytes.
func (f *inflater) stored() error {
	f.bits >>= f.count % 8
	f.count -= f.count % 8
	length, err := f.take(16)
	if err != nil {
		return err
	}
	check, err := f.take(16)
	if err != nil {
		return err
	}
	if length != ^check&0xffff {
		return errDeflate
	}
	for range length {
		c, err := f.take(8)
		if err != nil {
			return err
		}
		if err := f.put(byte(c)); err != nil {
			return err
		}
	}
	return nil
}

// block reads what the two codes say.
func (f *inflater) block() error {
	for {
		symbol, err := f.symbol(&f.literal)
		switch {
		case err != nil:
			return err
		case symbol < endOfBlock:
			err = f.put(byte(symbol))
		case symbol == endOfBlock:
			return nil
		default:
			err = f.repeat(symbol - endOfBlock - 1)
		}
		if err != nil {
			return err
		}
	}
}

// repeat copies from what was decoded before.
func (f *inflater) repeat(code int) error {
	if code >= len(lengthBase) {
		return errDeflate
	}
	rest, err := f.take(uint(lengthBits[code]))
	if err != nil {
		return err
	}
	length := int(lengthBase[code]) + rest
	if code, err = f.symbol(&f.distant); err != nil {
		return err
	}
	if code >= len(distanceBase) {
		return errDeflate
	}
	if rest, err = f.take(uint(distanceBits[code])); err != nil {
		return err
	}
	distance := int(distanceBase[code]) + rest
	if distance > len(f.out) {
		return errDeflate
	}
	for range length {
		if err := f.put(f.out[len(f.out)-distance]); err != nil {
			return err
		}
	}
	return nil
}

// fixed sets the codes that need not be sent.
func (f *inflater) fixed() {
	for i := range f.lengths {
		switch {
		case i < 144:
			f.lengths[i] = 8
		case i < 256:
			f.lengths[i] = 9
		case i < 280:
			f.lengths[i] = 7
		case i < maxLiterals:
			f.lengths[i] = 8
		default:
			f.lengths[i] = 5
		}
	}
	f.literal.set(f.lengths[:maxLiterals])
	f.distant.set(f.lengths[maxLiterals:])
}

// dynamic reads the codes of a block.
func (f *inflater) dynamic() error {
	sizes, err := f.take(14)
	if err != nil {
		return err
	}
	literals, distances, codes := sizes&31+257, sizes>>5&31+1, sizes>>10+4
	if literals > 286 || distances > 30 {
		return errDeflate
	}
	lengths := f.lengths[:literals+distances]
	clear(f.lengths[:])
	for _, at := range codeOrder[:codes] {
		n, err := f.take(3)
		if err != nil {
			return err
		}
		f.lengths[at] = byte(n)
	}
	if !f.literal.set(f.lengths[:len(codeOrder)]) {
		return errDeflate
	}
	for i := 0; i < len(lengths); {
		symbol, err := f.symbol(&f.literal)
		if err != nil {
			return err
		}
		if symbol < 16 {
			lengths[i] = byte(symbol)
			i++
			continue
		}
		again, of, n := 0, byte(0), 0
		switch symbol {
		case 16:
			if i == 0 {
				return errDeflate
			}
			of = lengths[i-1]
			again, n = 3, 2
		case 17:
			again, n = 3, 3
		default:
			again, n = 11, 7
		}
		rest, err := f.take(uint(n))
		if err != nil {
			return err
		}
		if again += rest; i+again > len(lengths) {
			return errDeflate
		}
		for range again {
			lengths[i] = of
			i++
		}
	}
	if !f.literal.set(lengths[:literals]) || !f.distant.set(lengths[literals:]) {
		return errDeflate
	}
	return nil
}

// symbol reads one symbol of a code, and no byte beyond it.
func (f *inflater) symbol(h *huffman) (int, error) {
	for {
		entry := h.table[f.bits&uint32(len(h.table)-1)]
		if n := uint(entry & 15); n > 0 && n <= f.count {
			f.bits >>= n
			f.count -= n
			return int(entry >> 4), nil
		}
		if f.count >= h.longest {
			return 0, errDeflate
		}
		if err := f.more(); err != nil {
			return 0, err
		}
	}
}

// huffman is a code as a table over its longest word: symbol<<4 | length, 0 for bits that are no word.
type huffman struct {
	table   []uint16
	longest uint
}

// set makes the code with words of such lengths, 0 for a symbol without one. It reports whether there
// is one: no word too many, and none missing unless there is only one, of one bit, or none at all.
func (h *huffman) set(lengths []byte) bool {
	var counts, next [16]int
	for _, n := range lengths {
		counts[n]++
	}
	counts[0], h.longest = 0, 0
	code := 0
	for n := 1; n < len(counts); n++ {
		code = (code + counts[n-1]) << 1
		next[n] = code
		if counts[n] > 0 {
			h.longest = uint(n)
		}
		if code+counts[n] > 1<<n {
			return false
		}
	}
	last := next[h.longest] + counts[h.longest]
	if h.longest > 0 && last != 1<<h.longest && (h.longest != 1 || last != 1) {
		return false
	}
	size := 1 << h.longest
	if cap(h.table) < size {
		h.table = make([]uint16, size)
	}
	h.table = h.table[:size]
	clear(h.table)
	for symbol, n := range lengths {
		if n == 0 {
			continue
		}
		word := 0
		for i := range int(n) { // words stand in the stream with their first bit lowest
			word |= next[n] >> i & 1 << (int(n) - 1 - i)
		}
		next[n]++
		for ; word < size; word += 1 << n {
			h.table[word] = uint16(symbol)<<4 | uint16(n)
		}
	}
	return true
}
