package worker_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/worker"
)

// listener says how often it has noted who was heard.
type listener struct {
	noted  int
	broken error
}

func (l *listener) NoteHeard(context.Context) error {
	l.noted++
	return l.broken
}

func (l *listener) Silent(context.Context) ([]payment.Silence, error) {
	return []payment.Silence{{Account: "sandbox", Pending: l.noted}}, nil
}

func TestSilenceIsToldAfterWhatWasHeard(t *testing.T) {
	t.Parallel()
	var told []payment.Silence
	l := &listener{}
	loop := worker.Silence(l, func(all []payment.Silence) { told = append(told, all...) })
	for range 2 {
		more, err := loop.Do(t.Context())
		require.NoError(t, err)
		require.False(t, more)
	}
	require.Equal(t, []payment.Silence{{Account: "sandbox", Pending: 1}, {Account: "sandbox", Pending: 2}}, told)

	l.broken = errGone
	_, err := loop.Do(t.Context())
	require.ErrorIs(t, err, errGone)
	require.Len(t, told, 2, "who could not be noted is not called silent")
}
