// Package files reads what can be imported as the frames of one capture: steno capture files, plain
// JSON-RPC lines of ACP, and exports of acp-devtools.
//
// Which of them a file is, its content says, never its name. Files are streamed: memory holds one
// frame. Around a file that has none, the same open and close frames are put on every reading, so
// that what is translated and what is imported are the same frames.
package files
