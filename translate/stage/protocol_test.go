package stage_test

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/translate"
	"github.com/steno-io/steno/translate/state"
)

// words is a small protocol of its own. A data frame is a line:
//
//	say SESSION TEXT    a delta; the text joins the session's open message
//	tool SESSION NAME   the open message if there is one, a call, a result
//	end SESSION         the open message if there is one, a stop
//	title SESSION TEXT  a note, and the session's title
//	panic
//
// Control frames give a Raw; close ends all messages, and the capture until the next line.
type words struct {
	version string
	loud    bool // another version says everything in capitals
}

func (w words) Version() string { return w.version }

func (w words) Fold(id schema.Identity) translate.Fold { return w.fold(id) }

func (w words) fold(id schema.Identity) *wordsFold {
	return &wordsFold{words: w, stamp: translate.NewStamp(id), open: map[uint32]*wordsMessage{}, titles: map[uint32]string{}}
}

var wordsForm = state.NewForm[wordsFold]("words")

func (f *wordsFold) AppendState(dst []byte) []byte { return wordsForm.Append(dst, f) }

func (w words) Restore(id schema.Identity, data []byte) (translate.Fold, error) {
	f := w.fold(id)
	if err := wordsForm.Load(f, data); err != nil {
		return nil, err
	}
	return f, nil
}

func catalogue() *translate.Catalogue {
	return translate.NewCatalogue(map[schema.Protocol]translate.Translator{schema.ACP: words{version: "words/1"}})
}

type wordsMessage struct {
	id     string
	text   string
	frames []schema.Range
	next   uint64
}

type wordsFold struct {
	words    `state:"-"`
	stamp    translate.Stamp
	open     map[uint32]*wordsMessage
	sessions uint32 // highest
	titles   map[uint32]string
	closed   bool
}

func (f *wordsFold) emit(session uint32, kind schema.Kind, ephemeral bool, frames []schema.Range) {
	f.stamp.Emit(session, schema.Source{Protocol: schema.ACP, Dialect: "1", Translator: f.version}, kind, ephemeral, frames, nil)
}

func (f *wordsFold) Step(dst []schema.Event, frame *schema.Frame) []schema.Event {
	f.stamp.Begin(dst, frame)
	here := []schema.Range{{frame.Seq, frame.Seq}}
	if frame.Type != schema.TypeData {
		if frame.Type == schema.TypeClose {
			f.closed = true
			for session := uint32(0); session <= f.sessions; session++ {
				f.flush(session, schema.BoundaryEnd)
			}
		}
		f.emit(0, &schema.Raw{Source: "acp/" + string(frame.Type), Value: schema.AppendCompact(nil, frame.Data)}, false, here)
		return f.stamp.Done()
	}
	f.closed = false
	verb, rest, _ := strings.Cut(string(frame.Data), " ")
	number, text, _ := strings.Cut(rest, " ")
	n, _ := strconv.Atoi(number)
	session := uint32(n)
	f.sessions = max(f.sessions, session)
	if f.loud {
		text = strings.ToUpper(text)
	}
	switch verb {
	case "say":
		m := f.open[session]
		if m == nil {
			m = &wordsMessage{id: fmt.Sprintf("m%d", frame.Seq)}
			f.open[session] = m
		}
		m.text += text
		m.frames = append(m.frames, here[0])
		f.emit(session, &schema.Delta{MessageID: m.id, Index: m.next, TextFragment: text}, true, here)
		m.next++
	case "tool":
		f.flush(session, schema.BoundaryToolCall)
		id := fmt.Sprintf("t%d", frame.Seq)
		f.emit(session, &schema.ToolCall{Tool: text, CallID: id, Input: schema.JSON(`{"a":1}`)}, false, here)
		f.emit(session, &schema.ToolResult{CallID: id, Output: schema.JSON(`"ok"`)}, false, here)
	case "end":
		f.flush(session, schema.BoundaryTurnEnd)
		f.emit(session, &schema.Stop{Reason: schema.StopEndTurn}, false, here)
	case "title":
		f.titles[session] = text
		f.emit(session, &schema.Progress{Detail: &schema.Note{Text: text}}, false, here)
	case "panic":
		panic("a fault of the fold")
	default:
		f.emit(session, &schema.Raw{Source: "acp/noise", Value: schema.AppendString(nil, string(frame.Data))}, false, here)
	}
	return f.stamp.Done()
}

func (f *wordsFold) flush(session uint32, why schema.Boundary) {
	m := f.open[session]
	if m == nil {
		return
	}
	delete(f.open, session)
	f.emit(session, &schema.Message{Role: schema.Assistant, Text: m.text, MessageID: m.id,
		Channel: schema.Answer, Boundary: why}, false, m.frames)
}

func (f *wordsFold) End(dst []schema.Event) []schema.Event { return dst }

func (f *wordsFold) Open() translate.Open {
	var open translate.Open
	for session := uint32(0); session <= f.sessions; session++ {
		if m := f.open[session]; m != nil {
			open.Messages = append(open.Messages, translate.OpenMessage{Session: session, MessageID: m.id, Role: schema.Assistant,
				Channel: schema.Answer, Text: m.text, Next: m.next})
			if open.Frames == nil {
				open.Frames = map[uint32]uint64{}
			}
			open.Frames[session] = uint64(len(m.frames))
		}
	}
	return open
}

func (f *wordsFold) About(session uint32) schema.About {
	about := schema.About{Agent: "words", Title: f.titles[session], Status: schema.StatusOpen}
	if f.closed {
		about.Status = schema.StatusEnded
	}
	return about
}
