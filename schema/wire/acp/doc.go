// Package acp holds the words of the Agent Client Protocol, versions 1 and 2: who may send which
// method, the variants of session/update, and the closed lists inside them, with what each means in
// schema's words. It decodes nothing.
package acp
