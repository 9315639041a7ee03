// Package translatetest is the suite that every protocol's translator passes: golden transcripts,
// hand-written cases, and the properties that a pure fold has whatever its input.
package translatetest
