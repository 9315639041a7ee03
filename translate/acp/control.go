package acp

import (
	"encoding/json"
	"maps"
	"path"
	"slices"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/jsontree"
	"github.com/steno-io/steno/translate"
)

// control folds the tap's own frames.
func (x *fold) control() {
	x.endRun()
	f := x.frame
	s := x.sessions[0]
	switch f.Type {
	case schema.TypeOpen:
		var info schema.OpenInfo
		if err := json.Unmarshal(f.Data, &info); err == nil { // otherwise its Raw shows what it was
			x.opened(info)
		}
	case schema.TypeClose:
		x.finish()
		x.ended()
	case schema.TypeDecision:
		var info schema.DecisionInfo
		if err := json.Unmarshal(f.Data, &info); err == nil {
			s = x.decided(info)
		}
	case schema.TypeIntervention:
		if info, err := schema.ReadIntervention(f.Data); err == nil {
			s = x.intervened(info)
		}
	}
	value := translate.Base64(f.Data)
	if end, err := x.reader.Read(f.Data); err == nil && translate.Blank(f.Data[end:]) {
		value = x.value(x.reader.Root())
	}
	x.rawHere(s, "acp/"+string(f.Type), value, 0)
}

func (x *fold) opened(info schema.OpenInfo) {
	x.labels, x.policy = info.Labels, info.Permissions
	if x.agent == "" && len(info.Command) > 0 {
		x.agent = path.Base(info.Command[0])
	}
}

func (x *fold) ended() {
	x.status, x.closed = schema.StatusEnded, true
	var info schema.CloseInfo
	if err := json.Unmarshal(x.frame.Data, &info); err == nil && info.Reason == schema.ReasonWriterDied {
		x.status = schema.StatusAbandoned
	}
}

// initialized takes the dialect from what the agent answered: 2, or 1 for anything else.
func (x *fold) initialized(result jsontree.Value) {
	x.dialect = dialect1
	if string(result.Get("protocolVersion").Raw()) == dialect2 {
		x.dialect = dialect2
	}
	info := result.Get("agentInfo")
	if x.upserts() {
		info = result.Get("info")
	}
	if name, ok := info.Get("name").Text(); ok {
		x.agent = name
	}
}

// titled takes a session's title; null clears it.
func (x *fold) titled(s *session, title jsontree.Value) { patch(&s.title, title) }

// patch takes over what an upsert says of a text: absent leaves it, null clears it, a string replaces it.
// Anything else leaves it too.
func patch(text *string, v jsontree.Value) {
	if next, ok := v.Text(); ok || v.Present() && !v.Given() {
		*text = next
	}
}

// About implements translate.Fold.
func (x *fold) About(ordinal uint32) schema.About {
	if int(ordinal) >= len(x.sessions) {
		return schema.About{}
	}
	s := x.sessions[ordinal]
	about := schema.About{
		Agent: translate.CutAbout(x.agent), Title: translate.CutAbout(s.title), Cwd: translate.CutAbout(s.cwd),
		Status: x.status,
	}
	for _, k := range slices.Sorted(maps.Keys(x.labels)) { // two may be cut to one: the last counts
		if about.Labels == nil {
			about.Labels = map[string]string{}
		}
		about.Labels[translate.CutAbout(k)] = translate.CutAbout(x.labels[k])
	}
	return about
}
