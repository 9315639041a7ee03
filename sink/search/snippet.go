package search

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of a snippet, in bytes of the text.
const (
	snippetBefore = 60   // before the first match
	snippetBytes  = 240  // in all, more only where a match is longer
	snippetMost   = 1024 // where a match is longer than it: the match is cut
)

// match is where a term of the query stands in a text.
type match struct{ term, start, end int }

// Snippet gives a part of the texts around what matches the query: that of the first text that has the
// most of its terms, on one line, with the ranges of its bytes that match. It is of 1,100 bytes of the text
// at most; a longer match is cut. Without any match, as where
// terms stand in another text, it is how the first text begins.
func (t Texts) Snippet(q Query) (snippet string, matches [][2]int) {
	best, most := 0, []match(nil)
	terms := 0
	for i, text := range t {
		found := q.matches(text)
		if n := distinct(found); n > terms {
			best, most, terms = i, found, n
		}
		if terms == len(q.Terms) {
			break
		}
	}
	if len(t) == 0 {
		return "", [][2]int{}
	}
	return cutOut(t[best], most)
}

// maxMatches bounds the matches of a text that are looked at.
const maxMatches = 1000

// matches finds the terms in a text, in the order of their last words.
func (q Query) matches(text string) []match {
	longest := 0
	for _, t := range q.Terms {
		longest = max(longest, len(t))
	}
	type place struct {
		word  []byte
		start int
	}
	ring := make([]place, longest) // the last words
	n := 0
	var out []match
	Words(text, func(word []byte, start, end int) bool {
		last := &ring[n%longest]
		last.word, last.start = append(last.word[:0], word...), start
		n++
		for i, t := range q.Terms {
			if len(t) > n || t[len(t)-1] != string(word) {
				continue
			}
			fits := true
			for j := range t {
				fits = fits && t[j] == string(ring[(n-len(t)+j)%longest].word)
			}
			if fits {
				out = append(out, match{i, ring[(n-len(t))%longest].start, end})
			}
		}
		return len(out) < maxMatches
	})
	return out
}

func distinct(found []match) int {
	terms := map[int]bool{}
	for _, m := range found {
		terms[m.term] = true
	}
	return len(terms)
}

// cutOut cuts the text where most terms stand close together.
func cutOut(text string, found []match) (string, [][2]int) {
	first, most := 0, 0
	for i := range found {
		end := i
		for end < len(found) && found[end].end <= found[i].start+snippetBytes-snippetBefore {
			end++
		}
		if n := distinct(found[i:end]); n > most {
			first, most = i, n
		}
	}
	start, end := 0, min(len(text), snippetBytes)
	if len(found) > 0 {
		start = max(0, found[first].start-snippetBefore)
		end = min(len(text), max(start+snippetBytes, min(found[first].end, start+snippetMost)))
	}
	start, end = outward(text, start, end)
	return line(text, start, end, found)
}

// outward moves the ends of a cut to spaces, if there are any near, and else at least not into a
// character.
func outward(text string, start, end int) (int, int) {
	const near = 24
	for s := start; s > 0 && s > start-near; s-- {
		if text[s-1] == ' ' || text[s-1] == '\n' {
			start = s
			break
		}
	}
	for e := end; e < len(text) && e < end+near; e++ {
		if text[e] == ' ' || text[e] == '\n' {
			end = e
			break
		}
	}
	for start > 0 && !utf8.RuneStart(text[start]) {
		start--
	}
	for end < len(text) && !utf8.RuneStart(text[end]) {
		end++
	}
	return start, end
}

// line writes text[start:end] on one line: what is not to be seen is a space, several are one, and an
// ellipsis is where something is left out.
func line(text string, start, end int, found []match) (string, [][2]int) {
	var b strings.Builder
	if start > 0 {
		b.WriteString("…")
	}
	matches := [][2]int{}
	open, until := -1, 0 // a match that has begun, and where it ends
	next := sorted(found, start, end)
	space := true
	for i := start; i < end; {
		if open >= 0 && i >= until {
			matches, open = append(matches, [2]int{open, b.Len()}), -1
		}
		for len(next) > 0 && next[0].start <= i {
			if open < 0 {
				open = b.Len()
			}
			until, next = max(until, min(next[0].end, end)), next[1:]
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		i += size
		if r != utf8.RuneError && !unicode.IsSpace(r) && (unicode.IsGraphic(r) || r == '\u200d') {
			b.WriteRune(r)
			space = false
		} else if !space {
			b.WriteByte(' ')
			space = true
		}
	}
	if open >= 0 {
		matches = append(matches, [2]int{open, b.Len()})
	}
	if end < len(text) {
		b.WriteString("…")
	}
	return b.String(), matches
}

// sorted are the matches inside a cut, by where they begin, with those that are too long for any cut.
func sorted(found []match, start, end int) []match {
	var in []match
	for _, m := range found {
		if m.start >= start && m.start < end && (m.end <= end || m.end-m.start > snippetBytes) {
			in = append(in, m)
		}
	}
	for i := 1; i < len(in); i++ { // nearly in order
		for j := i; j > 0 && in[j].start < in[j-1].start; j-- {
			in[j], in[j-1] = in[j-1], in[j]
		}
	}
	return in
}
