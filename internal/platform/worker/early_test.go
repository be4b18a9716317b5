package worker_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/platform/worker"
)

// early has questions.
type early []func(context.Context) error

func (e early) RetryEarly(context.Context) ([]func(context.Context) error, error) { return e, nil }

// A question that panics is one question's.
func TestEveryEarlyQuestionIsAsked(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{}, 1)
	loop := worker.RetryEarly(early{
		func(context.Context) error { panic("in a question") },
		func(context.Context) error { asked <- struct{}{}; return nil },
		func(context.Context) error { return errGone },
	})
	more, err := loop.Do(t.Context())
	require.False(t, more)
	require.ErrorIs(t, err, errGone)
	require.ErrorContains(t, err, "in a question")
	require.Len(t, asked, 1)
}
