// Package s3 keeps an archive in an S3 bucket, below a prefix in it if one is named.
package s3

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/steno-io/steno/sink/archive"
)

// Options of a store.
type Options struct {
	// Write opens it for writing, too: the server is then asked whether it keeps to the conditions of
	// writes, and one that does not is refused with ErrUnfit.
	Write bool
	// Lock is put on each object that is never replaced, which are all but the head of a log of seals.
	Lock Lock
}

// Store is an archive in a bucket. The server must refuse a PUT with If-None-Match where there is an
// object, and one with If-Match where it is another one, as AWS and many others do.
type Store struct {
	client minio.Core
	at     address
	lock   Lock
}

var _ archive.Store = (*Store)(nil)

// Bounds on a server that does not answer.
const (
	dialTimeout = 10 * time.Second
	requests    = 6 // how often a request is sent that the server did not decide on
)

// Open opens an archive by its address, s3://bucket/prefix?endpoint=URL&region=NAME, of which all but the
// bucket may be left out: endpoint and region then come from AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL,
// AWS_REGION and AWS_DEFAULT_REGION, or it is AWS. Credentials come from AWS_ACCESS_KEY_ID and
// AWS_SECRET_ACCESS_KEY, from ~/.aws/credentials (AWS_PROFILE), or are the machine's role; where there
// are none, requests are anonymous. Nothing is asked of the server unless it is opened for writing.
// Errors, also of its methods: ErrAddress, ErrUnreachable, ErrDenied, ErrBucket, ErrUnfit, ErrNoLock.
func Open(ctx context.Context, name string, o Options) (*Store, error) {
	at, err := parse(name, os.Getenv)
	if err != nil {
		return nil, fmt.Errorf("open archive: %w", err)
	}
	s, err := open(at, o)
	if err == nil && o.Write {
		err = s.fit(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("open archive %s: %w", at, err)
	}
	return s, nil
}

func open(at address, o Options) (*Store, error) {
	if err := o.Lock.check(); err != nil {
		return nil, err
	}
	transport, err := minio.DefaultTransport(at.secure)
	if err != nil {
		return nil, err
	}
	transport.DialContext = (&net.Dialer{Timeout: dialTimeout}).DialContext
	client, err := minio.New(at.endpoint, &minio.Options{
		Creds: keys(at), Secure: at.secure, Region: at.region, Transport: witness{transport}, MaxRetries: requests,
	})
	if err != nil {
		return nil, err
	}
	return &Store{minio.Core{Client: client}, at, o.Lock}, nil
}

// keys are the standard places of credentials. Only AWS, or who says so, has a role for the machine: to
// look for one elsewhere is to wait for an address that nobody has.
func keys(at address) *credentials.Credentials {
	chain := []credentials.Provider{&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}}
	role := first(os.Getenv("AWS_WEB_IDENTITY_TOKEN_FILE"),
		os.Getenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"), os.Getenv("AWS_CONTAINER_CREDENTIALS_FULL_URI"))
	if at.endpoint == amazon || role != "" {
		chain = append(chain, &credentials.IAM{Client: &http.Client{Timeout: dialTimeout}, Region: at.region})
	}
	return credentials.NewChainCredentials(chain)
}

// String implements archive.Store.
func (s *Store) String() string { return s.at.String() }
