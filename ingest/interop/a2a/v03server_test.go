package interop

import (
	"net/http"
	"testing"

	"github.com/a2aproject/a2a-go/a2a"
	"github.com/a2aproject/a2a-go/a2asrv"
	"github.com/a2aproject/a2a-go/a2asrv/eventqueue"
	"github.com/a2aproject/a2a-go/a2asrv/push"
)

// v03server is a server of the SDK's old line: JSON-RPC.
func v03server(t *testing.T, o options) *server {
	return listen(t, o, func(a *agent, url string) http.Handler {
		card := &a2a.AgentCard{
			Name: "orders", Description: "knows the orders", Version: "1", ProtocolVersion: "0.3.0",
			URL: url + "/rpc", PreferredTransport: a2a.TransportProtocolJSONRPC,
			AdditionalInterfaces: []a2a.AgentInterface{{Transport: a2a.TransportProtocolJSONRPC, URL: url + "/rpc"}},
			DefaultInputModes:    []string{"text/plain"}, DefaultOutputModes: []string{"text/plain"},
			Capabilities: a2a.AgentCapabilities{Streaming: true, PushNotifications: o.push}, Skills: []a2a.AgentSkill{},
			SupportsAuthenticatedExtendedCard: true,
		}
		extended := *card
		extended.Description = "knows all the orders"
		with := []a2asrv.RequestHandlerOption{
			a2asrv.WithLogger(silent()), a2asrv.WithExtendedAgentCard(&extended),
			a2asrv.WithEventQueueManager(v03spread{eventqueue.NewInMemoryManager(), a.spread}),
		}
		if o.push {
			with = append(with, a2asrv.WithPushNotifications(push.NewInMemoryStore(), push.NewHTTPPushSender(nil)))
		}
		mux := http.NewServeMux()
		mux.Handle("/rpc", a2asrv.NewJSONRPCHandler(a2asrv.NewHandler(v03agent{a}, with...), a2asrv.WithKeepAlive(o.keepAlive())))
		mux.Handle(a2asrv.WellKnownAgentCardPath, a2asrv.NewStaticAgentCardHandler(card))
		return mux
	})
}
