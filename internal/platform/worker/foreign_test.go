package worker_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/platform/worker"
)

// foreign counts as it is set to.
type foreign struct {
	counts map[string]int64
	err    error
}

func (f *foreign) ForeignLastDay(context.Context) (map[string]int64, error) { return f.counts, f.err }

func TestForeignEventsAreSummedUpOnceADay(t *testing.T) {
	t.Parallel()
	var lines bytes.Buffer
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	from := &foreign{err: errors.New("gone")}
	loop := worker.Foreign(from, func() time.Time { return now }, zerolog.New(&lines))
	_, err := loop.Do(t.Context())
	require.Error(t, err)

	from.counts, from.err = map[string]int64{"b": 2, "a": 12}, nil
	for range 3 {
		_, err = loop.Do(t.Context())
		require.NoError(t, err)
	}
	first, second, _ := strings.Cut(lines.String(), "\n")
	require.JSONEq(t, `{"level":"info","account":"a","events":12,"message":"foreign events of the last day"}`, first)
	require.JSONEq(t, `{"level":"info","account":"b","events":2,"message":"foreign events of the last day"}`, second)

	now = now.Add(24 * time.Hour)
	_, err = loop.Do(t.Context())
	require.NoError(t, err)
	require.Equal(t, 4, strings.Count(lines.String(), "\n"))
}
