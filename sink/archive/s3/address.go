package s3

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"strings"

	"github.com/minio/minio-go/v7/pkg/s3utils"
)

// Scheme is what an archive's address begins with.
const Scheme = "s3://"

// ErrAddress marks a text that is no archive's address.
var ErrAddress = errors.New("want s3://bucket/prefix?endpoint=https://host:port&region=name, of which the bucket is needed")

// address is where an archive is.
type address struct {
	bucket   string
	prefix   string // empty, or with a slash at its end
	endpoint string // host, or host:port
	secure   bool
	region   string // empty: the server says
}

// amazon is the endpoint where none is named.
const amazon = "s3.amazonaws.com"

// String names the place, for people. No secret is in it.
func (a address) String() string {
	name := Scheme + a.bucket
	if a.prefix != "" {
		name += "/" + strings.TrimSuffix(a.prefix, "/")
	}
	if a.endpoint == amazon {
		return name
	}
	scheme := "http"
	if a.secure {
		scheme = "https"
	}
	return fmt.Sprintf("%s at %s://%s", name, scheme, a.endpoint)
}

// parse reads an address. What it leaves out is taken from the environment: AWS_ENDPOINT_URL_S3 or
// AWS_ENDPOINT_URL, AWS_REGION or AWS_DEFAULT_REGION. Errors are ErrAddress, and do not repeat the text.
func parse(text string, env func(string) string) (address, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme+"://" != Scheme || u.Opaque != "" || u.Fragment != "" {
		return address{}, ErrAddress
	}
	if u.User != nil {
		return address{}, fmt.Errorf("%w: credentials stand in the environment or in ~/.aws/credentials, not in an address", ErrAddress)
	}
	a := address{bucket: u.Host}
	if err := s3utils.CheckValidBucketName(a.bucket); err != nil || u.Port() != "" {
		return address{}, fmt.Errorf("%w: %q is no bucket", ErrAddress, a.bucket)
	}
	if prefix := strings.Trim(u.Path, "/"); prefix != "" {
		if path.Clean("/"+prefix) != "/"+prefix {
			return address{}, fmt.Errorf("%w: prefix %q is not as a path is written", ErrAddress, prefix)
		}
		a.prefix = prefix + "/"
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return address{}, ErrAddress
	}
	for name, values := range query {
		if name != "endpoint" && name != "region" || len(values) != 1 {
			return address{}, fmt.Errorf("%w: %q is not known, or stands there twice", ErrAddress, name)
		}
	}
	a.region = first(query.Get("region"), env("AWS_REGION"), env("AWS_DEFAULT_REGION"))
	endpoint := first(query.Get("endpoint"), env("AWS_ENDPOINT_URL_S3"), env("AWS_ENDPOINT_URL"), amazon)
	return a, a.reach(endpoint)
}

// reach reads an endpoint: a URL, or a host, which speaks TLS.
func (a *address) reach(endpoint string) error {
	if !strings.Contains(endpoint, "://") {
		endpoint = "https://" + endpoint
	}
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil ||
		strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
		return fmt.Errorf("%w: the endpoint is no http://host:port or https://host:port", ErrAddress)
	}
	a.endpoint, a.secure = u.Host, u.Scheme == "https"
	return nil
}

// first gives the first text that is not empty.
func first(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}
