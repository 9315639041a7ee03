package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"time"
)

// Bounds of what is fetched.
const (
	maxBundle     = 8 << 30 // bytes
	maxRedirects  = 5
	fetchPatience = time.Minute // until a server begins to answer, or goes on
)

// errFetch marks a web server that does not answer, or only that it cannot.
var errFetch = errors.New("the server does not answer")

// fetchBundle fetches a bundle into a temporary file, and gives its name and the address as it may be shown:
// a query may be a signature, and a user part a password.
func fetchBundle(ctx context.Context, address string) (file, shown string, err error) {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" {
		return "", "", usage("open archive: want https://host/bundle.tar")
	}
	shown = u.Scheme + "://" + u.Host + u.EscapedPath()
	if file, err = fetch(ctx, u, maxBundle, fetchPatience); err != nil {
		return "", "", fmt.Errorf("fetch %s: %w", shown, err)
	}
	return file, shown, nil
}

// fetch writes at most limit bytes of what is at a URL into a temporary file, unless for so long none comes.
func fetch(ctx context.Context, u *url.URL, limit int64, patience time.Duration) (name string, err error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return "", err
	}
	answer, err := fetcher().Do(r)
	if err != nil {
		return "", fetchError(err)
	}
	defer func() { err = errors.Join(err, answer.Body.Close()) }()
	if answer.StatusCode >= http.StatusInternalServerError {
		return "", fmt.Errorf("%w: %s", errFetch, answer.Status)
	}
	if answer.StatusCode != http.StatusOK {
		return "", errors.New(answer.Status)
	}
	if answer.ContentLength > limit {
		return "", errTooLarge(limit)
	}
	file, err := os.CreateTemp("", "steno-bundle-*.tar")
	if err != nil {
		return "", err
	}
	stalled := time.AfterFunc(patience, func() { stop(errStalled) })
	defer stalled.Stop()
	n, err := io.Copy(file, io.LimitReader(&going{answer.Body, stalled, patience}, limit+1))
	if err != nil && errors.Is(context.Cause(ctx), errStalled) {
		err = errStalled
	}
	if err == nil && n > limit {
		err = errTooLarge(limit)
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return "", errors.Join(err, os.Remove(file.Name()))
	}
	return file.Name(), nil
}

// errStalled marks a web server that has begun to answer, and does not go on.
var errStalled = fmt.Errorf("%w any more", errFetch)

// going puts off a timer each time something comes.
type going struct {
	io.Reader
	stalled  *time.Timer
	patience time.Duration
}

func (g *going) Read(p []byte) (int, error) {
	n, err := g.Reader.Read(p)
	if err == nil {
		g.stalled.Reset(g.patience)
	}
	return n, err
}

func errTooLarge(limit int64) error {
	return fmt.Errorf("it has more than %d bytes: fetch it in another way, and verify the file", limit)
}

// fetchError takes the address out of an error, and says whether nobody answered.
func fetchError(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	if isAny(err, context.Canceled, errRedirect) {
		return err
	}
	return fmt.Errorf("%w: %w", errFetch, err)
}

// errRedirect marks a redirect that is not followed.
var errRedirect = errors.New("it redirects too often, or to what is not as safe")

// fetcher follows redirects, but none to another scheme than https.
func fetcher() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.ResponseHeaderTimeout = fetchPatience
	transport.DisableCompression = true // a bundle's bytes are checked as they are
	return &http.Client{Transport: transport, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		if len(via) > maxRedirects || r.URL.Scheme != "https" && r.URL.Scheme != via[len(via)-1].URL.Scheme {
			return errRedirect
		}
		return nil
	}}
}
