// Package compat rewrites A2A bodies and agent cards between versions 0.3 and 1.0 of the protocol.
//
// Up is from 0.3 to 1.0, Down from 1.0 to 0.3. Detect tells which version a request speaks; a request
// of version 1.0 is not to be rewritten. Everything else is a pure function from bytes to bytes that
// rewrites known positions only: the peers' data and metadata, base64, numbers and unknown fields
// stay as sent, members keep their order, and a body in which nothing has to change comes back as it
// is, white space included. Of duplicate keys each is rewritten. Bodies that speak the target version
// already, wholly or in part, stay so.
//
// A peer's own field gives way where version 0.3 needs its name: kind, final and, in a part, file.
// Data of version 1.0 that is an object with the one member value, in a part whose metadata says
// data_part_compat, is taken for what Down makes of data that is no object.
//
// Version 0.3 means its JSON-RPC form. Its REST form is another dialect with shapes of its own.
package compat
