package secrets

import (
	"bytes"
	"math/bits"
	"strings"
)

// different counts the different bytes.
func different(value []byte) int {
	var seen [4]uint64
	for _, c := range value {
		seen[c>>6] |= 1 << (c & 63)
	}
	return bits.OnesCount64(seen[0]) + bits.OnesCount64(seen[1]) + bits.OnesCount64(seen[2]) + bits.OnesCount64(seen[3])
}

func has(value []byte, first, last byte) bool {
	for _, c := range value {
		if c >= first && c <= last {
			return true
		}
	}
	return false
}

func hasLetter(value []byte) bool { return has(value, 'a', 'z') || has(value, 'A', 'Z') }

// isRandom reports whether a value may have been drawn: words that are joined have letters of one case only.
func isRandom(value []byte) bool {
	if different(value) < 8 {
		return false
	}
	return has(value, '0', '9') && hasLetter(value) || has(value, 'a', 'z') && has(value, 'A', 'Z')
}

// longest is the length of the longest piece between separators.
func longest(value []byte, separator byte) (n int) {
	for piece := range bytes.SplitSeq(value, []byte{separator}) {
		n = max(n, len(piece))
	}
	return n
}

// placeholders are what values have in them that are none.
var placeholders = []string{"example", "placeholder", "changeme", "change_me", "redacted", "masked", "your", "dummy", "sample", "xxxx", "****", "...."}

func placeholder(value []byte) bool {
	lower := strings.ToLower(string(value[:min(len(value), 256)]))
	for _, p := range placeholders {
		if strings.Contains(lower, p) {
			return true
		}
	}
	return false
}

// isVariable reports whether a value looks like what a program fills in.
func isVariable(value []byte) bool { return bytes.ContainsAny(value, "(){}[]$%<>|*") }

// isWord reports whether a value is what documents write in the place of a password.
func isWord(value []byte) bool {
	switch strings.ToLower(string(value)) {
	case "pass", "password", "passwd", "pwd", "secret", "token", "user":
		return true
	}
	return false
}

// isPassword reports whether somebody may have thought of a value as a password.
func isPassword(value []byte) bool {
	if len(value) < 8 || different(value) < 6 || !hasLetter(value) || isVariable(value) || placeholder(value) {
		return false
	}
	if !has(value, '0', '9') && !bytes.ContainsAny(value, "!#^+=@?~") {
		return false
	}
	if strings.IndexByte("/.~=", value[0]) >= 0 || bytes.Contains(value, []byte("://")) {
		return false
	}
	lower := bytes.ToLower(value)
	for _, name := range []string{"password", "secret", "token", "env.", "environ", "null", "undefined"} {
		if bytes.HasPrefix(lower, []byte(name)) || strings.HasSuffix(name, ".") && bytes.Contains(lower, []byte(name)) {
			return false
		}
	}
	return true
}
