//go:build faults

package faults

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/steno-io/steno/deploy/plain"
	"github.com/steno-io/steno/schema/freeport"
)

const (
	user     = "steno"
	password = "0f1e2d"
	look     = 50 * time.Millisecond
)

// server is one NATS server, and the next one on its store.
type server struct {
	name, listen, cluster, monitor string
	store                          string
	process                        *process
}

// servers are all of them: one, or three.
type servers struct {
	program string
	exits   *exits
	config  string
	all     []*server
}

// newServers prepares servers of a configuration file of deploy/nats.
func newServers(program, dir string, replicas int, exits *exits) (*servers, error) {
	s := &servers{program: program, exits: exits, config: filepath.Join(top, "deploy/nats/one.conf")}
	if replicas > 1 {
		s.config = filepath.Join(top, "deploy/nats/three.conf")
	}
	for i := range replicas {
		one := &server{name: fmt.Sprintf("nats-%d", i+1), store: filepath.Join(dir, fmt.Sprintf("store-%d", i+1))}
		for _, address := range []*string{&one.listen, &one.cluster, &one.monitor} {
			var err error
			if *address, err = freeport.Address(); err != nil {
				return nil, err
			}
		}
		s.all = append(s.all, one)
	}
	return s, nil
}

func (s *servers) addresses() (all []string) {
	for _, one := range s.all {
		all = append(all, one.listen)
	}
	return all
}

// url is where the suite itself finds them, past every line.
func (s *servers) url() string {
	return "nats://" + user + ":" + password + "@" + strings.Join(s.addresses(), ",nats://"+user+":"+password+"@")
}

// start starts a server on its store.
func (s *servers) start(one *server) error {
	var routes []string
	for _, other := range s.all {
		routes = append(routes, fmt.Sprintf("nats://%s:%s@%s", user, password, other.cluster))
	}
	cmd := exec.Command(s.program, "--config", s.config)
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"),
		"STENO_NATS_NAME=" + one.name, "STENO_NATS_LISTEN=" + one.listen, "STENO_NATS_CLUSTER=" + one.cluster,
		"STENO_NATS_MONITOR=" + one.monitor, "STENO_NATS_STORE=" + one.store,
		"STENO_NATS_PASSWORD=\"" + password + "\"", "STENO_NATS_ROUTES=[" + strings.Join(routes, ", ") + "]",
	}
	var err error
	one.process, err = s.exits.begin(one.name, cmd)
	return err
}

// startAll starts all and waits until they serve.
func (s *servers) startAll(ctx context.Context) error {
	for _, one := range s.all {
		if err := s.start(one); err != nil {
			return err
		}
	}
	for _, one := range s.all {
		if err := one.healthy(ctx); err != nil {
			return err
		}
	}
	return nil
}

// healthy waits until the server says that it serves, and that what it holds is current.
func (one *server) healthy(ctx context.Context) error {
	err := plain.Healthy(ctx, "http://"+one.monitor+"/healthz", one.process.ended)
	if errors.Is(err, plain.ErrEnded) {
		err = fmt.Errorf("%w: %s", err, lastLine(one.process.log))
	}
	if err != nil {
		return fmt.Errorf("wait until %s is healthy: %w", one.name, err)
	}
	return nil
}

// kill kills a server.
func (s *servers) kill(one *server) {
	one.process.kill()
	<-one.process.ended
}

// restart starts a killed server again and waits until all of them are current: a quorum outlives the
// next kill.
func (s *servers) restart(ctx context.Context, js jetstream.JetStream, one *server) error {
	if err := s.start(one); err != nil {
		return err
	}
	if err := one.healthy(ctx); err != nil {
		return err
	}
	return s.current(ctx, js)
}

// current waits until every replica of the streams is.
func (s *servers) current(ctx context.Context, js jetstream.JetStream) error {
	for _, name := range []string{"STENO_RAW", "STENO_EVENTS", "KV_STENO_LEASES", "KV_STENO_FILED", "OBJ_STENO_BLOBS"} {
		for !isCurrent(ctx, js, name, len(s.all)) {
			select {
			case <-ctx.Done():
				return fmt.Errorf("wait until all replicas of %s are current: %w", name, ctx.Err())
			case <-time.After(look):
			}
		}
	}
	return nil
}

func isCurrent(ctx context.Context, js jetstream.JetStream, name string, replicas int) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	stream, err := js.Stream(ctx, name)
	if err != nil {
		return false
	}
	info := stream.CachedInfo()
	if replicas == 1 {
		return true
	}
	if info.Cluster == nil || info.Cluster.Leader == "" || len(info.Cluster.Replicas) != replicas-1 {
		return false
	}
	for _, r := range info.Cluster.Replicas {
		if !r.Current || r.Offline {
			return false
		}
	}
	return true
}

// leader is the server that leads a stream; nil while none does.
func (s *servers) leader(ctx context.Context, js jetstream.JetStream, name string) *server {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	stream, err := js.Stream(ctx, name)
	if err != nil || stream.CachedInfo().Cluster == nil {
		return nil
	}
	for _, one := range s.all {
		if one.name == stream.CachedInfo().Cluster.Leader {
			return one
		}
	}
	return nil
}
