package capturefile

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/steno-io/steno/schema"
)

// AppendLine appends the frame's line, with its line feed. What the append gave a stored frame is
// left out. A frame that Validate refuses, one without a number and one whose bytes are in the blob bucket
// are errors; dst is then returned as it was.
func AppendLine(dst []byte, f *schema.Frame) ([]byte, error) {
	if f.Blob != "" && len(f.Data) == 0 {
		return dst, fmt.Errorf("write line of frame %d: its bytes are in blob %s and were not fetched", f.Seq, f.Blob)
	}
	return appendLine(dst, f, false)
}

// AppendArchiveLine appends the frame's line as it stands in an archive: with blob, salt, writer and
// chain. Of a frame with a blob and no bytes it writes the reference only.
func AppendArchiveLine(dst []byte, f *schema.Frame) ([]byte, error) {
	return appendLine(dst, f, true)
}

func appendLine(dst []byte, f *schema.Frame, archive bool) ([]byte, error) {
	if err := check(f); err != nil {
		return dst, fmt.Errorf("write line of frame %d: %w", f.Seq, err)
	}
	dst = append(dst, `{"seq":`...)
	dst = strconv.AppendUint(dst, f.Seq, 10)
	dst = append(dst, `,"at":"`...)
	dst = f.At.UTC().AppendFormat(dst, time.RFC3339Nano)
	dst = append(dst, '"')
	dst = member(dst, "from", string(f.From))
	dst = member(dst, "type", string(f.Type))
	dst = member(dst, "protocol", string(f.Protocol))
	dst = appendData(dst, f, archive)
	dst = member(dst, "end", string(f.End))
	dst = member(dst, "exchange", f.Exchange)
	if f.No > 0 {
		dst = append(dst, `,"no":`...)
		dst = strconv.AppendUint(dst, f.No, 10)
	}
	dst = member(dst, "chan", string(f.Chan))
	switch {
	case len(f.HTTP) == 0:
	case isPlain(f.HTTP):
		dst = append(dst, `,"http":`...)
		dst = append(dst, f.HTTP...)
	default:
		dst = append(dst, `,"http_b64":"`...)
		dst = base64.StdEncoding.AppendEncode(dst, f.HTTP)
		dst = append(dst, '"')
	}
	if archive {
		dst = member(dst, "blob", f.Blob)
		dst = member(dst, "salt", f.Salt)
		if f.Writer.Journal != "" {
			dst = member(dst, "writer", f.Writer.String())
		}
		dst = member(dst, "chain", f.Chain)
	}
	return append(dst, '}', '\n'), nil
}

func check(f *schema.Frame) error {
	if err := f.Validate(); err != nil {
		return err
	}
	if f.Seq == 0 {
		return errors.New("seq: want 1 or more, got 0")
	}
	return nil
}

// plainNesting is how deep the HTTP evidence of a line may be nested; taps write one level or two.
const plainNesting = 100

// isPlain reports whether every reader of JSON gives evidence back as it stands in a line: an object and
// nothing behind it, no member twice, no lone surrogate, not deep.
func isPlain(evidence []byte) bool {
	return evidence[len(evidence)-1] == '}' && jsontext.Value(evidence).IsValid() &&
		bytes.Count(evidence, []byte{'{'})+bytes.Count(evidence, []byte{'['}) <= plainNesting
}

func appendData(dst []byte, f *schema.Frame, archive bool) []byte {
	if archive && f.Blob != "" && len(f.Data) == 0 {
		return dst
	}
	if utf8.Valid(f.Data) {
		dst = append(dst, `,"text":`...)
		return schema.AppendString(dst, string(f.Data))
	}
	dst = append(dst, `,"b64":"`...)
	dst = base64.StdEncoding.AppendEncode(dst, f.Data)
	return append(dst, '"')
}

func member(dst []byte, name, value string) []byte {
	if value == "" {
		return dst
	}
	dst = append(dst, ',', '"')
	dst = append(dst, name...) // our own names need no escape
	dst = append(dst, '"', ':')
	return schema.AppendString(dst, value)
}
