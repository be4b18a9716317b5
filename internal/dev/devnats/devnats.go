// Package devnats runs a NATS server with JetStream in this process, for tests.
package devnats

import (
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/paylatch/paylatch/internal/platform/datadir"
)

// startTime bounds a start, which reads what is stored.
const startTime = 30 * time.Second

// ErrNotReady is returned where the server does not serve in time.
var ErrNotReady = errors.New("the NATS server is not ready within " + startTime.String())

// Server is a running server. Stop ends it.
type Server struct{ server *server.Server }

// Start serves on a port of 127.0.0.1, with what JetStream stores in dir.
func Start(dir string, port int) (*Server, error) {
	if err := datadir.Make(dir); err != nil {
		return nil, fmt.Errorf("the directory of the NATS server: %w", err)
	}
	s, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: port, JetStream: true, StoreDir: dir, NoSigs: true, NoLog: true, NoSystemAccount: true,
	})
	if err != nil {
		return nil, fmt.Errorf("the NATS server: %w", err)
	}
	s.Start()
	if !s.ReadyForConnections(startTime) || !s.JetStreamEnabled() {
		s.Shutdown()
		return nil, ErrNotReady
	}
	return &Server{s}, nil
}

// URL is the address of the server.
func (s *Server) URL() string { return s.server.ClientURL() }

// Stop ends the server and waits for that.
func (s *Server) Stop() {
	s.server.Shutdown()
	s.server.WaitForShutdown()
}
