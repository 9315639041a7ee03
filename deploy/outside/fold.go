package outside

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// Fold folds a capture's frames with the steno command, no server near, and gives its durable events by
// session. command makes the command that runs steno with arguments.
func Fold(command func(args ...string) *exec.Cmd, dir string, c *Capture) (map[string][]string, error) {
	file, err := os.CreateTemp(dir, "capture-*.jsonl")
	if err != nil {
		return nil, err
	}
	defer os.Remove(file.Name()) //nolint:errcheck // the directory goes with the suite
	_, err = file.WriteString(strings.Join(c.Lines, "\n") + "\n")
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return nil, err
	}
	id := strings.Split(c.Name, "/")
	cmd := command("translate", "--namespace", id[0], "--workflow", id[1], "--run", id[2], "--activity", id[3], "--attempt", id[4], file.Name())
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("translate %s: %w: %s", c.Name, err, errs.String())
	}
	sessions := map[string][]string{}
	for text := range strings.Lines(string(out)) {
		var e struct {
			Session   json.Number
			WorkerSeq int `json:"worker_seq"`
			Ephemeral bool
		}
		if err := json.Unmarshal([]byte(text), &e); err != nil {
			return nil, fmt.Errorf("translate %s printed %q: %w", c.Name, text, err)
		}
		// A file without a close frame is translated as if it had one; the conversation has not ended.
		if !e.Ephemeral && e.WorkerSeq <= len(c.Lines) {
			sessions[e.Session.String()] = append(sessions[e.Session.String()], strings.TrimSuffix(text, "\n"))
		}
	}
	return sessions, nil
}

// Numbered gives the events as a ledger must hold them.
func Numbered(events []string) []string {
	numbered := make([]string, len(events))
	for i, e := range events {
		numbered[i] = strings.Replace(e, `"store_seq":null`, fmt.Sprintf(`"store_seq":%d`, i+1), 1)
	}
	return numbered
}
