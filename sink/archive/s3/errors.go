package s3

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/minio/minio-go/v7"

	"github.com/steno-io/steno/sink/archive"
)

// What a server, or its lack, can be told apart by.
var (
	// ErrUnreachable: nobody answers, or only that it cannot now.
	ErrUnreachable = errors.New("the S3 server does not answer")
	// ErrDenied: credentials or region are wrong, or do not suffice.
	ErrDenied = errors.New("the S3 server refuses access")
	// ErrBucket: there is no such bucket; none is ever made.
	ErrBucket = errors.New("there is no such bucket, and steno makes none")
	// ErrUnfit: the server does not keep to the conditions of writes.
	ErrUnfit = errors.New("the S3 server cannot hold an archive")
	// ErrNoLock: the bucket keeps no locks.
	ErrNoLock = errors.New("the bucket was made without Object Lock")
)

// failed says what is done about an error of the library.
func (s *Store) failed(err error) error {
	answer := minio.ToErrorResponse(err)
	said := err
	if answer.Code != "" {
		said = fmt.Errorf("%s: %w", answer.Code, err)
	}
	switch answer.Code {
	case minio.NoSuchKey:
		return archive.ErrNotFound
	case minio.NoSuchBucket:
		return ErrBucket
	case minio.AuthorizationHeaderMalformed, minio.InvalidRegion, "PermanentRedirect":
		return fmt.Errorf("%w: %w (give its region: &region=name, or AWS_REGION)", ErrDenied, said)
	}
	switch status := answer.StatusCode; {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case status == http.StatusForbidden, status == http.StatusUnauthorized:
		return fmt.Errorf("%w: %w%s", ErrDenied, said, s.hint())
	case status == http.StatusNotImplemented:
		return fmt.Errorf("%w: %w", ErrUnfit, said)
	case status == http.StatusTooManyRequests, status >= http.StatusInternalServerError:
		return fmt.Errorf("%w: %w", ErrUnreachable, said)
	case status == 0 && answer.Code == "":
		return fmt.Errorf("%w: %w", ErrUnreachable, said)
	}
	return said
}

// hint says what access takes.
func (s *Store) hint() string {
	if have, err := s.client.GetCreds(); err != nil || have.AccessKeyID == "" {
		return " (no credentials were found: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE of ~/.aws/credentials)"
	}
	return " (reading takes s3:ListBucket and s3:GetObject; writing s3:PutObject, and s3:PutObjectRetention or s3:PutObjectLegalHold for locks)"
}
