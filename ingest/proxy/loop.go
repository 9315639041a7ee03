package proxy

import (
	"net/http"
	"slices"
	"strings"

	"github.com/steno-io/steno/schema"
)

// markHeader names the proxies that a request came through, so that one whose upstream leads back to
// itself sees it. It is not Via, for which servers change what they send.
const markHeader = "Steno-Proxy"

// mark is this proxy's, one for each way: a webhook may well lead to a peer behind the same proxy.
func (x *exchange) mark() string {
	if x.chanAsk == schema.ChanPush {
		return x.proxy.id + "-push"
	}
	return x.proxy.id
}

// loops says that a request came through here before.
func (x *exchange) loops() *refused {
	came := strings.Split(strings.Join(x.in.Header[markHeader], ","), ",")
	if !slices.ContainsFunc(came, func(one string) bool { return strings.TrimSpace(one) == x.mark() }) {
		return nil
	}
	return &refused{status: http.StatusLoopDetected, text: "steno proxy got its own request back: its " + x.far + " leads to itself"}
}
