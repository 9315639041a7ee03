package interop

import (
	"net/http"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/a2aproject/a2a-go/v2/a2asrv/eventqueue"
	"github.com/a2aproject/a2a-go/v2/a2asrv/push"
)

// v10server is a server of the SDK's new line: JSON-RPC and REST, of v1.0 and, unless it is pure, of v0.3.
func v10server(t *testing.T, o options) *server {
	return listen(t, o, func(a *agent, url string) http.Handler {
		card := &a2a.AgentCard{
			Name: "orders", Description: "knows the orders", Version: "1",
			SupportedInterfaces: []*a2a.AgentInterface{
				{URL: url + "/v1rpc", ProtocolBinding: a2a.TransportProtocolJSONRPC, ProtocolVersion: a2a.Version},
				{URL: url + "/rest", ProtocolBinding: a2a.TransportProtocolHTTPJSON, ProtocolVersion: a2a.Version},
			},
			DefaultInputModes: []string{"text/plain"}, DefaultOutputModes: []string{"text/plain"},
			Capabilities: a2a.AgentCapabilities{Streaming: true, PushNotifications: o.push, ExtendedAgentCard: true}, Skills: []a2a.AgentSkill{},
		}
		if !o.pure {
			card.SupportedInterfaces = append(card.SupportedInterfaces,
				&a2a.AgentInterface{URL: url + "/v0rpc", ProtocolBinding: a2a.TransportProtocolJSONRPC, ProtocolVersion: a2av0.Version},
				&a2a.AgentInterface{URL: url + "/rest0", ProtocolBinding: a2a.TransportProtocolHTTPJSON, ProtocolVersion: a2av0.Version})
		}
		extended := *card
		extended.Description = "knows all the orders"
		with := []a2asrv.RequestHandlerOption{
			a2asrv.WithLogger(silent()), a2asrv.WithExtendedAgentCard(&extended),
			a2asrv.WithEventQueueManager(v10spread{eventqueue.NewInMemoryManager(), a.spread}),
		}
		if o.push {
			with = append(with, a2asrv.WithPushNotifications(push.NewInMemoryStore(), push.NewHTTPPushSender(&push.HTTPSenderConfig{AllowPrivateNetworks: true})))
		}
		handler, keepAlive := a2asrv.NewHandler(v10agent{a}, with...), a2asrv.WithTransportKeepAlive(o.keepAlive())
		mux := http.NewServeMux()
		mux.Handle("/v1rpc", a2asrv.NewJSONRPCHandler(handler, keepAlive))
		mux.Handle("/rest/", http.StripPrefix("/rest", a2asrv.NewRESTHandler(handler, keepAlive)))
		if o.pure {
			mux.Handle(a2asrv.WellKnownAgentCardPath, a2asrv.NewStaticAgentCardHandler(card))
			return mux
		}
		mux.Handle("/v0rpc", a2av0.NewJSONRPCHandler(handler, keepAlive))
		mux.Handle("/rest0/", http.StripPrefix("/rest0", a2av0.NewRESTHandler(handler, keepAlive)))
		mux.Handle(a2asrv.WellKnownAgentCardPath, a2asrv.NewAgentCardHandler(a2av0.NewStaticAgentCardProducer(card)))
		return mux
	})
}
