package main_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// background is a command that runs until the test ends it.
type background struct {
	address string
	stop    func() (code int)
}

// start runs the command until it has logged where it listens.
func start(t *testing.T, environ []string, args ...string) background {
	t.Helper()
	cmd := command(t, environ, args...)
	pipe, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	var line struct {
		Address string `json:"address"`
		Time    string `json:"time"`
	}
	log := bufio.NewReader(pipe)
	text, err := log.ReadBytes('\n')
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &line), string(text))
	require.Regexp(t, `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$`, line.Time)
	return background{line.Address, func() int {
		require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
		_, _ = io.Copy(io.Discard, log)
		_ = cmd.Wait()
		return cmd.ProcessState.ExitCode()
	}}
}

func charge(ctx context.Context, address, reference, token string) (*http.Response, error) {
	body := `{"reference":"` + reference + `","amount":1999,"currency":"EUR","token":"` + token + `"}`
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+address+"/v1/charges", strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", "key-of-"+reference)
	return http.DefaultClient.Do(req)
}

func ledger(t *testing.T, address string) string {
	t.Helper()
	resp, err := http.Get("http://" + address + "/v1/ledger")
	require.NoError(t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return string(text)
}

func TestSandboxSurvivesARestart(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	environ := []string{"PAYLATCH_DATA_DIR=" + data}
	first := start(t, environ, "sandbox", "--listen", "127.0.0.1:0")
	resp, err := charge(t.Context(), first.address, "attempt-1", "tok_success")
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, http.StatusCreated, resp.StatusCode)
	require.Zero(t, first.stop())
	require.FileExists(t, filepath.Join(data, "sandbox.journal"))

	second := start(t, environ, "sandbox", "--listen", "127.0.0.1:0")
	require.Contains(t, ledger(t, second.address), "attempt-1")
	require.Zero(t, second.stop())
}

func TestSandboxStopsDespiteACallThatHangs(t *testing.T) {
	t.Parallel()
	state := filepath.Join(t.TempDir(), "state")
	box := start(t, nil, "sandbox", "--listen", "127.0.0.1:0", "--state", state)
	done := make(chan error, 1)
	go func() {
		resp, err := charge(t.Context(), box.address, "attempt-1", "tok_hang_charged")
		if err == nil {
			_ = resp.Body.Close()
		}
		done <- err
	}()
	require.Eventually(t, func() bool { return strings.Contains(ledger(t, box.address), "attempt-1") }, soon, 10*time.Millisecond)
	began := time.Now()
	require.Zero(t, box.stop())
	require.Less(t, time.Since(began), 30*time.Second)
	<-done
	_, err := os.Stat(state)
	require.NoError(t, err)
}

func TestSandboxAddressInUse(t *testing.T) {
	t.Parallel()
	box := start(t, nil, "sandbox", "--listen", "127.0.0.1:0")
	code, _, stderr := run(t, nil, "sandbox", "--listen", box.address)
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "address already in use")
	require.Zero(t, box.stop())
}
