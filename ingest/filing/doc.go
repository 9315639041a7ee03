// Package filing stores a proxy's journal on STENO_RAW: it cuts the frames of every HTTP exchange and
// files each exchange in the capture of its conversation.
//
//	journal ──▶ cutter ──▶ filer ──▶ outbox ──▶ publish.Appender ──▶ steno.raw.… of one capture
//	          frames of    which      one a
//	          exchanges    capture?   capture
//
// Cutting is pure. Which capture an exchange belongs to is decided once: by the contextId that its
// request names, else by what STENO_FILED says of the task that it names, else by its first answer. A
// decision that did not follow from the request alone is kept in that bucket, with the place in the
// journal at which it was made, before a frame is stored; so whoever reads the journal again files
// every frame at the same place of the same capture.
package filing
