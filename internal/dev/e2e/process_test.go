package e2e_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// soon is how long a test waits for a required event. A slow and busy machine took ten times as long as an idle one.
const soon = 4 * time.Minute

// stopLimit is how long the stop of a process may take that must not wait for its requests. Those end after a minute or more.
const stopLimit = 40 * time.Second

// eventually checks a condition often, since it mostly holds already.
func eventually(t *testing.T, what string, met func() bool) {
	t.Helper()
	require.Eventually(t, met, soon, 10*time.Millisecond, what)
}

// ready waits until a service is ready: on a busy machine its database may not respond in time at first.
func (s *service) ready(t *testing.T) {
	t.Helper()
	eventually(t, "ready", func() bool {
		return client{base: s.base, blunt: true}.send(t.Context(), http.MethodGet, "/readyz", "").status == http.StatusOK
	})
}

// within waits for a value from a channel, or its end.
func within[T any](t *testing.T, what string, from <-chan T) T {
	t.Helper()
	limit := time.NewTimer(soon)
	defer limit.Stop()
	select {
	case v := <-from:
		return v
	case <-limit.C:
		require.Fail(t, "waited in vain for "+what)
		panic("unreachable")
	}
}

// journal is the output of a process.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
	// quiet keeps it out of the output of a failed test, and all but its end out of memory.
	quiet bool
}

// quietLength is how much a quiet journal keeps, at least.
const quietLength = 256 << 10

func (j *journal) Write(line []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.quiet && j.text.Len() > 2*quietLength {
		j.text = *bytes.NewBuffer(bytes.Clone(j.text.Bytes()[quietLength:]))
	}
	return j.text.Write(line)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

// entry is a line of a process's log, as far as the tests read it.
type entry struct {
	Level     string `json:"level"`
	Message   string `json:"message"`
	Error     string `json:"error"`
	Address   string `json:"address"`
	Listen    string `json:"listen"`
	RequestID string `json:"request_id"`
	Status    int    `json:"status"`
	Code      string `json:"code"`
}

func (j *journal) entries() []entry {
	var list []entry
	lines := bufio.NewScanner(strings.NewReader(j.String()))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e entry
		if json.Unmarshal(lines.Bytes(), &e) == nil {
			list = append(list, e)
		}
	}
	return list
}

// failures are the lines of a log at the level error, without the lines about a database that did not respond in time: a busy machine has
// some.
func (j *journal) failures() []entry {
	return slices.DeleteFunc(j.entries(), func(e entry) bool {
		return e.Level != "error" || e.Code == "storage-unavailable" || e.Code == "overloaded" || unreached(e.Error)
	})
}

// process is a command that runs beside the test.
type process struct {
	cmd            *exec.Cmd
	stdout, stderr *journal
	done           chan struct{}
}

// start runs the binary in a directory, with no other settings than environ.
func start(t *testing.T, dir string, environ []string, args ...string) *process {
	t.Helper()
	return startOf(t, binary, dir, environ, args...)
}

// startOf is start of another binary.
func startOf(t *testing.T, program, dir string, environ []string, args ...string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(program, args...), stdout: &journal{}, stderr: &journal{}, done: make(chan struct{})}
	clean := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "PAYLATCH_") })
	p.cmd.Dir, p.cmd.Env, p.cmd.SysProcAttr = dir, append(clean, environ...), bound()
	p.cmd.Stdout, p.cmd.Stderr = p.stdout, p.stderr
	p.cmd.WaitDelay = time.Second
	require.NoError(t, p.launch())
	t.Cleanup(func() {
		p.kill()
		if t.Failed() && !p.stderr.quiet {
			t.Logf("%s printed:\n%s", strings.Join(args, " "), tail(p.stderr.String()))
		}
	})
	return p
}

// launch gives the process a thread of its own, see bound.
func (p *process) launch() error {
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			_ = p.cmd.Wait()
			close(p.done)
		}
	}()
	return <-started
}

func (p *process) signal(s syscall.Signal) { _ = p.cmd.Process.Signal(s) }

// kill ends the process as a crash would: it can do nothing about it.
func (p *process) kill() {
	p.signal(syscall.SIGKILL)
	<-p.done
}

// stop sends a signal to the process and returns its exit code and the time until its end.
func (p *process) stop(t *testing.T, s syscall.Signal) (code int, took time.Duration) {
	t.Helper()
	began := time.Now()
	p.signal(s)
	within(t, "the end of the process", p.done)
	return p.cmd.ProcessState.ExitCode(), time.Since(began)
}

// says waits for a line of the log.
func (p *process) says(t *testing.T, message string) entry {
	t.Helper()
	var found entry
	eventually(t, message, func() bool {
		entries := p.stderr.entries()
		i := slices.IndexFunc(entries, func(e entry) bool { return e.Message == message })
		if i >= 0 {
			found = entries[i]
		}
		select {
		case <-p.done:
			return true
		default:
			return i >= 0
		}
	})
	require.NotEmpty(t, found.Message, "the process has ended: %s", p.stderr)
	return found
}

const tailLength = 4000

func tail(text string) string { return text[max(0, len(text)-tailLength):] }
