package proxy

import "net/http"

// PushHandler takes what agents post to clients.
func (p *Proxy) PushHandler() http.Handler { return http.NotFoundHandler() }
