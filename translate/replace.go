package translate

// Continue makes text, which was said before or is none, all that the message says so far. It has no delta
// and takes no index.
func (o *OpenText) Continue(text string) {
	o.text = append(o.text[:0], text...)
	o.parts, o.mixed = o.parts[:0], false
	if text != "" {
		o.parts = append(o.parts, part{to: len(o.text)})
	}
}

// Clear takes back all that the message says and gives the index of the delta that starts it anew, with
// what is then appended.
func (o *OpenText) Clear() (index uint64) {
	o.text, o.parts, o.mixed = o.text[:0], o.parts[:0], false
	o.next++
	return o.next - 1
}

// Replace makes text all that the message says and gives the index of the delta that starts it anew.
func (o *OpenText) Replace(text string) (index uint64) {
	o.Continue(text)
	o.next++
	return o.next - 1
}
