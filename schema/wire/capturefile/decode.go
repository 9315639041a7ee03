package capturefile

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/jsontree"
)

// given says which members a line has.
type given struct {
	text, b64, seq, at, typ, from, protocol, end, http, httpB64 bool
}

// decode reads one line and fills in what is missing.
func (r *Reader) decode(line []byte) (schema.Frame, error) {
	if line[0] != '{' {
		return schema.Frame{}, notObject(line)
	}
	end, err := r.tree.Read(line)
	switch {
	case err != nil:
		return schema.Frame{}, fmt.Errorf("want a JSON object: %w", err)
	case end != len(line):
		return schema.Frame{}, fmt.Errorf("want one JSON object a line: %q stands behind it", cut(line[end:]))
	case r.tree.Lossy():
		return schema.Frame{}, errors.New("the line has invalid UTF-8 or a lone surrogate, which text cannot hold: use b64")
	case r.tree.DuplicateKey():
		return schema.Frame{}, errors.New("the line names a member twice")
	}
	var f schema.Frame
	var has given
	for member := range r.tree.Root().Children() {
		name, err := jsontext.AppendUnquote(nil, member.NameRaw())
		if err != nil {
			return schema.Frame{}, fmt.Errorf("member %s: %w", member.NameRaw(), err)
		}
		if err := setMember(&f, &has, string(name), member); err != nil {
			return schema.Frame{}, fmt.Errorf("member %q: %w", name, err)
		}
	}
	if err := r.complete(&f, has); err != nil {
		return schema.Frame{}, err
	}
	return f, nil
}

func setMember(f *schema.Frame, has *given, name string, v jsontree.Value) (err error) {
	switch name {
	case "seq":
		has.seq = true
		f.Seq, err = number(v)
	case "at":
		has.at = true
		f.At, err = instant(v)
	case "from":
		has.from = true
		err = word(&f.From, v)
	case "type":
		has.typ = true
		err = word(&f.Type, v)
	case "protocol":
		has.protocol = true
		err = word(&f.Protocol, v)
	case "text":
		has.text = true
		if err = want(v, jsontree.String); err == nil {
			f.Data, err = jsontext.AppendUnquote([]byte{}, v.Raw())
		}
	case "b64":
		has.b64 = true
		f.Data, err = binary(v)
	case "end":
		has.end = true
		err = word(&f.End, v)
	case "exchange":
		err = word(&f.Exchange, v)
	case "no":
		f.No, err = number(v)
	case "chan":
		err = word(&f.Chan, v)
	case "http":
		has.http = true
		if err = want(v, jsontree.Object); err == nil {
			f.HTTP = append([]byte(nil), v.Raw()...)
		}
	case "http_b64":
		has.httpB64 = true
		if f.HTTP, err = binary(v); err == nil && len(f.HTTP) == 0 {
			err = errors.New("want a string that is not empty")
		}
	case "blob":
		err = word(&f.Blob, v)
	case "salt":
		err = word(&f.Salt, v)
	case "writer":
		var text string
		if err = word(&text, v); err == nil {
			f.Writer, err = schema.ParseWriter(text)
		}
	case "chain":
		err = word(&f.Chain, v)
	default:
		return errors.New("want seq, at, from, type, protocol, text, b64, end, exchange, no, chan, http, http_b64, blob, salt, writer or chain")
	}
	return err
}

func want(v jsontree.Value, kind jsontext.Kind) error {
	if v.Kind() != kind {
		return fmt.Errorf("want a JSON %s, got %s", kindName(kind), cut(v.Raw()))
	}
	return nil
}

func kindName(kind jsontext.Kind) string {
	switch kind {
	case jsontree.String:
		return "string"
	case jsontree.Number:
		return "number"
	}
	return "object"
}

// word reads a string that must not be empty.
func word[T ~string](dst *T, v jsontree.Value) error {
	if err := want(v, jsontree.String); err != nil {
		return err
	}
	text, _ := v.Text()
	if text == "" {
		return errors.New("want a string that is not empty; leave the member out for its default")
	}
	*dst = T(text)
	return nil
}

// number reads an unsigned integer, written without sign, point or exponent.
func number(v jsontree.Value) (uint64, error) {
	if err := want(v, jsontree.Number); err != nil {
		return 0, err
	}
	n, err := strconv.ParseUint(string(v.Raw()), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("want an integer of 0 to 18446744073709551615, got %s", cut(v.Raw()))
	}
	return n, nil
}

func instant(v jsontree.Value) (time.Time, error) {
	var text string
	if err := word(&text, v); err != nil {
		return time.Time{}, err
	}
	var at time.Time
	if err := at.UnmarshalText([]byte(text)); err != nil {
		return time.Time{}, fmt.Errorf("want an RFC 3339 time such as 2026-11-29T20:00:00.000000001Z: %w", err)
	}
	return at.UTC(), nil
}

func binary(v jsontree.Value) ([]byte, error) {
	var text string
	if err := want(v, jsontree.String); err != nil {
		return nil, err
	}
	text, _ = v.Text()
	data, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("want standard base64 with padding: %w", err)
	}
	return data, nil
}

// cut shortens bytes for an error.
func cut(data []byte) []byte {
	if len(data) > 40 {
		return append(append([]byte(nil), data[:40]...), "…"...)
	}
	return data
}
