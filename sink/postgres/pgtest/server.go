package pgtest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/steno-io/steno/schema/freeport"
)

// server is a PostgreSQL in a directory of its own.
type server struct {
	bin, dir string
	owner    *syscall.Credential // nil = the user of the test
	password string
	port     int
	synced   bool
	ended    chan error // gives how the postmaster ended
}

const superuser = "steno"

// newServer makes a database cluster and starts it. synced makes it wait for the disk, as it does where nobody says
// otherwise: that is what is measured. A test kills the server, never the machine, and what the server has written
// outlives it without.
func newServer(synced bool) (*server, error) {
	bin, err := binaries()
	if err != nil {
		return nil, err
	}
	s := &server{bin: bin, password: rand.Text(), synced: synced}
	if s.dir, err = os.MkdirTemp("", "steno-pg-"); err != nil {
		return nil, err
	}
	if err := s.make(); err != nil {
		return nil, errors.Join(fmt.Errorf("make a database cluster: %w", err), os.RemoveAll(s.dir))
	}
	const tries = 3 // somebody else may take the port first
	for range tries {
		if s.port, err = freePort(); err != nil {
			break
		}
		if err = s.start(); err == nil {
			return s, nil
		}
	}
	return nil, errors.Join(err, os.RemoveAll(s.dir))
}

func (s *server) data() string { return filepath.Join(s.dir, "data") }
func (s *server) log() string  { return filepath.Join(s.dir, "log") }

func (s *server) url(database string) string {
	u := url.URL{
		Scheme: "postgres", User: url.UserPassword(superuser, s.password), Path: database,
		Host: fmt.Sprintf("127.0.0.1:%d", s.port), RawQuery: "sslmode=disable",
	}
	return u.String()
}

// execute runs a statement outside all databases of tests.
func (s *server) execute(statement string) error {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.url("postgres"))
	if err != nil {
		return err
	}
	defer conn.Close(ctx) //nolint:errcheck // the statement's error says more
	_, err = conn.Exec(ctx, statement)
	return err
}

func (s *server) make() error {
	secret := filepath.Join(s.dir, "password")
	if err := os.WriteFile(secret, []byte(s.password), 0o600); err != nil {
		return err
	}
	var err error
	if s.owner, err = owner(); err != nil {
		return err
	}
	if s.owner != nil {
		for _, path := range []string{s.dir, secret} {
			if err := os.Chown(path, int(s.owner.Uid), int(s.owner.Gid)); err != nil {
				return err
			}
		}
	}
	out, err := s.command("initdb", "--pgdata", s.data(), "--username", superuser, "--pwfile", secret,
		"--auth", "scram-sha-256", "--encoding", "UTF8", "--locale", "C", "--no-sync").CombinedOutput()
	if err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	return nil
}

func (s *server) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(s.bin, name), args...)
	cmd.Dir = s.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.owner}
	endWithParent(cmd.SysProcAttr)
	return cmd
}

// start starts the postmaster and waits until it answers.
func (s *server) start() error {
	log, err := os.OpenFile(s.log(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close() //nolint:errcheck // the postmaster has its own
	args := []string{"-D", s.data(), "-p", fmt.Sprint(s.port), "-c", "listen_addresses=127.0.0.1",
		"-c", "unix_socket_directories=" + s.dir, "-c", "max_connections=200"}
	if !s.synced {
		args = append(args, "-c", "fsync=off", "-c", "full_page_writes=off")
	}
	cmd := s.command("postgres", args...)
	cmd.Stdout, cmd.Stderr = log, log
	s.ended = make(chan error, 1)
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // the signal at the parent's end is that of the thread which started it
		err := cmd.Start()
		started <- err
		if err == nil {
			s.ended <- cmd.Wait()
		}
	}()
	if err := <-started; err != nil {
		return fmt.Errorf("start PostgreSQL: %w", err)
	}
	return s.answers()
}

func (s *server) answers() error {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	for {
		conn, err := pgx.Connect(ctx, s.url("postgres"))
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case err := <-s.ended:
			s.ended <- err
			text, _ := os.ReadFile(s.log())
			return fmt.Errorf("start PostgreSQL: %w\n%s", err, text)
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("wait for PostgreSQL: %w", err), s.stop())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// stop ends the postmaster and all that belongs to it at once. Its process is known by the file that
// it keeps in the data directory.
func (s *server) stop() error {
	out, err := s.command("pg_ctl", "stop", "-D", s.data(), "-m", "immediate", "-t", "60").CombinedOutput()
	if err != nil {
		return fmt.Errorf("stop PostgreSQL: %w\n%s", err, out)
	}
	<-s.ended // how it ended says nothing: it was told to
	return nil
}

func (s *server) restart() error {
	if err := s.stop(); err != nil {
		return err
	}
	return s.start()
}

func (s *server) remove() error {
	return errors.Join(s.stop(), os.RemoveAll(s.dir))
}

func freePort() (int, error) {
	address, err := freeport.Address()
	if err != nil {
		return 0, err
	}
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(port)
}
