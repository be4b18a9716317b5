package logging_test

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/platform/logging"
	"github.com/paylatch/paylatch/internal/setup/config"
)

// pipe is a writer that takes nothing until it is opened, as a full pipe.
type pipe struct {
	open chan struct{}

	mu   sync.Mutex
	text bytes.Buffer
}

func (p *pipe) Write(line []byte) (int, error) {
	<-p.open
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(line)
}

func (p *pipe) lines() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Count(p.text.String(), "\n")
}

func (p *pipe) has(text string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Contains(p.text.String(), text)
}

// TestRefusalsNeverWait writes more lines than are kept while the writer takes none.
func TestRefusalsNeverWait(t *testing.T) {
	t.Parallel()
	const written = 20_000
	dropped := &pipe{open: make(chan struct{})}
	close(dropped.open)
	full := &pipe{open: make(chan struct{})}
	refusals, closing := logging.Refusals(config.Log{Level: "info"}, full, zerolog.New(dropped))
	for range written {
		refusals.Info().Int("status", 401).Msg("request")
	}
	require.Zero(t, full.lines())
	close(full.open)
	closing()
	require.Eventually(t, func() bool { return full.lines() > 0 && dropped.has("were dropped") }, time.Minute, time.Millisecond)
	require.LessOrEqual(t, full.lines(), 4097)
}

// TestRefusalsEnd: all that waits is written at the end, and a writer that takes nothing doesn't keep the process.
func TestRefusalsEnd(t *testing.T) {
	t.Parallel()
	open := &pipe{open: make(chan struct{})}
	close(open.open)
	refusals, closing := logging.Refusals(config.Log{Level: "info"}, open, zerolog.Nop())
	for range 1000 {
		refusals.Info().Msg("request")
	}
	closing()
	require.Eventually(t, func() bool { return open.lines() == 1000 }, time.Minute, time.Millisecond, "a busy machine writes on after the limit")

	stuck := &pipe{open: make(chan struct{})}
	refusals, closing = logging.Refusals(config.Log{Level: "info"}, stuck, zerolog.Nop())
	refusals.Info().Msg("request")
	began := time.Now()
	closing()
	require.Less(t, time.Since(began), 5*time.Minute)
	close(stuck.open)
}
