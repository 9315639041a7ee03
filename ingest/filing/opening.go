package filing

import (
	"encoding/json"
	"fmt"

	"github.com/steno-io/steno/schema"
)

// opening is the open frame of a capture whose first frame is given: the journal's head says what
// steers its fold. It is as old as that frame.
func (p *Publisher) opening(first *schema.Frame) (*schema.Frame, error) {
	payload, err := json.Marshal(p.head.Open)
	if err != nil {
		return nil, fmt.Errorf("write open frame: %w", err)
	}
	return &schema.Frame{
		At: first.At, From: schema.FromControl, Type: schema.TypeOpen, End: schema.EndNone, Data: payload,
		Writer: schema.Writer{Journal: p.head.ID, Offset: p.o.Source.Start()},
	}, nil
}
