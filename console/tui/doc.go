// Package tui is the console in a terminal: a list that changes by itself, transcripts as they are
// typed, replays, and a search.
//
//	follower or player ──▶ inflow ──▶ page ──▶ screen
//	ledger ──▶ commands ──▶ messages ──▶ list, page, search
//
// Screens change by messages alone and never wait: what reads runs beside them, in commands.
package tui
