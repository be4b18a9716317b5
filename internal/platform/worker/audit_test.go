package worker_test

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/platform/worker"
)

// brokenLog can't be read.
type brokenLog struct{}

func (brokenLog) AuditChain(context.Context, int64, int) ([]support.Link, error) {
	return nil, errors.New("gone")
}

func (brokenLog) AuditMayBeChanged(context.Context) (string, bool, error) { return "", false, nil }

func (brokenLog) KnownHead(context.Context) (support.Head, error) { return support.Head{}, nil }

func (brokenLog) KeepHead(context.Context, support.Head) error { return nil }

func TestTheHeadIsLoggedOnceItCanBeRead(t *testing.T) {
	t.Parallel()
	var lines bytes.Buffer
	loop := worker.Audit(brokenLog{}, brokenLog{}, true, time.Now, zerolog.New(&lines))
	for range 2 {
		_, err := loop.Do(t.Context())
		require.Error(t, err)
	}
	require.Empty(t, lines.String())
}
