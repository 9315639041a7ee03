package headless

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// asAgent makes the test binary an agent that plays the steps that it is given, one an argument:
//
//	await METHOD     reads on until this request or notification of the client
//	answer RESULT    to what was awaited last
//	fail CODE TEXT   likewise
//	say TEXT         a piece of the answer
//	update UPDATE    an update of the session
//	line TEXT        as it is
//	ask METHOD PARAMS    asks the client and says what it answered
//	post ID METHOD PARAMS    asks the client and does not wait
//	many N METHOD PARAMS    asks so often before it reads any answer
//	hear             says the client's next answer
//	stderr TEXT      on stderr
//	pid              says its process id
//	leave            starts a process that outlives it, and says its process id
//	exit STATUS, kill, close (its output), stay (after the end of its input), deaf (to SIGTERM)
//
// Without exit, kill and stay it ends at the end of its input.
const asAgent = "STENO_TEST_AS_AGENT"

func TestMain(m *testing.M) {
	if os.Getenv(asAgent) == "" {
		os.Exit(m.Run())
	}
	a := &agent{lines: bufio.NewReader(os.Stdin)}
	for _, step := range os.Args[1:] {
		word, rest, _ := strings.Cut(step, " ")
		a.play(word, rest)
	}
	a.until(func(rpc) bool { return false })
}

type rpc struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Result json.RawMessage `json:"result"`
	Error  *struct{ Code int }
}

type agent struct {
	lines *bufio.Reader
	id    json.RawMessage // of what was awaited last
	asked int
}

// until reads up to a message; the end of its input ends the agent.
func (a *agent) until(want func(rpc) bool) rpc {
	for {
		line, err := a.lines.ReadBytes('\n')
		if err != nil {
			os.Exit(0)
		}
		var m rpc
		if json.Unmarshal(line, &m) == nil && want(m) {
			return m
		}
	}
}

func send(format string, args ...any) { fmt.Printf(format+"\n", args...) }

func say(text string) {
	quoted, _ := json.Marshal(text)
	update(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":` + string(quoted) + `}}`)
}

func update(u string) {
	send(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":%s}}`, u)
}

func (a *agent) play(word, rest string) {
	head, tail, _ := strings.Cut(rest, " ")
	switch word {
	case "await":
		a.id = a.until(func(m rpc) bool { return m.Method == rest }).ID
	case "answer":
		send(`{"jsonrpc":"2.0","id":%s,"result":%s}`, a.id, rest)
	case "fail":
		send(`{"jsonrpc":"2.0","id":%s,"error":{"code":%s,"message":%q}}`, a.id, head, tail)
	case "say":
		say(rest)
	case "update":
		update(rest)
	case "line":
		send("%s", rest)
	case "ask":
		a.asked++
		send(`{"jsonrpc":"2.0","id":"q%d","method":%q,"params":%s}`, a.asked, head, tail)
		a.hear()
	case "post":
		method, params, _ := strings.Cut(tail, " ")
		send(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, head, method, params)
	case "many":
		times, _ := strconv.Atoi(head)
		method, params, _ := strings.Cut(tail, " ")
		for i := range times {
			send(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, i, method, params)
		}
		for range times {
			a.until(func(m rpc) bool { return m.Method == "" && m.Result != nil })
		}
	case "hear":
		a.hear()
	case "stderr":
		fmt.Fprintln(os.Stderr, rest)
	case "pid":
		say(strconv.Itoa(os.Getpid()))
	case "leave":
		child := exec.Command("sleep", "600")
		if err := child.Start(); err != nil {
			os.Exit(99)
		}
		say(strconv.Itoa(child.Process.Pid))
	case "exit":
		status, _ := strconv.Atoi(rest)
		os.Exit(status)
	case "kill":
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		time.Sleep(time.Minute)
	case "close":
		_ = os.Stdout.Close()
	case "stay":
		time.Sleep(10 * time.Minute)
	case "deaf":
		signal.Ignore(syscall.SIGTERM)
	default:
		fmt.Fprintln(os.Stderr, "no such step:", word)
		os.Exit(98)
	}
}

// hear says the client's next answer: its result, or the code of its error.
func (a *agent) hear() {
	m := a.until(func(m rpc) bool { return m.Method == "" })
	if m.Error != nil {
		say(fmt.Sprintf("[%s: %d]", m.ID, m.Error.Code))
		return
	}
	say(fmt.Sprintf("[%s: %s]", m.ID, m.Result))
}
