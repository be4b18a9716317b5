// Package devpg runs a private PostgreSQL for `paylatch dev` and for tests. The server is a child process.
//
// It keeps its data in a directory of its own and touches nothing else: it refuses a directory with any file that it did not
// make. It runs as an ordinary user and as root. PostgreSQL refuses to run as root, so the server then runs in a user namespace
// or as another user. The server ends with its parent, however the parent ends. The next start removes the remains of an
// interrupted start or a killed process. It is not meant for production: one role, no backup, no tuning.
package devpg

import (
	"errors"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// The errors that can keep a server from starting, for errors.Is.
var (
	// ErrNoBinaries is returned when no PostgreSQL server is installed in the places of FindBin.
	ErrNoBinaries = errors.New("no PostgreSQL server found on this machine; do one of these: install it (Debian, Ubuntu: `apt-get install postgresql`), " +
		"set PG_BIN to the directory that holds initdb and postgres, or set PAYLATCH_DATABASE_URL to a running server")
	// ErrInUse is returned when another process runs a server on the directory.
	ErrInUse = errors.New("in use by another process")
	// ErrForeign is returned when the directory holds something that this package did not make.
	ErrForeign = errors.New("not made by paylatch: choose an empty directory or one that does not exist yet")
	// ErrVersion is returned when the data was made by another major version of PostgreSQL.
	ErrVersion = errors.New("made by another version of PostgreSQL")
	// ErrUnreachable is returned when root must run the server as another user, which may not enter a directory above.
	ErrUnreachable = errors.New("closed to the user that PostgreSQL runs as when root starts it; do one of these: let others pass through (chmod o+x), " +
		"or choose a directory that they may enter, such as one in /var/lib")
)

// stopGrace is how long a fast shutdown may take before an immediate one follows.
const stopGrace = 20 * time.Second

// Config configures a server.
type Config struct {
	Dir    string // holds the data between runs; made when missing
	BinDir string // the directory of initdb and postgres; empty means FindBin
	// Elsewhere is a directory below which a new server's data goes when Dir is closed to the user that root must run the server as. Dir
	// becomes a link to it. Empty: Start returns ErrUnreachable instead.
	Elsewhere string
	Port      int               // on 127.0.0.1; 0 means a unix socket only
	Params    map[string]string // settings, as in postgresql.conf
	Log       io.Writer         // gets the server's output; nil discards it
}

// Server is a running PostgreSQL server.
type Server struct {
	cfg      Config
	dir      *directory
	account  account
	sockets  string
	cmd      *exec.Cmd
	done     chan struct{}
	exit     error // written before done is closed
	shutdown func() error
}

func newServer(c Config, d *directory, a account, sockets string) *Server {
	s := &Server{cfg: c, dir: d, account: a, sockets: sockets}
	s.shutdown = sync.OnceValue(s.stop)
	return s
}

// DSN returns the URL of a database on the server: over the unix socket, or over TCP with its password when a port was configured.
func (s *Server) DSN(db string) string {
	u := url.URL{Scheme: "postgres", Path: "/" + db, User: url.User("postgres")}
	q := url.Values{"sslmode": {"disable"}}
	if s.cfg.Port != 0 {
		u.User = url.UserPassword("postgres", s.dir.password)
		u.Host = net.JoinHostPort("127.0.0.1", strconv.Itoa(s.cfg.Port))
	} else {
		q.Set("host", s.sockets)
		q.Set("port", strconv.Itoa(s.port()))
	}
	u.RawQuery = q.Encode()
	return u.String()
}

// Dir is the directory that keeps the data, without links on its way: a Config with it starts the same server again after Stop.
func (s *Server) Dir() string { return s.dir.path }

// Pid is the process id of the postmaster, the parent of all the server's processes.
func (s *Server) Pid() int { return s.cmd.Process.Pid }

// Done is closed when the server has exited for any reason.
func (s *Server) Done() <-chan struct{} { return s.done }

// Stop ends the server with a fast shutdown (sessions are cut, nothing committed is lost), waits for it and gives the directory
// back. It returns the way the server ended when that was not a clean one. It may be called more than once.
func (s *Server) Stop() error { return s.shutdown() }

func (s *Server) stop() error {
	if s.done != nil {
		s.signalAndWait()
	}
	if s.sockets != s.dir.path {
		_ = os.RemoveAll(s.sockets)
	}
	return errors.Join(s.exit, s.dir.release())
}

func (s *Server) signalAndWait() {
	_ = s.cmd.Process.Signal(syscall.SIGINT)
	select {
	case <-s.done:
	case <-time.After(stopGrace):
		_ = s.cmd.Process.Signal(syscall.SIGQUIT)
		<-s.done
	}
}

func (s *Server) port() int {
	if s.cfg.Port != 0 {
		return s.cfg.Port
	}
	return 5432
}

func (s *Server) data() string { return filepath.Join(s.dir.path, "data") }
