package schema

// Flag marks what was inferred or odd about an event. The list is closed; each has one sentence.
type Flag string

// The flags.
const (
	// FlagLate: the frame came after its turn's end, or after the capture's close.
	FlagLate Flag = "late"
	// FlagReplayed: the agent sent it as history between a session/load or session/resume and its answer.
	FlagReplayed Flag = "replayed"
	// FlagPartial: the message was cut by the end of the capture or of its stream.
	FlagPartial Flag = "partial"
	// FlagInferred: the event was concluded from a frame that does not say it, such as the end of a turn from an answer without its request.
	FlagInferred Flag = "inferred"
	// FlagLossyUTF8: the frame holds invalid UTF-8 or a lone surrogate, which reads as U+FFFD in text.
	FlagLossyUTF8 Flag = "lossy_utf8"
	// FlagDuplicateKey: an object of the frame names a key twice; the last one counts.
	FlagDuplicateKey Flag = "duplicate_key"
	// FlagOutOfRange: a number is outside the range that its field has.
	FlagOutOfRange Flag = "out_of_range"
	// FlagUnrecognised: the protocol's word is not one that this translator version knows; it is kept as sent.
	FlagUnrecognised Flag = "unrecognised"
	// FlagIDReused: the peer used the id of a message or tool that was already finished.
	FlagIDReused Flag = "id_reused"
	// FlagRecovered: the frame has a byte order mark, or shares its line with other text or frames.
	FlagRecovered Flag = "recovered"
	// FlagPromoted: a part of the payload was raised to an event of its own by a named convention.
	FlagPromoted Flag = "promoted"
	// FlagRetry: the same request was sent again.
	FlagRetry Flag = "retry"
	// FlagEcho: the agent repeated the user's own words.
	FlagEcho Flag = "echo"
	// FlagFromHistory: the event was found in a snapshot's history, not seen as it happened.
	FlagFromHistory Flag = "from_history"
	// FlagMissingHead: the beginning of the message or task was never seen.
	FlagMissingHead Flag = "missing_head"
	// FlagBatch: the frame is a JSON-RPC batch.
	FlagBatch Flag = "batch"
)

// Flags lists every flag, in the order in which an event names them.
var Flags = []Flag{
	FlagLate, FlagReplayed, FlagPartial, FlagInferred, FlagLossyUTF8, FlagDuplicateKey, FlagOutOfRange,
	FlagUnrecognised, FlagIDReused, FlagRecovered, FlagPromoted, FlagRetry, FlagEcho, FlagFromHistory,
	FlagMissingHead, FlagBatch,
}
