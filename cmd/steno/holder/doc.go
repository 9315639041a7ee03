// Package holder holds a data directory: its lock, the embedded server and stages, and the address
// by which every other command of that directory reaches them.
//
//	<data>/lock          whoever has the flock on it is the holder
//	<data>/up            the up that waits to be the next holder has the flock on it
//	<data>/holder.json   the holder's address while there is one, or word that a command has left
//	<data>/token         what a connection to the holder shows
//	<data>/push.key      what proxies make their push URLs with
//	<data>/journal/      journals of taps
//	<data>/nats/         the embedded server's streams
//	<data>/ledger.db     the ledger
//
//	       journals ──publish──▶ STENO_RAW ──stage──▶ STENO_EVENTS ──sink──▶ ledger.db
//	other commands ──127.0.0.1, token──▶ embedded server ◀── this process
package holder

import "path/filepath"

// Dir is a data directory.
type Dir string

// The directory's places.
func (d Dir) lock() string    { return filepath.Join(string(d), "lock") }
func (d Dir) turn() string    { return filepath.Join(string(d), "up") }
func (d Dir) address() string { return filepath.Join(string(d), "holder.json") }
func (d Dir) token() string   { return filepath.Join(string(d), "token") }
func (d Dir) pushKey() string { return filepath.Join(string(d), "push.key") }
func (d Dir) streams() string { return filepath.Join(string(d), "nats") }

// Journals is where the taps' journals are.
func (d Dir) Journals() string { return filepath.Join(string(d), "journal") }

// Ledger is the ledger's file.
func (d Dir) Ledger() string { return filepath.Join(string(d), "ledger.db") }
