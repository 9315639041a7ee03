// Package reading tells what a transcript says to people: in which order its events are read, what each of
// them says that no other one does, and a tool's whole life on one card. What shows transcripts draws it.
package reading
