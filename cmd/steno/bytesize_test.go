package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestByteSizes(t *testing.T) {
	for text, want := range map[string]int64{
		"7": 7, "1GB": 1e9, "512MiB": 512 << 20, "1.5 gib": 3 << 29, "10kb": 10_000, "2TiB": 2 << 40, "12B": 12,
	} {
		var n int64
		require.NoError(t, byteSize{&n, 0}.Set(text), text)
		require.Equal(t, want, n, text)
	}
	for _, text := range []string{"", "many", "1.5", "-1", "1e30", "nan", "inf", "GB", "5 bananas"} {
		var n int64
		require.Error(t, byteSize{&n, 0}.Set(text), text)
		require.Zero(t, n)
	}
	require.Error(t, byteSize{new(int64), 10}.Set("9"))
	four := int64(4 << 30)
	require.Equal(t, "4GiB", byteSize{&four, 0}.String())
}
