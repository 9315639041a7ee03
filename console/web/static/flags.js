// What the flags of events mean, one sentence each, as the schema has them.

export const flags = {
  __proto__: null,
  late: 'The frame came after its turn’s end, or after the capture’s close.',
  replayed: 'The agent sent it as history between a session/load or session/resume and its answer.',
  partial: 'The message was cut by the end of the capture or of its stream.',
  inferred: 'The event was concluded from a frame that does not say it, such as the end of a turn from an answer without its request.',
  lossy_utf8: 'The frame holds invalid UTF-8 or a lone surrogate, which reads as U+FFFD in text.',
  duplicate_key: 'An object of the frame names a key twice; the last one counts.',
  out_of_range: 'A number is outside the range that its field has.',
  unrecognised: 'The protocol’s word is not one that this translator version knows; it is kept as sent.',
  id_reused: 'The peer used the id of a message or tool that was already finished.',
  recovered: 'The frame has a byte order mark, or shares its line with other text or frames.',
  promoted: 'A part of the payload was raised to an event of its own by a named convention.',
  retry: 'The same request was sent again.',
  echo: 'The agent repeated the user’s own words.',
  from_history: 'The event was found in a snapshot’s history, not seen as it happened.',
  missing_head: 'The beginning of the message or task was never seen.',
  batch: 'The frame is a JSON-RPC batch.',
}
