// Package capturefile reads and writes the capture file: one frame a line, as a JSON object.
//
//	{"seq":1,"at":"2026-11-29T20:00:00.000000001Z","from":"client","type":"data","protocol":"acp",
//	 "text":"{…}","end":"lf","exchange":"…","no":0,"chan":"request","http":{…}}
//
// (on one line). A frame's bytes stand in text where they are valid UTF-8, in b64 (standard base64
// with padding) where they are not; exactly one of the two is there. For control frames, whose type
// is not data, they are a JSON object.
//
// What is missing gets a default, so that hand-written files stay short:
//
//	type      data
//	from      control, where type is not data; a data frame must say client, agent or stderr
//	protocol  that of the first line: its own, or its open payload's, or acp
//	seq       the line's number
//	at        1970-01-01T00:00:00Z plus seq milliseconds
//	end       lf for data frames of ACP, none for A2A and for control frames
//
// Blank lines are skipped and a byte order mark before the first line is tolerated. Everything else
// is strict: a name or word that is not listed here, a name given twice, a null, another protocol
// than the first line's, and a seq that does not count up by one are errors that name file and line.
//
// HTTP evidence that readers of JSON do not give back as it stands (a member twice, a lone surrogate, white
// space behind it, more than 100 objects and arrays) is in http_b64.
//
// Lines of an archive also have what the append gave the frame: blob (its bytes are then there or in
// the archive's blobs), salt, writer and chain. There control frames hold whatever the stream held.
package capturefile
