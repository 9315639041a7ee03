// Package a2atest gives conversations of A2A for tests: of the hand-written cases, and of frames that
// were cut from real traffic.
package a2atest
