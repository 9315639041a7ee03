// Native shows one transcript live over NATS alone: its stored events from STENO_EVENTS, what is open from
// the owner of its partition, and what is typed from the deltas. README.md is the recipe; this is the
// same in Go, to be copied. Of steno it uses the package schema and nothing else.
//
//	STENO_EVENTS ──ordered consumer──▶ history ─┐
//	steno.open.… ──pages──▶ answer ─────────────┼─▶ run: number · splice · drop what is known ──▶ Screen
//	steno.delta.… ──pieces, heads──▶ live ──────┘
package main
