// Package web is the web console: the page that shows transcripts in a browser, embedded as it is served.
package web
