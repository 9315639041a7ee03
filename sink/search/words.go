package search

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxWord is where a longer word is cut, in bytes of its folded form: what follows is the next word.
const maxWord = 120

// Words gives the words of a text in order, folded: in lower case, without accents. A word is a run of
// letters and digits; a character of a script that puts no spaces between words, and a symbol such as an
// emoji, is a word by itself. Everything else stands between words. word is valid until yield returns,
// which says whether to go on; it stands in text[start:end].
func Words(text string, yield func(word []byte, start, end int) bool) {
	var buf [maxWord + utf8.UTFMax*maxFolded]byte
	word, start, end := buf[:0], 0, 0
	flush := func() bool {
		if len(word) == 0 {
			return true
		}
		ok := yield(word, start, end)
		word = buf[:0]
		return ok
	}
	for i := 0; i < len(text); {
		if len(word) >= maxWord && !flush() {
			return
		}
		c := text[i]
		if c < utf8.RuneSelf {
			lower, in := c, false
			switch {
			case 'a' <= c && c <= 'z', '0' <= c && c <= '9':
				in = true
			case 'A' <= c && c <= 'Z':
				lower, in = c+'a'-'A', true
			}
			i++
			if !in {
				if !flush() {
					return
				}
				continue
			}
			if len(word) == 0 {
				start = i - 1
			}
			word, end = append(word, lower), i
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		at := i
		i += size
		switch classOf(r) {
		case inner:
			if len(word) > 0 {
				end = i
			}
		case letter:
			if len(word) == 0 {
				start = at
			}
			word, end = appendFolded(word, r, text[at:i]), i
		case alone:
			if !flush() {
				return
			}
			word, start, end = appendFolded(word, r, text[at:i]), at, i
			if !flush() {
				return
			}
		default:
			if !flush() {
				return
			}
		}
	}
	flush()
}

// class is what a character is to words.
type class int

const (
	between class = iota
	letter        // a part of a word
	inner         // nothing by itself: what accents are, and joiners
	alone         // a word by itself
)

func classOf(r rune) class {
	switch {
	case r == utf8.RuneError: // what stood there was no text
		return between
	case r == '\u00ad', r == '\u200c', r == '\u200d', unicode.Is(unicode.Mn, r), unicode.Is(unicode.Me, r):
		return inner
	case unicode.In(r, unspaced...):
		if unicode.IsLetter(r) || unicode.IsNumber(r) {
			return alone
		}
		return between
	case unicode.IsLetter(r), unicode.IsNumber(r), unicode.Is(unicode.Mc, r):
		return letter
	case unicode.Is(unicode.So, r):
		return alone
	}
	return between
}

// unspaced are the scripts that put no spaces between words.
var unspaced = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar}

// maxFolded is the most characters that one is folded into.
const maxFolded = 18

// appendFolded appends a character in its folded form: decomposed, without marks, in lower case.
func appendFolded(dst []byte, r rune, text string) []byte {
	if decomposed := norm.NFKD.PropertiesString(text).Decomposition(); decomposed != nil && !unicode.Is(unicode.Hangul, r) {
		had := len(dst)
		for _, r := range string(decomposed) {
			if unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.Is(unicode.Mc, r) {
				dst = appendLower(dst, r)
			}
		}
		if len(dst) > had {
			return dst
		}
	}
	return appendLower(dst, r)
}

// appendLower appends a character in lower case, and those that people type without their strokes as
// they are typed.
func appendLower(dst []byte, r rune) []byte {
	switch r = unicode.ToLower(r); r {
	case 'ß':
		return append(dst, "ss"...)
	case 'æ':
		return append(dst, "ae"...)
	case 'œ':
		return append(dst, "oe"...)
	case 'ø':
		return append(dst, 'o')
	case 'ł':
		return append(dst, 'l')
	case 'đ', 'ð':
		return append(dst, 'd')
	case 'ħ':
		return append(dst, 'h')
	case 'þ':
		return append(dst, "th"...)
	case 'ı':
		return append(dst, 'i')
	case 'ς':
		r = 'σ'
	}
	return utf8.AppendRune(dst, r)
}
