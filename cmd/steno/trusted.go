package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/steno-io/steno/sink/archive"
)

// keyFlag is --key: the public key by which an archive must be signed, or a file with it. Empty: the flag was
// not given, since it cannot be given empty: a check must not be left out because a script has a name wrong.
type keyFlag string

func (k *keyFlag) register(cmd *cobra.Command) {
	cmd.Flags().Var(k, "key", "public key by which the archive must be signed, or a file with it")
}

var errNoKey = errors.New("want a public key, or a file with one")

// Set implements pflag.Value.
func (k *keyFlag) Set(text string) error {
	if strings.TrimSpace(text) == "" {
		return errNoKey
	}
	*k = keyFlag(text)
	return nil
}

// String implements pflag.Value.
func (k *keyFlag) String() string { return string(*k) }

// Type implements pflag.Value.
func (k *keyFlag) Type() string { return "string" }

// trustedKey reads the public key; empty: none was asked for.
func (a *app) trustedKey(key keyFlag) (string, error) {
	if key == "" {
		return "", nil
	}
	public, err := key.read()
	if err == nil {
		err = archive.CheckPublic(public)
	}
	if err != nil {
		return "", a.badValue(fmt.Errorf("--key: %w", err), "key")
	}
	return public, nil
}

func (k *keyFlag) read() (string, error) {
	text, err := os.ReadFile(string(*k))
	if err != nil {
		if public := strings.TrimSpace(string(*k)); strings.Count(public, "+") >= 2 {
			return public, nil
		}
		return "", fmt.Errorf("%w: %w", errNoKey, err)
	}
	public := strings.TrimSpace(string(text))
	if public == "" {
		return "", fmt.Errorf("%w: file %s is empty", errNoKey, *k)
	}
	return public, nil
}
