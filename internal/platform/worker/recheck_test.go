package worker_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/platform/worker"
)

// turns is a rechecker with one account that is slow.
type turns struct {
	begun   chan string
	release chan struct{}
}

func (turns) Lookups() []string { return []string{"quick", "slow"} }

func (r turns) Turn(_ context.Context, account string) error {
	r.begun <- account
	if account == "slow" {
		<-r.release
	}
	return nil
}

// A slow account delays no other one, and has one turn at a time.
func TestRecheck(t *testing.T) {
	t.Parallel()
	r := turns{begun: make(chan string, 10), release: make(chan struct{})}
	loop := worker.Recheck(r)
	_, err := loop.Do(t.Context())
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"quick", "slow"}, []string{<-r.begun, <-r.begun})
	for again := ""; again == ""; { // the first turn of the quick one may not be over
		_, err = loop.Do(t.Context())
		require.NoError(t, err)
		select {
		case again = <-r.begun:
			require.Equal(t, "quick", again)
		default:
		}
	}
	close(r.release)
	loop.Rest()
	close(r.begun)
	for again := range r.begun {
		require.Equal(t, "quick", again)
	}
}
