// Package search says what of an event can be found, and by which words. Both ledgers keep in their
// indexes just the words that it gives, so that they find the same. It is pure.
//
// What is found is what was said and done: the text of messages and thoughts, with the texts of their
// other parts; the names, titles, inputs and outputs of tools, and the diffs that they report; notes; and
// the errors that turns ended with. Of JSON it is the strings and numbers, not the names of members. What
// stands in a Raw beside another event is found by that event. Base64 is not text, and is not found.
//
// What is searched for is found where one event says it all. An event of a tool may be passed over if one
// earlier event of the tool says all that it says; else it is indexed with all of its texts.
package search
