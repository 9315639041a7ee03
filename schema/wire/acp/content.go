package acp

import "github.com/steno-io/steno/schema"

// Types of a content block.
const (
	ContentText         = "text"
	ContentImage        = "image"
	ContentAudio        = "audio"
	ContentResourceLink = "resource_link"
	ContentResource     = "resource"
)

// Stream is the role and channel of a chunk's message.
type Stream struct {
	Role    schema.Role
	Channel schema.Channel
}

// ChunkStream gives the stream that a chunk variant adds to; ok is false for any other variant. A
// thought is the assistant's too: only its channel differs.
func ChunkStream(variant string) (stream Stream, ok bool) {
	switch variant {
	case UserMessageChunk:
		return Stream{schema.User, schema.Answer}, true
	case AgentMessageChunk:
		return Stream{schema.Assistant, schema.Answer}, true
	case AgentThoughtChunk:
		return Stream{schema.Assistant, schema.Thought}, true
	}
	return Stream{}, false
}
