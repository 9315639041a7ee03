package a2a

import (
	"strings"

	"github.com/steno-io/steno/schema"
	wire "github.com/steno-io/steno/schema/wire/a2a"
	"github.com/steno-io/steno/schema/wire/jsontree"
	"github.com/steno-io/steno/translate"
)

// artifact is one artifact of a task.
type artifact struct {
	answer  strand
	thought strand
	pieces  []piece        // that wait for the boundary
	held    map[digest]int // parts that are not text, by how often they came
}

// artifactUpdate folds a chunk.
func (x *fold) artifactUpdate(e *exchange, a wire.Arm) {
	t := x.taskOf(e, wire.TaskID(a), wire.ContextID(a.Value))
	v := wire.Field(a.Value, "artifact")
	appends := wire.Flag(a.Value, "append") || wire.Flag(v, "append") // 0.1 has them inside
	last := wire.Flag(a.Value, "lastChunk") || wire.Flag(v, "lastChunk")
	id, index := wire.ID(v, "artifactId"), wire.ID(v, "index")
	if x.repeated(e, t, x.artifactKey(id, index, appends, last, v)) {
		x.again(t, id, index, v)
		return
	}
	art, fresh := x.artifact(t, id, index, appends)
	t.recent = art
	if t.forgot && appends && !fresh && x.saidBefore(art, v) {
		return
	}
	x.lane(art, v)
	w := x.words(t, v, "", wire.Metadata(a.Value))
	flags := translate.FlagSet(0)
	if fresh && appends {
		flags = translate.Of(schema.FlagMissingHead)
	}
	how := anew
	if appends {
		how = more
	}
	x.grow(t, art, w, how, flags)
	if last {
		x.endNotes(t, art)
		x.endStrand(t, &t.thought, schema.BoundaryTurnEnd, 0, 0)
		x.endArtifact(t, art, schema.BoundaryClose, 0, byArtifact)
	}
}

// again takes a chunk that another exchange brought already: while the artifact is open its message
// accounts for this frame too, and otherwise the frame has its Raw.
func (x *fold) again(t *task, id, index []byte, v jsontree.Value) {
	if art, _ := x.artifact(t, id, index, true); art.answer.open != nil {
		x.own(art.answer.open, x.onlyText(v) && x.label == string(wire.ArtifactUpdate))
	}
}

// onlyText reports whether there are no parts but text.
func (x *fold) onlyText(v jsontree.Value) bool {
	for _, part := range x.parts(v) {
		if kind, _ := wire.ReadPart(part); kind != wire.TextPart {
			return false
		}
	}
	return true
}

// artifact finds an artifact: by its id, by its index, or the newest without either, which every chunk
// that does not append leaves behind.
func (x *fold) artifact(t *task, id, index []byte, appends bool) (art *artifact, fresh bool) {
	switch {
	case len(id) == 0 && len(index) > 0:
		x.key = append(append(x.key[:0], 0), index...)
	case len(id) == 0 && appends && t.nameless != nil:
		return t.nameless, false
	default:
		x.key = append(x.key[:0], id...)
	}
	if art = t.artifacts[string(x.key)]; art != nil && len(x.key) > 0 {
		return art, false
	}
	key := string(x.key)
	if x.profile.JoinFreshIDs && appends && t.recent != nil && t.recent.answer.open != nil {
		t.artifacts[key] = t.recent
		return t.recent, false
	}
	art = &artifact{held: map[digest]int{}}
	art.answer = strand{id: string(id), channel: schema.Answer}
	art.thought = strand{channel: schema.Thought}
	if key == "" {
		t.nameless = art
	} else {
		t.artifacts[key] = art
	}
	t.order = append(t.order, art)
	return art, true
}

// lane lets the profile say what an artifact of that name holds.
func (x *fold) lane(art *artifact, v jsontree.Value) {
	if len(x.profile.Lanes) == 0 {
		return
	}
	if x.profile.Lanes[wire.Text(v, "name")] == laneThought {
		art.answer.channel = schema.Thought
	}
}

// grow adds what an artifact says. The frame is a chunk if it brings nothing but text.
func (x *fold) grow(t *task, art *artifact, w words, how manner, flags translate.FlagSet) {
	if how == more && x.profile.cumulative() && strings.HasPrefix(w.text, art.answer.current()) {
		how = anew
	}
	chunk := w.pure && x.label == string(wire.ArtifactUpdate)
	if w.thought != "" {
		if x.extend(t, &art.thought, w.thought, how, flags) {
			x.own(art.thought.open, chunk && w.text == "")
		}
	}
	if w.text != "" || w.pure && w.thought == "" {
		if x.extend(t, &art.answer, w.text, how, flags) {
			x.own(art.answer.open, chunk)
		}
	}
	x.hold(art, w.pieces, how)
}

// hold keeps parts that are not text for the boundary; of a whole artifact only those that are new.
func (x *fold) hold(art *artifact, pieces []piece, how manner) {
	var now map[digest]int
	for _, p := range pieces {
		key := p.same
		if how == more {
			art.held[key]++
			art.pieces = append(art.pieces, p)
			continue
		}
		if now == nil {
			now = map[digest]int{}
		}
		if now[key]++; now[key] > art.held[key] {
			art.held[key] = now[key]
			art.pieces = append(art.pieces, p)
		}
	}
}

// endArtifact gives an artifact's messages, reasoning first, then its other parts.
func (x *fold) endArtifact(t *task, art *artifact, boundary schema.Boundary, flags translate.FlagSet, by carrier) {
	x.endStrand(t, &art.thought, boundary, flags, 0)
	if art.answer.channel == schema.Thought {
		x.endStrand(t, &art.answer, boundary, flags, 0)
	} else {
		x.endStrand(t, &art.answer, boundary, flags, by)
	}
	pieces := art.pieces
	art.pieces = nil
	if t.stopped {
		flags |= translate.Of(schema.FlagLate)
	}
	x.pieces(t, pieces, flags)
}

// saidBefore reports whether a late chunk says only what the artifact has said: its task is no longer
// counted, and the chunk may be a push that comes late.
func (x *fold) saidBefore(art *artifact, v jsontree.Value) bool {
	for _, part := range x.parts(v) {
		kind, value := wire.ReadPart(part)
		text, _ := value.Text()
		if kind != wire.TextPart || !strings.Contains(art.answer.current(), text) && !strings.Contains(art.thought.current(), text) {
			return false
		}
	}
	return true
}
