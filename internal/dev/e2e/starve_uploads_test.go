package e2e_test

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// memory is how much a process has in memory.
func (p *process) memory(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("the kernel does not say how much memory a process has")
	}
	require.NoError(t, err)
	found := regexp.MustCompile(`VmRSS:\s+(\d+) kB`).FindSubmatch(text)
	require.NotNil(t, found)
	kilobytes, err := strconv.Atoi(string(found[1]))
	require.NoError(t, err)
	return kilobytes << 10
}

// slowUploadsTakeLittle: a thousand connections send half a megabyte each, slowly. Their memory stays small, all of them end,
// and others are served meanwhile.
func slowUploadsTakeLittle(t *testing.T) {
	t.Parallel()
	const (
		many, size, steps = 1000, 1 << 19, 16
		most              = 128 << 20
	)
	r := newRig(t)
	s := r.serve(littleGarbage)
	c := s.customer()
	order := c.order(t)
	conns := make([]net.Conn, many)
	for i := range conns {
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.base, "http://"))
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		conns[i] = conn
		_, err = fmt.Fprintf(conn, "POST /webhooks/sandbox HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", size)
		require.NoError(t, err)
	}
	piece := bytes.Repeat([]byte("a"), size/steps)
	var peak int
	for range steps - 1 { // the last piece never comes
		for _, conn := range conns {
			_ = conn.SetWriteDeadline(time.Now().Add(5 * time.Millisecond))
			_, _ = conn.Write(piece)
		}
		peak = max(peak, s.memory(t))
		require.Less(t, peak, most, "bytes")
	}
	c.pay(t.Context(), order, unique("pay"), "tok_success").attempt(t, http.StatusCreated)
	answers := map[string]int{}
	for _, conn := range conns {
		_ = conn.SetReadDeadline(time.Now().Add(soon))
		line := make([]byte, len("HTTP/1.1 503"))
		n, err := conn.Read(line)
		require.NotErrorIs(t, err, os.ErrDeadlineExceeded, "no upload goes on for ever")
		if n == len(line) {
			answers[string(line[len(line)-3:])]++
		}
	}
	peak = max(peak, s.memory(t))
	require.Less(t, peak, most, "bytes")
	t.Logf("at most %d MiB; %v", peak>>20, answers)
	for status := range answers {
		require.Contains(t, []string{"408", "503"}, status)
	}
	require.NotEmpty(t, answers)
	eventually(t, "room for others", func() bool {
		return s.bluntly("").deliverLarge(t).status == http.StatusUnauthorized
	})
}

// deliverLarge sends an unsigned delivery of the maximum size.
func (c client) deliverLarge(t *testing.T) answer {
	t.Helper()
	return c.send(t.Context(), http.MethodPost, "/webhooks/sandbox", strings.Repeat("a", 1<<19))
}
