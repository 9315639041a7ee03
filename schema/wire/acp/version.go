package acp

// Versions of the protocol that a session can be held in. The agent's answer to initialize decides which
// one it is; the client only asks.
const (
	Version1 = 1
	Version2 = 2 // a preview
)

// KnownVersion reports whether the words of this package are those of the version.
func KnownVersion(version int) bool { return version == Version1 || version == Version2 }
