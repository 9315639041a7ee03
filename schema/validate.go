package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Validate reports the first field that is outside its closed set or range.
func (f *Frame) Validate() error {
	switch f.From {
	case FromClient, FromAgent, FromStderr, FromControl:
	default:
		return fmt.Errorf("check frame %d: from %q: want client, agent, stderr or control", f.Seq, f.From)
	}
	switch f.Type {
	case TypeData, TypeOpen, TypeClose, TypeGap, TypeHTTP, TypeDecision, TypeIntervention:
	default:
		return fmt.Errorf("check frame %d: type %q: want data, open, close, gap, http, decision or intervention", f.Seq, f.Type)
	}
	if (f.From == FromControl) != (f.Type != TypeData) {
		return fmt.Errorf("check frame %d: type %q from %q: data frames come from a peer, the others from control", f.Seq, f.Type, f.From)
	}
	switch f.End {
	case EndLF, EndNone:
	default:
		return fmt.Errorf("check frame %d: end %q: want lf or none", f.Seq, f.End)
	}
	if len(f.Exchange) > MaxExchange || strings.ContainsFunc(f.Exchange, notVisible) {
		return fmt.Errorf("check frame %d: exchange %q: want at most %d characters of visible ASCII", f.Seq, f.Exchange, MaxExchange)
	}
	switch f.Chan {
	case "", ChanRequest, ChanResponse, ChanStream, ChanPush, ChanCard:
	default:
		return fmt.Errorf("check frame %d: chan %q: want request, response, stream, push or card", f.Seq, f.Chan)
	}
	if year := f.At.UTC().Year(); year < 0 || year > 9999 {
		return fmt.Errorf("check frame %d: at: year %d has no RFC 3339 spelling", f.Seq, year)
	}
	if err := checkHTTP(f.HTTP); err != nil {
		return fmt.Errorf("check frame %d: http: %w", f.Seq, err)
	}
	for _, hash := range []struct {
		name, value string
		digits      int
	}{{"salt", f.Salt, 32}, {"blob", f.Blob, 64}, {"chain", f.Chain, 64}} {
		if hash.value != "" && !isHex(hash.value, hash.digits) {
			return fmt.Errorf("check frame %d: %s %q: want %d hexadecimal digits, lower case", f.Seq, hash.name, hash.value, hash.digits)
		}
	}
	return nil
}

// checkHTTP checks HTTP evidence; it stands on one line of a capture file.
func checkHTTP(evidence []byte) error {
	switch {
	case len(evidence) == 0:
		return nil
	case len(evidence) > MaxHTTP:
		return fmt.Errorf("want at most %d bytes, got %d", MaxHTTP, len(evidence))
	case evidence[0] != '{' || !utf8.Valid(evidence) || !json.Valid(evidence) || bytes.ContainsAny(evidence, "\n\r"):
		return fmt.Errorf("want one JSON object on one line, got %.40q", evidence)
	}
	return nil
}

func isHex(s string, digits int) bool {
	if len(s) != digits {
		return false
	}
	for i := 0; i < len(s); i++ {
		if !hexDigit[s[i]] {
			return false
		}
	}
	return true
}

// hexDigit tells without a branch, which digits drawn at random would mislead.
var hexDigit = func() (is [256]bool) {
	for i := range hexDigits {
		is[hexDigits[i]] = true
	}
	return is
}()

// notVisible reports whether a header could not carry the character unchanged.
func notVisible(r rune) bool { return r <= ' ' || r > '~' }
