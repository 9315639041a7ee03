// Package s3test holds the servers that the tests of S3 archives run on: one in memory, and a real one.
package s3test

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Fake is as much of an S3 server as an archive needs, in memory, so that requests can be hurt on their way
// and rules broken. It has one bucket, mill. Its ETags say nothing of the bytes, and signatures are not
// checked: `make s3` runs the same suite against a real server. The fields are set while no request is
// under way.
type Fake struct {
	// Hurt may answer a request by itself, before anything is done.
	Hurt func(w http.ResponseWriter, r *http.Request) bool
	// Lose says of which request the answer is lost when all is done.
	Lose func(r *http.Request) bool
	// Cut says behind how many bytes the body of an answer to a read ends; 0: nowhere.
	Cut func(r *http.Request) int
	// Careless are headers that the server does not heed.
	Careless []string
	// Locks: the bucket was made with Object Lock.
	Locks bool

	mu      sync.Mutex
	objects map[string]Object
}

// Object is an object of a Fake.
type Object struct {
	ETag string
	Data []byte
	Lock http.Header // what the request that put it said of locks
}

// The headers of Object Lock.
const (
	LockMode  = "X-Amz-Object-Lock-Mode"
	LockUntil = "X-Amz-Object-Lock-Retain-Until-Date"
	LegalHold = "X-Amz-Object-Lock-Legal-Hold"
)

// Start starts the server and gives the address of an archive below the prefix in its bucket.
func (f *Fake) Start(t *testing.T, prefix string) string {
	f.objects = map[string]Object{}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	return Address("mill/"+prefix, server.URL)
}

// Address writes the address of an archive.
func Address(place, endpoint string) string {
	return "s3://" + place + "?endpoint=" + url.QueryEscape(endpoint)
}

// Get gives an object by its key; the zero value if there is none.
func (f *Fake) Get(key string) Object {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.objects[key]
}

// Set puts an object past all rules.
func (f *Fake) Set(key string, o Object) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.objects[key] = o
}

// ServeHTTP implements http.Handler.
func (f *Fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if f.Hurt != nil && f.Hurt(w, r) {
		return
	}
	body, err := io.ReadAll(payload(r))
	if err != nil {
		Refuse(w, http.StatusBadRequest, "IncompleteBody")
		return
	}
	bucket, name, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	answer := httptest.NewRecorder()
	f.mu.Lock()
	switch {
	case bucket != "mill":
		Refuse(answer, http.StatusNotFound, "NoSuchBucket")
	case r.Method == http.MethodPut:
		f.put(answer, r, name, body)
	case name != "":
		f.read(answer, r, name)
	case r.URL.Query().Has("location"):
		fmt.Fprint(answer, `<LocationConstraint>eu-mill-1</LocationConstraint>`)
	case r.URL.Query().Has("object-lock") && f.Locks:
		fmt.Fprint(answer, `<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled></ObjectLockConfiguration>`)
	case r.URL.Query().Has("object-lock"):
		Refuse(answer, http.StatusNotFound, "ObjectLockConfigurationNotFoundError")
	default:
		f.list(answer, r.URL.Query())
	}
	f.mu.Unlock()
	if f.Lose != nil && f.Lose(r) {
		panic(http.ErrAbortHandler)
	}
	for key, values := range answer.Header() {
		w.Header()[key] = values
	}
	w.Header().Set("Content-Length", strconv.Itoa(answer.Body.Len()))
	w.WriteHeader(answer.Code)
	if r.Method == http.MethodGet && f.Cut != nil {
		if at := f.Cut(r); at > 0 && at < answer.Body.Len() {
			_, _ = w.Write(answer.Body.Bytes()[:at])
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}
	}
	_, _ = w.Write(answer.Body.Bytes())
}

func (f *Fake) put(w http.ResponseWriter, r *http.Request, name string, body []byte) {
	have, there := f.objects[name]
	match, none := f.header(r, "If-Match"), f.header(r, "If-None-Match")
	lock := http.Header{}
	for _, key := range []string{LockMode, LockUntil, LegalHold} {
		if value := r.Header.Get(key); value != "" {
			lock.Set(key, value)
		}
	}
	switch {
	case match != "" && !there:
		Refuse(w, http.StatusNotFound, "NoSuchKey")
		return
	case match != "" && match != have.ETag, none == "*" && there:
		Refuse(w, http.StatusPreconditionFailed, "PreconditionFailed")
		return
	case len(lock) > 0 && !f.Locks:
		Refuse(w, http.StatusBadRequest, "InvalidRequest")
		return
	}
	f.objects[name] = Object{`"` + rand.Text() + `"`, body, lock}
	w.Header().Set("ETag", f.objects[name].ETag)
}

// header is a request's, if the server heeds it.
func (f *Fake) header(r *http.Request, name string) string {
	if slices.Contains(f.Careless, name) {
		return ""
	}
	return r.Header.Get(name)
}

func (f *Fake) read(w http.ResponseWriter, r *http.Request, name string) {
	have, there := f.objects[name]
	if !there {
		Refuse(w, http.StatusNotFound, "NoSuchKey")
		return
	}
	w.Header().Set("ETag", have.ETag)
	http.ServeContent(w, r, "", time.Unix(1e9, 0), bytes.NewReader(have.Data))
}

// Page is how many names an answer of a server has.
const Page = 1000

func (f *Fake) list(w http.ResponseWriter, q url.Values) {
	type content struct {
		Key  string
		Size int
	}
	var out struct {
		XMLName               xml.Name `xml:"ListBucketResult"`
		IsTruncated           bool
		NextContinuationToken string
		EncodingType          string
		Contents              []content
	}
	out.EncodingType = q.Get("encoding-type")
	var names []string
	for name := range f.objects {
		if strings.HasPrefix(name, q.Get("prefix")) && name > q.Get("continuation-token") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	if out.IsTruncated = len(names) > Page; out.IsTruncated {
		names = names[:Page]
		out.NextContinuationToken = names[Page-1]
	}
	for _, name := range names {
		out.Contents = append(out.Contents, content{url.QueryEscape(name), len(f.objects[name].Data)})
	}
	_ = xml.NewEncoder(w).Encode(out)
}

// Refuse answers with an error.
func Refuse(w http.ResponseWriter, status int, code string) {
	w.WriteHeader(status)
	fmt.Fprintf(w, "<Error><Code>%s</Code><Message>no, says the mill</Message></Error>", code)
}

// payload takes the signatures out of a body that is signed in chunks.
func payload(r *http.Request) io.Reader {
	if !strings.HasPrefix(r.Header.Get("X-Amz-Content-Sha256"), "STREAMING-") {
		return r.Body
	}
	return &chunks{in: bufio.NewReader(r.Body)}
}

// chunks are lines `<bytes in hex>;chunk-signature=…`, each with its bytes and a line end behind it.
type chunks struct {
	in   *bufio.Reader
	left int64
	last bool
}

// Read implements io.Reader.
func (c *chunks) Read(p []byte) (int, error) {
	if c.left == 0 && !c.last {
		line, err := c.in.ReadString('\n')
		if err != nil {
			return 0, err
		}
		size, _, _ := strings.Cut(line, ";")
		if c.left, err = strconv.ParseInt(size, 16, 64); err != nil {
			return 0, err
		}
		c.last = c.left == 0
	}
	if c.last {
		return 0, io.EOF
	}
	n, err := c.in.Read(p[:min(int64(len(p)), c.left)])
	if c.left -= int64(n); c.left == 0 && err == nil {
		_, err = c.in.Discard(2)
	}
	return n, err
}
