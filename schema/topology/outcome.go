package topology

import (
	"errors"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Outcome is what a publish's answer says about the message.
type Outcome int

// Outcomes.
const (
	// Unknown: it may be stored or not, now or a little later. Read the subject before going on.
	Unknown Outcome = iota
	// Stored: a clean ack.
	Stored
	// Refused by the fence: the subject's last message is not the expected one. It may be one's own,
	// stored by an append whose answer was lost.
	Refused
	// Busy: another write on the subject is under way, or has just been. Try again as it is.
	Busy
	// TooMany: the server has as many open batches as it takes. Append one by one, or later.
	TooMany
	// Never: the message is of a kind that the stream cannot store, however often it is tried.
	Never
)

// String names the outcome.
func (o Outcome) String() string {
	return [...]string{"unknown", "stored", "refused", "busy", "too many batches", "never"}[o]
}

// Server error codes that a writer tells apart.
const (
	codeMessageTooLarge  jetstream.ErrorCode = 10054
	codeWrongLast        jetstream.ErrorCode = 10071
	codeHeaderTooLarge   jetstream.ErrorCode = 10097
	codeWriteUnderWay    jetstream.ErrorCode = 10164
	codeBatchesDisabled  jetstream.ErrorCode = 10174
	codeBatchTooLarge    jetstream.ErrorCode = 10199
	codeTooManyBatches   jetstream.ErrorCode = 10210
	codeTooManyFastBatch jetstream.ErrorCode = 10211
)

// Classify reads the error of a fenced publish or batch; nil is Stored. Whatever it does not know
// is Unknown, which is always safe.
func Classify(err error) Outcome {
	if err == nil {
		return Stored
	}
	if errors.Is(err, nats.ErrMaxPayload) || errors.Is(err, nats.ErrHeadersNotSupported) {
		return Never
	}
	var api *jetstream.APIError
	var js jetstream.JetStreamError
	if !errors.As(err, &api) && errors.As(err, &js) {
		api = js.APIError()
	}
	if api == nil {
		return Unknown
	}
	switch api.ErrorCode {
	case codeWrongLast:
		return Refused
	case codeWriteUnderWay:
		return Busy
	case codeTooManyBatches, codeTooManyFastBatch:
		return TooMany
	case codeMessageTooLarge, codeHeaderTooLarge, codeBatchesDisabled, codeBatchTooLarge:
		return Never
	}
	return Unknown
}
