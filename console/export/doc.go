// Package export writes a transcript as one file: for people, as Markdown or as a page of HTML that needs
// nothing else, and for programs, as its stored events or its capture's frames.
package export
