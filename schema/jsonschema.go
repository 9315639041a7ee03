package schema

import (
	_ "embed" // the published schemas below
)

// The published JSON Schemas (draft 2020-12). They are strict: what the code writes fits, and no
// member that it does not know does, save those of unknown kinds.
var (
	//go:embed event.schema.json
	eventSchema string
	//go:embed frame.schema.json
	frameSchema string
	//go:embed record.schema.json
	recordSchema string
)

// EventSchema is the JSON Schema of an event.
func EventSchema() string { return eventSchema }

// FrameSchema is the JSON Schema of a line of a capture file.
func FrameSchema() string { return frameSchema }

// RecordSchema is the JSON Schema of a record as an object of its headers and lines. It refers to
// EventSchema.
func RecordSchema() string { return recordSchema }
