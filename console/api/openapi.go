package api

import (
	_ "embed" // openapi.json
	"net/http"

	"github.com/steno-io/steno/schema"
)

//go:embed openapi.json
var openAPIText string

// OpenAPI is the API's description, in OpenAPI 3.1. It refers to event.schema.json and
// frame.schema.json beside it.
func OpenAPI() string { return openAPIText }

func openAPI() string     { return openAPIText }
func eventSchema() string { return schema.EventSchema() }
func frameSchema() string { return schema.FrameSchema() }

// document answers with a text that stays the same.
func document(text func() string) func(*Server, http.ResponseWriter, *http.Request) error {
	return func(_ *Server, w http.ResponseWriter, _ *http.Request) error {
		return write(w, http.StatusOK, []byte(text()))
	}
}
