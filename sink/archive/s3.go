package archive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// S3Options of a bucket.
type S3Options struct {
	Region string // empty: the server's
	// Retain keeps each object under Object Lock in compliance mode for so long; 0: not. The bucket must
	// have been made with Object Lock.
	Retain time.Duration
	// LegalHold puts each object under legal hold.
	LegalHold bool
}

// S3 is an archive in a bucket, or below a prefix in one. The server must refuse a PUT with If-None-Match
// where there is an object, and one with If-Match where it is another one, as AWS, MinIO and others do.
type S3 struct {
	client *minio.Client
	bucket string
	prefix string
	o      S3Options
}

var _ Store = (*S3)(nil)

// OpenS3 opens an archive by its URL: s3://bucket/prefix on AWS, or s3+http://host:port/bucket/prefix and
// s3+https://… on another server. Credentials come from the environment (AWS_ACCESS_KEY_ID,
// AWS_SECRET_ACCESS_KEY), from ~/.aws/credentials, or from the machine's role.
func OpenS3(address string, o S3Options) (*S3, error) {
	s, err := openS3(address, o)
	if err != nil {
		return nil, fmt.Errorf("open archive %s: %w", address, err)
	}
	return s, nil
}

func openS3(address string, o S3Options) (*S3, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	endpoint, path := u.Host, strings.TrimPrefix(u.Path, "/")
	switch u.Scheme {
	case "s3":
		endpoint, path = "s3.amazonaws.com", u.Host+"/"+path
	case "s3+http", "s3+https":
	default:
		return nil, errors.New("want s3://bucket/prefix, or s3+https://host/bucket/prefix")
	}
	bucket, prefix, _ := strings.Cut(path, "/")
	if endpoint == "" || bucket == "" {
		return nil, errors.New("it names no bucket: want s3://bucket/prefix, or s3+https://host/bucket/prefix")
	}
	client, err := minio.New(endpoint, &minio.Options{
		Creds: credentials.NewChainCredentials([]credentials.Provider{
			&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}, &credentials.IAM{},
		}),
		Secure: u.Scheme != "s3+http", Region: o.Region,
	})
	if err != nil {
		return nil, err
	}
	if prefix = strings.Trim(prefix, "/"); prefix != "" {
		prefix += "/"
	}
	return &S3{client, bucket, prefix, o}, nil
}

// String implements Store.
func (s *S3) String() string { return "s3://" + s.bucket + "/" + strings.TrimSuffix(s.prefix, "/") }

// Put implements Store.
func (s *S3) Put(ctx context.Context, name string, data []byte) error {
	options := s.options()
	options.SetMatchETagExcept("*") // If-None-Match
	return s.write(ctx, name, data, options, ErrExists)
}

// Replace implements Store. Between the look at the old object and the write its ETag tells whether it is
// still the same.
func (s *S3) Replace(ctx context.Context, name string, old, data []byte) error {
	options := s.options()
	if old == nil {
		options.SetMatchETagExcept("*")
		return s.write(ctx, name, data, options, ErrChanged)
	}
	object, err := s.client.GetObject(ctx, s.bucket, s.prefix+name, minio.GetObjectOptions{})
	if err != nil {
		return s.failed("read", name, err)
	}
	have, err := io.ReadAll(object)
	info, statErr := object.Stat()
	if err := errors.Join(err, statErr, object.Close()); err != nil {
		return s.failed("read", name, err)
	}
	if !bytes.Equal(have, old) {
		return ErrChanged
	}
	options.SetMatchETag(info.ETag)
	return s.write(ctx, name, data, options, ErrChanged)
}

// options are those of every write. In several parts the condition would be lost.
func (s *S3) options() minio.PutObjectOptions {
	o := minio.PutObjectOptions{DisableMultipart: true, SendContentMd5: true, ContentType: "application/octet-stream"}
	if s.o.Retain > 0 {
		o.Mode, o.RetainUntilDate = minio.Compliance, time.Now().Add(s.o.Retain).UTC()
	}
	if s.o.LegalHold {
		o.LegalHold = minio.LegalHoldEnabled
	}
	return o
}

func (s *S3) write(ctx context.Context, name string, data []byte, o minio.PutObjectOptions, refused error) error {
	_, err := s.client.PutObject(ctx, s.bucket, s.prefix+name, bytes.NewReader(data), int64(len(data)), o)
	switch minio.ToErrorResponse(err).StatusCode {
	case http.StatusPreconditionFailed, http.StatusConflict: // 409: another write of the name was under way
		return fmt.Errorf("write %s into archive %s: %w", name, s, refused)
	}
	if err != nil {
		return s.failed("write", name, err)
	}
	return nil
}

func (s *S3) failed(verb, name string, err error) error {
	if minio.ToErrorResponse(err).Code == minio.NoSuchKey {
		err = ErrNotFound
	}
	return fmt.Errorf("%s %s in archive %s: %w", verb, name, s, err)
}

// Open implements Store.
func (s *S3) Open(ctx context.Context, name string) (io.ReadCloser, error) {
	object, err := s.client.GetObject(ctx, s.bucket, s.prefix+name, minio.GetObjectOptions{})
	if err == nil {
		_, err = object.Stat()
	}
	if err != nil {
		return nil, s.failed("open", name, err)
	}
	return object, nil
}

// List implements Store.
func (s *S3) List(ctx context.Context, prefix string) iter.Seq2[Listed, error] {
	return func(yield func(Listed, error) bool) {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		for o := range s.client.ListObjectsIter(ctx, s.bucket, minio.ListObjectsOptions{Prefix: s.prefix + prefix, Recursive: true}) {
			if o.Err != nil {
				yield(Listed{}, fmt.Errorf("list archive %s: %w", s, o.Err))
				return
			}
			if !yield(Listed{Name: strings.TrimPrefix(o.Key, s.prefix), Bytes: o.Size}, nil) {
				return
			}
		}
	}
}
