package s3

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/minio/minio-go/v7"
)

// Lock is how objects are kept from being changed, by S3 Object Lock. The zero value is no lock.
type Lock struct {
	// For is how long, from when an object is put; 0: not at all.
	For time.Duration
	// Mode says who can end it before; needed with For.
	Mode Mode
	// LegalHold keeps objects until somebody takes the hold away.
	LegalHold bool
}

// Mode is a retention mode of Object Lock.
type Mode string

// Modes.
const (
	Governance Mode = "governance" // who has s3:BypassGovernanceRetention can end it before
	Compliance Mode = "compliance" // nobody can
)

func (l Lock) check() error {
	switch {
	case l.For < 0:
		return fmt.Errorf("lock for %s: want a time above 0", l.For)
	case l.For > 0 && l.Mode != Governance && l.Mode != Compliance:
		return fmt.Errorf("lock mode %q: want %s or %s", l.Mode, Governance, Compliance)
	}
	return nil
}

// options are those of every write. In several parts the condition would be lost; a checksum is what
// servers ask for with a lock.
func (l Lock) options() minio.PutObjectOptions {
	o := minio.PutObjectOptions{DisableMultipart: true, SendContentMd5: true, ContentType: "application/octet-stream"}
	if l.For > 0 {
		o.Mode = minio.Governance
		if l.Mode == Compliance {
			o.Mode = minio.Compliance
		}
		o.RetainUntilDate = time.Now().Add(l.For).UTC()
	}
	if l.LegalHold {
		o.LegalHold = minio.LegalHoldEnabled
	}
	return o
}

// lockable asks whether the bucket keeps locks. Who may not ask learns it from the first write.
func (s *Store) lockable(ctx context.Context) error {
	enabled, _, _, _, err := s.client.GetObjectLockConfig(ctx, s.at.bucket)
	answer := minio.ToErrorResponse(err)
	switch {
	case err == nil && enabled == "Enabled", answer.StatusCode == http.StatusForbidden:
		return nil
	case err == nil, answer.Code == "ObjectLockConfigurationNotFoundError", answer.StatusCode == http.StatusNotImplemented:
		return ErrNoLock
	}
	return s.failed(err)
}
