package search

import (
	"slices"
	"strconv"
	"strings"
)

// apart stands between two texts of an event where words are written one after the other. It is of the
// private use area, and so in no word.
const apart = "\ue000"

// Line writes all words of the texts on one line, as FTS5 with its tokenizer ascii reads them back.
// Empty: there is none.
func (t Texts) Line() string {
	var b strings.Builder
	for _, text := range t {
		begun := false
		Words(text, func(word []byte, _, _ int) bool {
			if !begun && b.Len() > 0 {
				b.WriteString(apart + " ")
			}
			begun = true
			b.Write(word)
			b.WriteByte(' ')
			return true
		})
	}
	return b.String()
}

// Bounds of a piece, each below what a tsvector takes: it knows 16,383 places and 255 of each word, and
// takes 1 MiB in all.
const (
	pieceWords  = 12_000
	piecePlaces = 250 // of one word
	pieceBytes  = 256 << 10
)

// Pieces writes the words as tsvectors, as PostgreSQL reads them. There are several where one does not
// take them all; they overlap, so that no phrase is cut. None: there is no word.
func (t Texts) Pieces() []string {
	p := pieces{places: map[string][]int{}}
	for _, text := range t {
		if len(p.last) > 0 { // a gap that no phrase spans
			p.at++
			p.last = append(p.last, apart)
		}
		Words(text, func(word []byte, _, _ int) bool {
			p.add(string(word))
			return true
		})
	}
	if len(p.places) > 0 && (p.fresh || len(p.out) == 0) {
		p.end()
	}
	return p.out
}

type pieces struct {
	places map[string][]int
	at     int // last place given
	bytes  int
	fresh  bool     // there is a word beside those of the overlap
	last   []string // words, and gaps, of the overlap
	out    []string
}

func (p *pieces) add(word string) {
	if p.at >= pieceWords || p.bytes >= pieceBytes || len(p.places[word]) >= piecePlaces {
		p.end()
		overlap := p.last[max(0, len(p.last)-(maxPhrase-1)):]
		p.places, p.at, p.bytes, p.last = map[string][]int{}, 0, 0, nil
		for _, w := range overlap {
			p.put(w)
		}
		p.fresh = false
	}
	p.put(word)
	p.fresh = true
}

func (p *pieces) put(word string) {
	p.at++
	if len(p.last) >= 4*maxPhrase {
		p.last = append(p.last[:0], p.last[len(p.last)-maxPhrase:]...)
	}
	p.last = append(p.last, word)
	if word == apart {
		return
	}
	p.places[word] = append(p.places[word], p.at)
	p.bytes += len(word) + 8
}

// end writes the piece.
func (p *pieces) end() {
	words := make([]string, 0, len(p.places))
	for word := range p.places {
		words = append(words, word)
	}
	slices.Sort(words)
	b := make([]byte, 0, 2*p.bytes)
	for _, word := range words {
		b = append(b, '\'')
		b = append(b, word...)
		b = append(b, '\'', ':')
		for i, at := range p.places[word] {
			if i > 0 {
				b = append(b, ',')
			}
			b = strconv.AppendInt(b, int64(at), 10)
		}
		b = append(b, ' ')
	}
	p.out = append(p.out, string(b))
}
