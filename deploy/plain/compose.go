// Package plain starts what docker-compose.yml describes as plain processes on loopback, for suites that
// have no container engine. It knows what that file uses of Compose, and refuses the rest: a key that it
// would pass over is one that a suite would not have tried.
package plain

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// File is a Compose file with its variables filled in.
type File struct {
	Name     string               `yaml:"name"`
	Services map[string]*Service  `yaml:"services"`
	Volumes  map[string]*struct{} `yaml:"volumes"`
	Shared   map[string]any       `yaml:",inline"` // x-…: what services share
}

// Service is one of a file's.
type Service struct {
	Image       string               `yaml:"image"`
	Build       *Build               `yaml:"build"`
	Command     []string             `yaml:"command"`
	Restart     string               `yaml:"restart"`
	Environment map[string]string    `yaml:"environment"`
	Ports       []string             `yaml:"ports"`   // address:port:port
	Volumes     []string             `yaml:"volumes"` // name or path:path[:ro]
	DependsOn   map[string]Condition `yaml:"depends_on"`
	Healthcheck *Healthcheck         `yaml:"healthcheck"`
	ReadOnly    bool                 `yaml:"read_only"`
	CapDrop     []string             `yaml:"cap_drop"`
	SecurityOpt []string             `yaml:"security_opt"`
}

// Build says what an image is made of.
type Build struct {
	Context    string `yaml:"context"`
	Dockerfile string `yaml:"dockerfile"`
}

// Condition is what a service waits for in another.
type Condition struct {
	Condition string `yaml:"condition"`
}

// Healthcheck is how the engine asks a service whether it serves.
type Healthcheck struct {
	Test     []string `yaml:"test"`
	Interval string   `yaml:"interval"`
	Timeout  string   `yaml:"timeout"`
	Retries  int      `yaml:"retries"`
}

// Read reads a Compose file, its variables filled in by lookup, which gives "" for what is not set. A value
// is put into the text, so it must be one that YAML takes as it is.
func Read(path string, lookup func(string) string) (*File, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	filled, err := interpolate(string(text), lookup)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	decoder := yaml.NewDecoder(bytes.NewReader([]byte(filled)))
	decoder.KnownFields(true)
	var f File
	if err := decoder.Decode(&f); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	for key := range f.Shared {
		if !strings.HasPrefix(key, "x-") {
			return nil, fmt.Errorf("read %s: key %q is not known here", path, key)
		}
	}
	return &f, nil
}

var variable = regexp.MustCompile(`\$(?:\$|\{(\w+)(:\?([^}]*))?\}|.?)`)

// interpolate fills in ${NAME} and ${NAME:?why it must be given}; $$ is a dollar sign.
func interpolate(text string, lookup func(string) string) (string, error) {
	var failed error
	filled := variable.ReplaceAllStringFunc(text, func(found string) string {
		m := variable.FindStringSubmatch(found)
		if found == "$$" {
			return "$"
		}
		if m[1] == "" {
			failed = errors.Join(failed, fmt.Errorf("%q: want ${NAME}, ${NAME:?why} or $$", found))
			return ""
		}
		value := lookup(m[1])
		if value == "" && m[2] != "" {
			failed = errors.Join(failed, fmt.Errorf("%s: %s", m[1], m[3]))
		}
		return value
	})
	return filled, failed
}
