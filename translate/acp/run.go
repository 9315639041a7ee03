package acp

import (
	"encoding/base64"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/translate"
)

// runLines is how many lines one joined Raw holds at most.
const runLines = 64

// run is a run of lines that are no protocol: noise on stdout or stdin, or stderr. They join until a
// frame of another kind or side, runLines, or a size that a Raw does not hold itself.
type run struct {
	source string
	from   schema.From
	frames []schema.Range
	lines  int
	data   []byte
	flags  translate.FlagSet
}

// join adds the frame to the run of its kind.
func (x *fold) join(source string) {
	f := x.frame
	if x.run.source != source || x.run.from != f.From || base64.StdEncoding.EncodedLen(len(x.run.data)+len(f.Data)+1) > translate.MaxInlineValue-16 {
		x.endRun()
	}
	x.run.source, x.run.from = source, f.From
	x.run.frames = translate.AddFrame(x.run.frames, f.Seq)
	x.run.lines++
	x.run.flags |= x.flags
	if base64.StdEncoding.EncodedLen(len(f.Data)+1) > translate.MaxInlineValue-16 {
		x.emit(x.sessions[0], &schema.Raw{Source: source, Value: translate.Reference(f)}, x.run.frames, x.run.flags)
		x.run = run{}
		return
	}
	x.run.data = append(x.run.data, f.Data...)
	if f.End == schema.EndLF {
		x.run.data = append(x.run.data, '\n')
	}
	if x.run.lines == runLines {
		x.endRun()
	}
}

// endRun gives the run that is open, if any.
func (x *fold) endRun() {
	if x.run.lines == 0 {
		return
	}
	r := x.run
	x.run = run{}
	x.emit(x.sessions[0], &schema.Raw{Source: r.source, Value: translate.Base64(r.data)}, r.frames, r.flags)
}
