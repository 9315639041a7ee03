// Package schema is steno's vocabulary: identities, frames, events, records, flags, subjects and
// headers, with the one encoding of each. It imports nothing of ours; everything else speaks it.
package schema
