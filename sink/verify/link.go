package verify

import (
	"fmt"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

// links holds the frames of one capture together: their numbers, and the chain over their bytes and headers. It
// needs no fold, and a lane does it beside folding the frames before.
type links struct {
	leaf  func(frame uint64, leaf [32]byte) // nil: nobody wants to know
	info  sink.CaptureInfo
	last  uint64 // number of the frame before
	chain string // its chain
	over  bool   // the frames are not the capture's any more
}

// linked is what was found of a frame.
type linked struct {
	foreign  bool // it is not the capture's
	findings []Finding
}

func (l *linked) find(problem Problem, frame uint64, detail string, args ...any) {
	l.findings = append(l.findings, Finding{Problem: problem, Frame: frame, Detail: fmt.Sprintf(detail, args...)})
}

// frame takes the capture's next frame.
func (l *links) frame(f *schema.Frame) linked {
	out := l.number(f)
	if !out.foreign {
		l.check(f, &out)
		l.chain = f.Chain
	}
	return out
}

// unreadable takes a frame that is stored and cannot be had. Where its headers can be read, those behind it can be
// checked; without its number and its chain nothing behind it can be told.
func (l *links) unreadable(f *schema.Frame) linked {
	if f == nil {
		out := linked{foreign: l.over}
		l.over = true
		return out
	}
	out := l.number(f)
	if !out.foreign {
		l.chain = f.Chain
	}
	return out
}

// number takes the next number; behind a wrong one nothing is the capture's.
func (l *links) number(f *schema.Frame) (out linked) {
	if l.over {
		return linked{foreign: true}
	}
	if want := l.last + 1; f.Seq != want {
		out.find(Numbers, f.Seq, "want frame %d, got frame %d", want, f.Seq)
		out.foreign, l.over = true, true
		return out
	}
	l.last = f.Seq
	return out
}

// check holds a frame's chain against its bytes, headers and predecessor, and the last one's against the ledger.
func (l *links) check(f *schema.Frame, out *linked) {
	good := false
	leaf, err := schema.Leaf(f.Salt, f.Data)
	if err == nil {
		good, err = schema.Chained(l.chain, leaf, f)
	}
	if err == nil && l.leaf != nil {
		l.leaf(f.Seq, leaf)
	}
	if err == nil && !good {
		want, _ := schema.ChainLeaf(l.chain, leaf, f) // it could be made
		err = fmt.Errorf("chain is %q, its bytes, headers and predecessor give %q", f.Chain, want)
	}
	if err != nil {
		out.find(BrokenChain, f.Seq, "%v", err)
	}
	if f.Seq == l.info.Last.Frame && l.info.Chain != f.Chain {
		out.find(BrokenChain, f.Seq, "with its event chain %q is stored, the frame says %q", l.info.Chain, f.Chain)
	}
}
