package main

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/steno-io/steno/ingest/proxy"
)

// proxyOptionFlags are the flags that set the proxy's options.
var proxyOptionFlags = map[string]string{
	"Upstream": "upstream", "PublicURL": "public-url", "Grace": "grace", "Push.BaseURL": "push-url", "Push.Key": "push-key",
}

// newProxy makes the proxy; errors name flags.
func (a *app) newProxy(o proxy.Options) (*proxy.Proxy, error) {
	p, err := proxy.New(o)
	var bad *proxy.OptionError
	if errors.As(err, &bad) && proxyOptionFlags[bad.Option] != "" {
		flag := proxyOptionFlags[bad.Option]
		return nil, a.badValue(fmt.Errorf("--%s: %w", flag, bad.Err), flag)
	}
	return p, err
}

// checkListen refuses addresses that cannot be meant, before any port is taken.
func (a *app) checkListen(f *proxyFlags) error {
	for _, flag := range []struct{ name, address string }{{"listen", f.listen}, {"push-listen", f.pushListen}} {
		if flag.name == "push-listen" && flag.address == "" {
			continue
		}
		if !isAddress(flag.address) {
			return a.badValue(fmt.Errorf("--%s %q: want host:port, such as 127.0.0.1:8090", flag.name, flag.address), flag.name)
		}
		if leadsTo(f.upstream, flag.address) {
			return a.badValue(fmt.Errorf("--upstream %s: that is the address of --%s: the proxy would call itself", proxy.MaskURL(f.upstream), flag.name), "upstream", flag.name)
		}
	}
	if f.pushListen != "" {
		return nil
	}
	for name, value := range map[string]string{"push-url": f.pushURL, "push-key": f.pushKey} {
		if value != "" {
			return a.badValue(fmt.Errorf("--%s: push notifications come through the proxy with --push-listen only: give that, too", name), name)
		}
	}
	return nil
}

func isAddress(text string) bool {
	_, port, err := net.SplitHostPort(text)
	if err != nil {
		return false
	}
	_, err = strconv.ParseUint(port, 10, 16)
	return err == nil
}

// leadsTo reports whether a URL is that of an address to listen on, as far as their words say.
func leadsTo(text, address string) bool {
	u, err := url.Parse(text)
	if err != nil {
		return false
	}
	host, port, _ := net.SplitHostPort(address) // it was checked
	to := u.Port()
	if to == "" {
		to = map[string]string{"http": "80", "h2c": "80", "https": "443"}[strings.ToLower(u.Scheme)]
	}
	if port == "0" || to != port {
		return false
	}
	up, own := hostIP(u.Hostname()), hostIP(host)
	switch {
	case strings.EqualFold(u.Hostname(), host) || up != nil && up.Equal(own):
		return true
	case host != "" && (own == nil || !own.IsUnspecified()), up == nil:
		return false
	}
	return up.IsLoopback() || up.IsUnspecified() || isOwn(up)
}

// hostIP is the address that a host's name is; nil if only a resolver knows.
func hostIP(host string) net.IP {
	if strings.EqualFold(host, "localhost") {
		return net.IPv4(127, 0, 0, 1)
	}
	return net.ParseIP(host)
}

// isOwn reports whether an address is one of this machine.
func isOwn(ip net.IP) bool {
	all, err := net.InterfaceAddrs()
	if err != nil {
		return false
	}
	for _, one := range all {
		if n, ok := one.(*net.IPNet); ok && n.IP.Equal(ip) {
			return true
		}
	}
	return false
}

// pushBase is where the peer posts to, before the port is known if the system chooses it.
func (a *app) pushBase(f *proxyFlags) (string, error) {
	if f.pushURL != "" {
		return f.pushURL, nil
	}
	if host, _, _ := net.SplitHostPort(f.pushListen); host == "" || net.ParseIP(host).IsUnspecified() {
		return "", a.badValue(fmt.Errorf("--push-listen %q: the peer must be told where to post: give --push-url, too", f.pushListen), "push-listen")
	}
	return "http://" + f.pushListen, nil
}

// listen takes the ports.
func listen(f *proxyFlags) (clients, pushes net.Listener, err error) {
	if clients, err = net.Listen("tcp", f.listen); err != nil {
		return nil, nil, fmt.Errorf("proxy: --listen: %w", err)
	}
	if f.pushListen == "" {
		return clients, nil, nil
	}
	if pushes, err = net.Listen("tcp", f.pushListen); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("proxy: --push-listen: %w", err), clients.Close())
	}
	return clients, pushes, nil
}

// sayOpen warns, once, of an address that others than this machine reach.
func (a *app) sayOpen(command string, listeners ...net.Listener) {
	for _, l := range listeners {
		if l == nil {
			continue
		}
		if at, ok := l.Addr().(*net.TCPAddr); ok && !at.IP.IsLoopback() {
			fmt.Fprintf(a.err, "steno %s: warning: other machines reach %s: there is no TLS, and it asks nobody who they are\n", command, l.Addr())
			return
		}
	}
}
