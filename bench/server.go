package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// The configuration of the program. The secrets are the run's own.
const (
	tokenSecret   = "a secret of the benchmark, 32 bytes or more"
	webhookSecret = "whsec_YSBzZWNyZXQgb2YgdGhlIGJlbmNobWFyaywgMzIgYnl0ZXM=" //nolint:gosec // the run's own
	encryptionKey = "YSBrZXkgb2YgdGhlIGJlbmNobWFyaywgMzIgYnl0ZXM="           //nolint:gosec // the run's own
	configuration = `listen: %s
environment: test
database_url: %q
data_dir: %q
encryption_keys: [{id: bench, key: %q}]
auth: {hs256_secret: %q}
default_account: stub
accounts:
  - {name: bench, kind: standard, webhook_secrets: [%q]}
  - {name: stub, kind: sandbox, base_url: %q}
`
)

// server is `paylatch serve` as a process.
type server struct {
	address string
	cmd     *exec.Cmd
	log     *os.File
}

// serve starts the program on a database; its log goes into a file.
func (r *rig) serve(ctx context.Context, d *database, environ ...string) (*server, error) {
	address, err := freeAddress(ctx)
	if err != nil {
		return nil, err
	}
	config := filepath.Join(r.dir, d.name+".yaml")
	data, err := os.MkdirTemp(r.dir, d.name+"-") // a database that was made anew looks as restored to a copy of the mark of the one before
	if err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	text := fmt.Sprintf(configuration, address, d.url, data, encryptionKey, tokenSecret, webhookSecret, r.stub.url)
	if r.endpoint != "" {
		text += fmt.Sprintf("endpoints: [{name: shop, url: %q, secrets: [%q], allow_private: true}]\n", r.endpoint, webhookSecret)
	}
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return nil, fmt.Errorf("configuration: %w", err)
	}
	log, err := os.Create(filepath.Join(r.dir, d.name+".log"))
	if err != nil {
		return nil, fmt.Errorf("log: %w", err)
	}
	cmd := exec.CommandContext(ctx, r.binary, "serve", "--config", config) //nolint:gosec // what was built a moment ago
	cmd.Dir, cmd.Stderr, cmd.Env = r.dir, log, append(os.Environ(), environ...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 30 * time.Second
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("start the program: %w", err), log.Close())
	}
	s := &server{address: address, cmd: cmd, log: log}
	if err := s.await(ctx); err != nil {
		return nil, errors.Join(err, s.stop())
	}
	return s, nil
}

func freeAddress(ctx context.Context) (string, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a port: %w", err)
	}
	return l.Addr().String(), l.Close()
}

// await returns once the program is ready.
func (s *server) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, 30*time.Second, errors.New("the program does not get ready"))
	defer cancel()
	for {
		if resp, err := s.get(ctx, "/readyz"); err == nil {
			return resp.Body.Close() //nolint:wrapcheck // it was answered
		}
		if err := wait(ctx, 20*time.Millisecond); err != nil {
			said, _ := os.ReadFile(s.log.Name())
			return fmt.Errorf("%w: %s", err, said)
		}
	}
}

func (s *server) stop() error {
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	if err := s.cmd.Wait(); err != nil {
		return errors.Join(fmt.Errorf("the program: %w", err), s.log.Close())
	}
	if err := s.log.Close(); err != nil {
		return fmt.Errorf("log: %w", err)
	}
	return nil
}

func (s *server) get(ctx context.Context, path string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.address+path, http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("ask for %s: %w", path, err)
	}
	resp, err := new(http.Client).Do(req)
	if err != nil {
		return nil, fmt.Errorf("ask for %s: %w", path, err)
	}
	if resp.StatusCode != http.StatusOK {
		return nil, errors.Join(fmt.Errorf("%s answers %d", path, resp.StatusCode), resp.Body.Close())
	}
	return resp, nil
}
