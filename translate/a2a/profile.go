package a2a

import (
	"encoding/json"
	"fmt"
	"strings"
)

// profile says what a peer means where the protocol leaves it open. The zero value guesses nothing. A
// capture's open frame names one of the built-in profiles, or holds one as a JSON object.
type profile struct {
	// StatusText is what text beside a running state is: "notes" (progress) or "answer".
	StatusText string `json:"status_text"`
	// ArtifactChunks is what a chunk with append is: "append", or "cumulative" where each holds all
	// the text so far.
	ArtifactChunks string `json:"artifact_chunks"`
	// JoinFreshIDs joins an appended chunk under a new id to the artifact before it.
	JoinFreshIDs bool `json:"join_fresh_ids"`
	// Lanes says what the artifacts of a name hold: "answer" or "thought".
	Lanes map[string]string `json:"lanes"`
	// Tools names the convention that tools' parts follow: "adk", "gemini-cli" or "none"; empty for
	// whichever a part is marked with.
	Tools string `json:"tools"`
}

// Values of a profile's fields.
const (
	statusNotes  = "notes"
	statusAnswer = "answer"
	chunksAppend = "append"
	chunksWhole  = "cumulative"
	laneAnswer   = "answer"
	laneThought  = "thought"
	toolsNone    = "none"
	toolsADK     = "adk"
	toolsGemini  = "gemini-cli"
)

// defaultProfile is the name of the profile that guesses nothing.
const defaultProfile = "default"

// readProfile reads a profile; ok is false for one that is not known, which guesses nothing.
func readProfile(text string) (p profile, ok bool) {
	switch text {
	case "", defaultProfile:
		return profile{}, true
	case toolsADK:
		return profile{Tools: toolsADK}, true
	case toolsGemini:
		return profile{Tools: toolsGemini, StatusText: statusAnswer}, true
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil || !p.valid() {
		return profile{}, false
	}
	return p, true
}

// CheckProfile reports why a profile cannot be read.
func CheckProfile(text string) error {
	if _, ok := readProfile(text); !ok {
		return fmt.Errorf("profile %q: want %s, %s, %s or a JSON object with status_text, artifact_chunks, join_fresh_ids, lanes or tools",
			text, defaultProfile, toolsADK, toolsGemini)
	}
	return nil
}

func (p *profile) valid() bool {
	known := func(word string, words ...string) bool {
		for _, w := range words {
			if word == w {
				return true
			}
		}
		return word == ""
	}
	for _, lane := range p.Lanes {
		if !known(lane, laneAnswer, laneThought) {
			return false
		}
	}
	return known(p.StatusText, statusNotes, statusAnswer) && known(p.ArtifactChunks, chunksAppend, chunksWhole) &&
		known(p.Tools, toolsNone, toolsADK, toolsGemini)
}

func (p *profile) cumulative() bool { return p.ArtifactChunks == chunksWhole }
