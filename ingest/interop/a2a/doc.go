// Package interop holds a proxied conversation of real A2A peers against the same one without a proxy.
//
// The peers are servers and clients of the official Go SDK in both its lines. The package is a module of
// its own, so that theirs (grpc, protobuf) stay out of the product's; it uses the product as a command.
package interop
