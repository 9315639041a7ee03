package render

import (
	"strings"

	"github.com/steno-io/steno/console/reading"
	"github.com/steno-io/steno/schema"
)

// raw writes what only a Raw says; what another event shows as well is counted.
func (r *Renderer) raw(e *schema.Event, k *schema.Raw) {
	if r.o.Raw {
		r.rawWhole(e, k)
		return
	}
	switch said := r.reader.Says(e, k); said.As {
	case reading.Elsewhere:
		r.hidden++
		if !r.whole {
			r.toolTold(e, k)
		}
	case reading.APlan:
		r.plan(e, k)
	case reading.APermission:
		r.permission(e, k)
	case reading.ADecision:
		r.decision(e, k)
	case reading.ANoise:
		r.noise(e, k, said.What)
	case reading.APart:
		r.part(e, said.What)
	case reading.AFault:
		r.fault = e // its Stop or its note says it
	case reading.ABeginning:
		r.began(e, said)
	default:
		r.says(e, said)
	}
}

// says writes one line. What is minor waits for the end of what is being typed.
func (r *Renderer) says(e *schema.Event, said reading.Said) {
	if said.As == reading.AMinorLine && r.typing != nil {
		r.later = append(r.later, e)
		return
	}
	r.line(styleOf(said.Tone), said.Mark, said.What, said.More, e)
}

func (r *Renderer) rawWhole(e *schema.Event, k *schema.Raw) {
	r.lines()
	r.page.put(dim, reading.MarkNote+" "+reading.OneLine(k.Source))
	r.edge(e)
	defer r.page.inside(PartBody)()
	text := string(k.Value)
	if decoded, ok := reading.Unbase64(k.Value); ok {
		text = decoded
	}
	r.page.block(rail, dim, dim, strings.TrimRight(text, "\n"))
}

// noise writes what stood between the frames, as text.
func (r *Renderer) noise(e *schema.Event, k *schema.Raw, what string) {
	text, _ := reading.Unbase64(k.Value)
	r.head(dim, what, e)
	defer r.page.inside(PartBody)()
	r.excerpt(rail, dim, text)
}

var planMarks = map[string]string{"completed": reading.MarkGood, "in_progress": reading.MarkRunning}

// plan writes the agent's plan as a list.
func (r *Renderer) plan(e *schema.Event, k *schema.Raw) {
	steps, _ := reading.PlanOf(k.Value)
	r.head(dim, "plan", e)
	if len(steps) == 0 {
		r.page.block(body, dim, dim, "(nothing)")
	}
	for _, step := range steps {
		mark, s := planMarks[step.Status], plain
		if mark == "" {
			mark = reading.MarkCalled
		}
		if step.Status == "completed" {
			s = dim
		}
		r.page.block(body+mark+" ", s, s, step.Text)
	}
}
