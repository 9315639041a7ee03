package embed

import (
	"fmt"
	"sync"
)

// Level of a server's log line.
type Level string

// Levels.
const (
	Info  Level = "info"
	Warn  Level = "warn"
	Error Level = "error"
	Fatal Level = "fatal" // the server stops
)

// Line is one line of the server's log.
type Line struct {
	Level Level
	Text  string
}

// serverLog hands the server's lines on and keeps the first fatal one. It is safe for concurrent
// use, as the server writes from many goroutines.
type serverLog struct {
	write func(Line)

	mu     sync.Mutex
	reason string
}

func newLog(write func(Line)) *serverLog {
	if write == nil {
		write = func(Line) {}
	}
	return &serverLog{write: write}
}

func (l *serverLog) fatal() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.reason
}

// Noticef takes a notice.
func (l *serverLog) Noticef(format string, v ...any) {
	l.write(Line{Info, fmt.Sprintf(format, v...)})
}

// Warnf takes a warning.
func (l *serverLog) Warnf(format string, v ...any) {
	l.write(Line{Warn, fmt.Sprintf(format, v...)})
}

// Errorf takes an error.
func (l *serverLog) Errorf(format string, v ...any) {
	l.write(Line{Error, fmt.Sprintf(format, v...)})
}

// Fatalf takes the reason for which the server stops. It does not end the process.
func (l *serverLog) Fatalf(format string, v ...any) {
	text := fmt.Sprintf(format, v...)
	l.mu.Lock()
	if l.reason == "" {
		l.reason = text
	}
	l.mu.Unlock()
	l.write(Line{Fatal, text})
}

// Debugf is never called: the server is started without debug lines.
func (l *serverLog) Debugf(string, ...any) {}

// Tracef is never called: the server is started without trace lines.
func (l *serverLog) Tracef(string, ...any) {}
