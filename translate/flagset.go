package translate

import "github.com/steno-io/steno/schema"

// FlagSet is a set of flags; the zero value is empty.
type FlagSet uint32

var flagBits = func() map[schema.Flag]FlagSet {
	bits := make(map[schema.Flag]FlagSet, len(schema.Flags))
	for i, f := range schema.Flags {
		bits[f] = 1 << i
	}
	return bits
}()

// Of makes the set of the given flags.
func Of(flags ...schema.Flag) FlagSet {
	var s FlagSet
	for _, f := range flags {
		s |= flagBits[f]
	}
	return s
}

// Has reports whether the flag is in the set.
func (s FlagSet) Has(f schema.Flag) bool { return s&flagBits[f] != 0 }

// List gives the flags in the order of schema.Flags; nil for the empty set.
func (s FlagSet) List() []schema.Flag {
	if s == 0 {
		return nil
	}
	var list []schema.Flag
	for i, f := range schema.Flags {
		if s&(1<<i) != 0 {
			list = append(list, f)
		}
	}
	return list
}
