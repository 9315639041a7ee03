package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// byteSize is a flag's number of bytes, at least min: a number, or one with a unit such as 512MiB or
// 1GB.
type byteSize struct {
	bytes *int64
	min   int64
}

var byteUnits = []struct {
	name  string
	bytes float64
}{
	{"TIB", 1 << 40}, {"GIB", 1 << 30}, {"MIB", 1 << 20}, {"KIB", 1 << 10},
	{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}, {"B", 1},
}

// Set implements pflag.Value.
func (b byteSize) Set(text string) error {
	number, unit := strings.ToUpper(strings.TrimSpace(text)), 1.0
	for _, u := range byteUnits {
		if before, ok := strings.CutSuffix(number, u.name); ok {
			number, unit = strings.TrimSpace(before), u.bytes
			break
		}
	}
	n, err := strconv.ParseFloat(number, 64)
	n *= unit
	if err != nil || n != math.Trunc(n) || n >= math.MaxInt64 {
		return fmt.Errorf("want a number of bytes, such as 1000000, 512MiB or 1GB")
	}
	if int64(n) < b.min {
		return fmt.Errorf("want %s or more", sizeText(b.min))
	}
	*b.bytes = int64(n)
	return nil
}

// String implements pflag.Value.
func (b byteSize) String() string {
	if b.bytes == nil {
		return ""
	}
	return sizeText(*b.bytes)
}

// Type implements pflag.Value.
func (byteSize) Type() string { return "size" }

func sizeText(n int64) string {
	for _, u := range byteUnits[:4] {
		if unit := int64(u.bytes); n > 0 && n%unit == 0 {
			return fmt.Sprintf("%d%siB", n/unit, u.name[:1])
		}
	}
	return strconv.FormatInt(n, 10)
}
