// Package archive keeps sealed captures as files that anybody can check: frames, events and large
// payloads, the seals that name them by content, notes that sign the seals, and a log that lists them.
package archive
