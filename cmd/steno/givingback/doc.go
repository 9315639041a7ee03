// Package givingback proves with the whole pipeline that what is given back of the streams is in the
// archive, that nothing else goes, and that everything works on without it.
package givingback
