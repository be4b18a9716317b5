package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/faults"
)

// apart is how far the clocks of the tests' processes are from the right time.
const apart = 90 * time.Second

// buildApart builds the program with the clock of testdata/apart in place of its own. The rest of the program is unchanged; only
// cmd/paylatch is compiled anew.
var buildApart = sync.OnceValues(func() (string, error) { return buildWith("paylatch-apart", nil) })

// buildWith is buildApart with further files of the program replaced.
func buildWith(name string, replaced map[string]string) (string, error) {
	own, err := filepath.Abs("../../../cmd/paylatch/clock.go")
	if err != nil {
		return "", err
	}
	other, err := filepath.Abs("testdata/apart/clock.go")
	if err != nil {
		return "", err
	}
	dir := filepath.Dir(binary)
	replaced = maps.Clone(replaced)
	if replaced == nil {
		replaced = map[string]string{}
	}
	replaced[own] = other
	text, err := json.Marshal(map[string]map[string]string{"Replace": replaced})
	if err != nil {
		return "", err
	}
	overlay, program := filepath.Join(dir, name+".json"), filepath.Join(dir, name)
	if err := os.WriteFile(overlay, text, 0o600); err != nil {
		return "", err
	}
	build := exec.CommandContext(context.Background(), "go", "build", "-pgo=off", "-overlay", overlay, "-o", program, "github.com/paylatch/paylatch/cmd/paylatch")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return program, nil
}

// serveOff is serve with a clock that is off.
func (r *rig) serveOff(off time.Duration, environ ...string) *service {
	r.t.Helper()
	program, err := buildApart()
	require.NoError(r.t, err)
	return r.serveOf(program, r.gate.URL, append(environ, clockOff(off))...)
}

func clockOff(off time.Duration) string { return "CLOCK_OFF=" + off.String() }

// flights counts the calls under way, by idempotency key. Two at once of one key are two processes that both take themselves to have the
// operation's lease.
type flights struct {
	mu      sync.Mutex
	flying  map[string]int
	crossed []string
}

// watch is a fault that breaks nothing. A call ends when its caller has the response, or has gone.
func (f *flights) watch(on faults.Way) faults.Way {
	return func(r *faults.Request) *faults.Response {
		key := r.Header.Get("Idempotency-Key")
		if key == "" {
			return on(r)
		}
		f.move(key, 1)
		landed := sync.OnceFunc(func() { f.move(key, -1) })
		defer landed()
		defer context.AfterFunc(r.Context(), landed)()
		return on(r)
	}
}

func (f *flights) move(key string, by int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.flying[key] += by; f.flying[key] > 1 {
		f.crossed = append(f.crossed, key)
	}
}

// crossings lists the keys that had two calls under way at once.
func (f *flights) crossings() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.crossed
}

// everyNth matches one of n requests that another match takes.
func everyNth(n int, match func(r *faults.Request) bool) func(r *faults.Request) bool {
	var mu sync.Mutex
	seen := 0
	return func(r *faults.Request) bool {
		if !match(r) {
			return false
		}
		mu.Lock()
		defer mu.Unlock()
		seen++
		return seen%n == 0
	}
}
