package proxy

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// squeeze compresses text, flushed behind each part.
func squeeze(t testing.TB, level int, parts ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, level)
	require.NoError(t, err)
	z.Name, z.Comment, z.Extra = "n", "c", []byte("extra")
	for _, p := range parts {
		_, err := io.WriteString(z, p)
		require.NoError(t, err)
		require.NoError(t, z.Flush())
	}
	require.NoError(t, z.Close())
	return b.Bytes()
}

// someText repeats itself as JSON does, with noise in it.
func someText(n int, seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 1))
	var b strings.Builder
	for b.Len() < n {
		switch r.IntN(4) {
		case 0:
			b.WriteString(`{"jsonrpc":"2.0","result":{"artifactUpdate":`)
		case 1:
			b.WriteByte(byte(r.Uint32()))
		default:
			b.WriteString("token ")
		}
	}
	return b.String()[:n]
}

func TestGunzipReadsWhatIsWritten(t *testing.T) {
	for _, level := range []int{flate.NoCompression, flate.BestSpeed, flate.BestCompression, flate.HuffmanOnly} {
		for _, n := range []int{0, 1, 100, 70_000, 300_000} {
			text := someText(n, uint64(n))
			plain, err := gunzipWhole(squeeze(t, level, text), 1<<20)
			require.NoError(t, err)
			require.Equal(t, text, string(plain))
		}
	}
	two := append(squeeze(t, 6, "one, "), squeeze(t, 6, "two")...)
	plain, err := gunzipWhole(two, 1<<20)
	require.NoError(t, err)
	require.Equal(t, "one, two", string(plain), "members follow each other")
	_, err = gunzipWhole(squeeze(t, 6, "12345"), 4)
	require.ErrorIs(t, err, errTooLarge)
}

// TestGunzipHoldsNothingBack feeds byte by byte: what is known at each byte is what a decoder that
// sees only the bytes so far can know.
func TestGunzipHoldsNothingBack(t *testing.T) {
	text := someText(1200, 7)
	for _, level := range []int{flate.NoCompression, flate.BestCompression, flate.HuffmanOnly} {
		whole := squeeze(t, level, text[:500], text[500:])
		var got bytes.Buffer
		g := newGunzip(func(b []byte) error { _, err := got.Write(b); return err })
		for i := range whole {
			_, err := g.feed(whole[i : i+1])
			require.NoError(t, err)
			z, err := gzip.NewReader(bytes.NewReader(whole[:i+1]))
			if err != nil {
				continue
			}
			known, _ := io.ReadAll(z) // at the end of its bytes it gives all that it has
			require.GreaterOrEqual(t, got.Len(), len(known), "after %d bytes", i+1)
			require.True(t, strings.HasPrefix(text, got.String()))
		}
		require.NoError(t, g.finish())
		require.Equal(t, text, got.String())
		g.close()
	}
}

func TestGunzipSaysWhereItBroke(t *testing.T) {
	whole := squeeze(t, 6, "some text")
	for cut := 1; cut < len(whole); cut++ {
		_, err := gunzipWhole(whole[:cut], 1<<20)
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	}
	bad := append(bytes.Clone(whole), "tail"...)
	g := newGunzip(func([]byte) error { return nil })
	at, err := g.feed(bad)
	require.ErrorIs(t, err, errGzip)
	require.Equal(t, len(whole), at)
	_, err = g.feed([]byte("more"))
	require.ErrorIs(t, err, errGzip)
	g.close()
}

// TestGunzipSeesTheSameDamage flips bits all over streams of all kinds of blocks.
func TestGunzipSeesTheSameDamage(t *testing.T) {
	for _, level := range []int{flate.NoCompression, flate.BestCompression, flate.HuffmanOnly} {
		for _, n := range []int{30, 600} { // with codes that need not be sent, and with others
			whole := squeeze(t, level, someText(n, 5))
			for bit := 0; bit < len(whole)*8; bit += 7 {
				if bit/8 < 25 && bit/8 != 0 { // the header's odds and ends
					continue
				}
				whole[bit/8] ^= 1 << (bit % 8)
				sameAsStandard(t, whole)
				whole[bit/8] ^= 1 << (bit % 8)
			}
		}
	}
}

// sameAsStandard holds the decoder against the standard library's.
func sameAsStandard(t *testing.T, raw []byte) {
	t.Helper()
	plain, err := gunzipWhole(raw, 1<<24)
	var want []byte
	z, wantErr := gzip.NewReader(bytes.NewReader(raw))
	if wantErr == nil {
		want, wantErr = io.ReadAll(io.LimitReader(z, 1<<24))
	}
	if len(raw) == 0 || len(raw) > 3 && raw[3]&2 != 0 { // no bytes are no stream there; a header's check is not read here
		return
	}
	require.Equal(t, wantErr == nil, err == nil, "%v, %v", wantErr, err)
	if err == nil {
		require.Equal(t, want, plain)
	}
}

// FuzzGunzip: whatever the bytes are, both read the same or neither reads any.
func FuzzGunzip(f *testing.F) {
	f.Add([]byte("\x1f\x8b\x08"))
	for _, level := range []int{0, 1, 9, flate.HuffmanOnly} {
		f.Add(squeeze(f, level, "text text text", "more"))
		f.Add(squeeze(f, level, someText(5000, 3)))
	}
	f.Fuzz(func(t *testing.T, raw []byte) { sameAsStandard(t, raw) })
}
