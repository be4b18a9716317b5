package e2e_test

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// fewFiles is a program that may open few files.
func fewFiles(t *testing.T, files int) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "paylatch")
	text := fmt.Sprintf("#!/bin/sh\nulimit -n %d\nexec %s \"$@\"\n", files, binary)
	require.NoError(t, os.WriteFile(program, []byte(text), 0o700))
	return program
}

// keptConnectionsEnd: more connections are kept than the process may open files. Pays and /readyz answer.
func keptConnectionsEnd(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no shell limits the files")
	}
	r := newRig(t)
	s := r.serveOf(fewFiles(t, 256), r.gate.URL)
	c := s.customer()
	order := c.order(t)
	for i := range 300 {
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.base, "http://"))
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		if i%10 > 0 { // the others say nothing
			_ = conn.SetDeadline(time.Now().Add(50 * time.Second)) // an idle connection ends after a minute
			_, _ = fmt.Fprint(conn, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
			line := make([]byte, len("HTTP/1.1 200"))
			_, err = conn.Read(line)
			require.NoError(t, err, "connection %d", i)
			require.Equal(t, "HTTP/1.1 200", string(line))
		}
	}
	for range 10 {
		fresh := client{base: s.base, token: c.token}
		fresh.pay(t.Context(), fresh.order(t), unique("pay"), "tok_success").attempt(t, http.StatusCreated)
		fresh.send(t.Context(), http.MethodGet, "/readyz", "").is(t, http.StatusOK)
	}
	c.pay(t.Context(), order, unique("pay"), "tok_success").attempt(t, http.StatusCreated)
}
