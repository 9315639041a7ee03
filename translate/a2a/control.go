package a2a

import (
	"encoding/json"
	"slices"

	"github.com/google/uuid"

	"github.com/steno-io/steno/schema"
	wire "github.com/steno-io/steno/schema/wire/a2a"
	"github.com/steno-io/steno/translate"
)

// control folds the tap's own frames. A close that names an exchange ends that exchange; one that
// names none ends the capture.
func (x *fold) control() {
	f := x.frame
	var t *task
	switch f.Type {
	case schema.TypeOpen:
		var info schema.OpenInfo
		if err := json.Unmarshal(f.Data, &info); err == nil { // otherwise its Raw shows what it was
			x.opened(info)
		}
	case schema.TypeClose:
		x.closed()
	case schema.TypeHTTP:
		if _, err := x.aside.Read(f.Data); err == nil { // otherwise its Raw shows what it was
			x.heralded(wire.ReadEvidence(x.aside.Root()))
		}
	case schema.TypeIntervention:
		if info, err := schema.ReadIntervention(f.Data); err == nil {
			t = x.intervened(info)
		}
	}
	x.emitHere(t, &schema.Raw{Source: "a2a/" + string(f.Type), Value: x.controlValue()}, 0)
}

func (x *fold) controlValue() schema.JSON {
	if end, err := x.reader.Read(x.frame.Data); err == nil && translate.Blank(x.frame.Data[end:]) {
		return translate.Bounded(x.frame, translate.Verbatim(x.reader.Root().Raw()))
	}
	return translate.Bounded(x.frame, translate.Base64(x.frame.Data))
}

// peerSpace is the name space of peers: one peer has one agent id in all its conversations.
func peerSpace() uuid.UUID {
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte("https://github.com/steno-io/steno/peer"))
}

func (x *fold) opened(info schema.OpenInfo) {
	x.labels = info.Labels
	if info.Peer != "" {
		x.peer = info.Peer
		x.byPeer()
	}
	p, ok := readProfile(info.Profile)
	if !ok {
		x.flags |= translate.Of(schema.FlagUnrecognised)
	}
	x.profile = p
}

func (x *fold) closed() {
	var info schema.CloseInfo
	err := json.Unmarshal(x.frame.Data, &info)
	if err != nil {
		info = schema.CloseInfo{} // its Raw shows what it was; it ends what its frame names
	}
	if info.Exchange == "" {
		info.Exchange = x.frame.Exchange
	}
	if info.Exchange != "" {
		if e := x.exchanges[info.Exchange]; e != nil {
			x.from = e
			x.closeExchange(e, info)
			x.forget(e)
		}
		return
	}
	died := info.Reason == schema.ReasonWriterDied
	x.finish(died)
	x.over, x.died, x.lost = schema.StatusEnded, false, false
	if died {
		x.over = schema.StatusAbandoned
	}
}

// heralded takes evidence that was too large to stand on its frame, which follows.
func (x *fold) heralded(evidence wire.Evidence) {
	if evidence.Served != "" {
		e := x.known(x.frame.Exchange)
		x.from, e.heralded = e, evidence.Served
		return
	}
	x.from = x.exchange(x.frame.Exchange)
	x.witness(x.from, evidence)
}

// About implements translate.Fold.
func (x *fold) About(session uint32) schema.About {
	if session != 0 || x.seq == 0 {
		return schema.About{}
	}
	about := schema.About{Agent: translate.CutAbout(x.peer), Title: x.title.heading(), Status: x.status()}
	names := make([]string, 0, len(x.labels))
	for k := range x.labels {
		names = append(names, k)
	}
	slices.Sort(names) // names that are cut may become one
	for _, k := range names {
		if about.Labels == nil {
			about.Labels = map[string]string{}
		}
		about.Labels[translate.CutAbout(k)] = translate.CutAbout(x.labels[k])
	}
	return about
}
