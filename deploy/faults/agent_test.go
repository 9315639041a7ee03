//go:build faults

package faults

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
)

// asAgent makes the test binary an ACP agent. Its value is where it notes every byte that it reads; its
// arguments are the seed, the slot and the number of the conversation.
const asAgent = "STENO_FAULTS_AGENT"

// agent plays the agent's side of a conversation until it or the input ends.
func agent(log string, args []string) error {
	seed, err := strconv.ParseUint(args[0], 10, 64)
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	heard, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	in := bufio.NewReader(os.Stdin)
	for _, s := range recorded(seed, args[1], n) {
		if !s.client {
			if _, err := fmt.Fprintln(os.Stdout, s.text); err != nil {
				return err
			}
			continue
		}
		line, err := in.ReadBytes('\n')
		if _, err := heard.Write(line); err != nil {
			return err
		}
		if err != nil {
			return nil // the client has gone
		}
	}
	rest, err := in.ReadBytes('\n')
	if len(rest) > 0 || err == nil {
		return fmt.Errorf("the client said more: %q", rest)
	}
	return heard.Close()
}

// recorded is the conversation of that number.
func recorded(seed uint64, slot string, n int) []said {
	r := of(seed, slot, n)
	return conversation(r, 1+r.IntN(5))
}
