// Package a2a reads Agent2Agent traffic in its four dialects: objects, their arms, parts, states and
// roles, the names of calls, HTTP evidence, and server-sent events.
//
// It decides per object, by the object's own fields: half-migrated mixtures are common, and neither a
// header nor a method name says what an object looks like. It is tolerant (another spelling of a key,
// a number for a state, two arms at once) and pure, rewrites nothing, and never looks inside data or
// metadata.
package a2a
