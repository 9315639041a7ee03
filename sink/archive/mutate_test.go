package archive_test

import (
	"bytes"
	"flag"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var mutations = flag.Int("mutations", 100, "how many times TestEveryMutationIsFound changes the archive")

// TestEveryMutationIsFound flips, cuts, swaps, removes and adds bytes, lines and files: each is found, and
// the place is named.
func TestEveryMutationIsFound(t *testing.T) {
	s := newSite(t)
	for _, name := range []string{"one", "two", "three"} {
		s.tell(identity(name), story+" m "+strings.Repeat("x y c m ", 40))
		s.seal(identity(name))
		s.tell(identity(name), "e f c c m")
		s.seal(identity(name))
	}
	require.Empty(t, s.check(s.key.Public()).Findings)
	whole := s.files()
	names := slices.Sorted(maps.Keys(whole))
	r := rand.New(rand.NewPCG(2026, 6))
	for n := range *mutations {
		what, touched := mutate(r, whole, names)
		for name, data := range touched {
			require.NoError(t, put(filepath.Join(s.dir, name), data))
		}
		c := s.check(s.key.Public())
		require.Contains(t, []int{10, 12}, c.ExitCode(), "mutation %d: %s", n, what)
		named := false
		for _, f := range c.Findings {
			for name := range touched {
				named = named || f.File == name
			}
		}
		require.True(t, named, "mutation %d: %s: no finding names it: %v", n, what, c.Findings)
		for name := range touched {
			old, was := whole[name]
			if !was {
				require.NoError(t, os.Remove(filepath.Join(s.dir, name)))
				continue
			}
			require.NoError(t, put(filepath.Join(s.dir, name), &old))
		}
	}
	require.Empty(t, s.check(s.key.Public()).Findings)
}

// put writes a file, or removes it.
func put(path string, data *string) error {
	if data == nil {
		return os.Remove(path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(*data), 0o600)
}

// mutate gives what is done and the files that it touches; nil: removed.
func mutate(r *rand.Rand, whole map[string]string, names []string) (what string, touched map[string]*string) {
	pick := func() string { return names[r.IntN(len(names))] }
	name := pick()
	data := []byte(whole[name])
	at := r.IntN(len(data))
	switch r.IntN(10) {
	case 0:
		data[at] ^= 1 << r.IntN(8)
		return "flip a bit of " + name, one(name, data)
	case 1:
		return "cut " + name, one(name, data[:at])
	case 2:
		return "add a byte to " + name, one(name, slices.Insert(data, at, byte(r.IntN(256))))
	case 3:
		return "take a byte of " + name, one(name, slices.Delete(data, at, at+1))
	case 4:
		lines := bytes.SplitAfter(data, []byte{'\n'})
		i, j := r.IntN(len(lines)), r.IntN(len(lines))
		lines[i], lines[j] = lines[j], lines[i]
		if swapped := bytes.Join(lines, nil); !bytes.Equal(swapped, data) {
			return "swap lines of " + name, one(name, swapped)
		}
		return "empty " + name, one(name, nil)
	case 5:
		return "remove " + name, map[string]*string{name: nil}
	case 6:
		added := filepath.ToSlash(filepath.Join(filepath.Dir(name), []string{"x", "seal-000000000099.json", "frames-000000000001-000000000002.jsonl.zst", "blobs/00", "seal-000000000099.note"}[r.IntN(5)]))
		if _, there := whole[added]; !there {
			return "add " + added, one(added, data)
		}
		return "remove " + name, map[string]*string{name: nil}
	case 7:
		other := pick()
		a, b := whole[name], whole[other]
		if a != b {
			return "swap " + name + " and " + other, map[string]*string{name: &b, other: &a}
		}
		return "double " + name, one(name, append(data, data...))
	case 8: // nothing of an archive that is read whole is so long, but a seal
		return "lengthen " + name, one(name, append(data, bytes.Repeat([]byte("m\n"), 8<<10)...))
	}
	lines := bytes.SplitAfter(data, []byte{'\n'})
	i := r.IntN(len(lines))
	if cut := bytes.Join(slices.Delete(slices.Clone(lines), i, i+1), nil); !bytes.Equal(cut, data) {
		return "take a line of " + name, one(name, cut)
	}
	return "double " + name, one(name, append(data, data...))
}

func one(name string, data []byte) map[string]*string {
	text := string(data)
	return map[string]*string{name: &text}
}
