package a2a

import (
	"strings"

	"github.com/steno-io/steno/schema/wire/jsontree"
)

// Evidence is what HTTP said around a frame: the request line on requests, the status and content type
// on answers, the event's own fields on items of a stream. It is the object of a frame's http.
type Evidence struct {
	Method      string            `json:"method,omitempty"` // GET, POST …
	Path        string            `json:"path,omitempty"`   // with the query
	Status      int               `json:"status,omitempty"`
	ContentType string            `json:"content_type,omitempty"`
	Version     string            `json:"a2a_version,omitempty"` // the A2A-Version header as sent
	SSEEvent    string            `json:"sse_event,omitempty"`
	SSEID       string            `json:"sse_id,omitempty"`
	Headers     map[string]string `json:"headers,omitempty"` // others that were recorded, names in lower case
	Masked      []string          `json:"masked,omitempty"`  // what was masked before it was recorded
	Bytes       uint64            `json:"bytes,omitempty"`   // length of a request's body, as recorded
	// Served marks a copy: what a proxy made, in that version, of what its sender had sent.
	Served string `json:"served,omitempty"`
}

// ReadEvidence reads evidence; what is missing or of another type stays zero.
func ReadEvidence(v jsontree.Value) Evidence {
	e := Evidence{
		Method: Text(v, "method"), Path: Text(v, "path"), ContentType: Text(v, "contentType"),
		Version: Text(v, "a2aVersion"), SSEEvent: Text(v, "sseEvent"), SSEID: Text(v, "sseId"),
		Served: Text(v, "served"),
	}
	for _, c := range Field(v, "status").Raw() {
		if c < '0' || c > '9' || e.Status > 999 {
			e.Status = 0
			break
		}
		e.Status = e.Status*10 + int(c-'0')
	}
	return e
}

// ReadVersion reads an A2A-Version header leniently: the first of a list, major and minor only. It is
// empty for a version that is not one of the dialects.
func ReadVersion(header string) Dialect {
	first, _, _ := strings.Cut(header, ",")
	first = strings.TrimPrefix(strings.TrimSpace(first), "v")
	switch {
	case first == "1" || first == "1.0" || strings.HasPrefix(first, "1."):
		return V10
	case first == "0.3" || strings.HasPrefix(first, "0.3.") || first == "0.2" || strings.HasPrefix(first, "0.2."):
		return V03
	case first == "0.1" || strings.HasPrefix(first, "0.1."):
		return V01
	}
	return ""
}
