// Package api serves transcripts over HTTP: the list, events and frames as pages of JSON, what is said
// now as server-sent events, and the search. README.md has the endpoints; openapi.json, which is served
// too, all of their fields.
package api
