//go:build !race

package alloctest

const detector = false
