package plain

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/steno-io/steno/schema/freeport"
)

// addresses gives each service's ports a place on loopback.
type addresses struct {
	file  *File
	known map[string]string // host:port of the file → address here
}

func newAddresses(f *File, elsewhere map[string]string) *addresses {
	a := &addresses{file: f, known: map[string]string{}}
	maps.Copy(a.known, elsewhere)
	return a
}

// elsewhere reports whether the caller started a service. It is asked before any place is given.
func (a *addresses) elsewhere(name string) bool {
	for hostport := range a.known {
		if strings.HasPrefix(hostport, name+":") && a.file.Services[name].Build == nil && len(a.file.Services[name].Command) == 0 {
			return true
		}
	}
	return false
}

var hostport = regexp.MustCompile(`([A-Za-z0-9][A-Za-z0-9.-]*):([0-9]+)\b`)

// here writes a text of a service with the addresses of this machine. What a container listens on, all
// addresses or its loopback, is the service's own.
func (a *addresses) here(service, text string) (string, error) {
	var failed error
	text = hostport.ReplaceAllStringFunc(text, func(found string) string {
		host, port, _ := strings.Cut(found, ":")
		if host == "0.0.0.0" || host == "127.0.0.1" {
			host = service
		}
		if a.file.Services[host] == nil {
			return found
		}
		name := host + ":" + port
		if a.known[name] == "" {
			address, err := freeport.Address()
			if err != nil {
				failed = err
			}
			a.known[name] = address
		}
		return a.known[name]
	})
	return text, failed
}

// mounts says where the paths of a container are here.
type mounts map[string]string

func (s *Stack) mounts(service *Service) (mounts, error) {
	m := mounts{}
	for _, volume := range service.Volumes {
		parts := strings.Split(volume, ":")
		if len(parts) < 2 {
			return nil, fmt.Errorf("volume %q: want SOURCE:PATH", volume)
		}
		source := parts[0]
		if !strings.HasPrefix(source, "./") {
			if _, ok := s.file.Volumes[source]; !ok {
				return nil, fmt.Errorf("volume %q: the file has none of that name", volume)
			}
			m[parts[1]] = filepath.Join(s.o.Dir, "volumes", source)
			if err := os.MkdirAll(m[parts[1]], 0o700); err != nil {
				return nil, err
			}
			continue
		}
		path, err := filepath.Abs(filepath.Join(filepath.Dir(s.o.Compose), source))
		if err == nil {
			_, err = os.Stat(path)
		}
		if err != nil {
			return nil, fmt.Errorf("volume %q: %w", volume, err)
		}
		m[parts[1]] = path
	}
	return m, nil
}

// here gives a path's place; what is no path of a volume stays.
func (m mounts) here(text string) string {
	for path, place := range m {
		if rest, ok := strings.CutPrefix(text, path); ok && (rest == "" || rest[0] == '/') {
			return place + rest
		}
	}
	return text
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
