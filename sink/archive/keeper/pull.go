package keeper

import (
	"iter"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/capturefile"
)

// pull reads a sequence one by one; stop is to be called at the end.
func pull[T any](seq iter.Seq2[T, error]) (next func() (T, bool, error), stop func()) {
	read, stop := iter.Pull2(seq)
	return func() (T, bool, error) {
		v, err, ok := read()
		return v, ok && err == nil, err
	}, stop
}

// wholeLine is a frame's line with its bytes, wherever those are kept, and all that the append gave it.
func wholeLine(dst []byte, f schema.Frame) ([]byte, error) {
	blob := f.Blob
	f.Blob = ""
	dst, err := capturefile.AppendArchiveLine(dst, &f)
	return append(dst, blob...), err
}
