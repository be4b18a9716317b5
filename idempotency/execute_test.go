package idempotency_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/idempotency"
)

// execute runs a command whose refusals are rendered as 409.
func execute(t *testing.T, m *memory, content string, run func() (*idempotency.Response, error)) (idempotency.Execution, error) {
	t.Helper()
	req := request(content)
	req.Refusal = func(err error) idempotency.Response {
		return idempotency.Response{Status: 409, Body: []byte(err.Error())}
	}
	return idempotency.Execute(t.Context(), m.InKeyTx, idempotency.Claim{Request: req, Lease: lease, Keep: keep},
		func(context.Context, idempotency.Tx, idempotency.Record) (*idempotency.Response, error) { return run() })
}

func TestExecute(t *testing.T) {
	t.Parallel()
	sold := errors.New("sold out")
	made := &idempotency.Response{Status: 201, Subject: "a1"}
	for name, c := range map[string]struct {
		response *idempotency.Response
		err      error
		// replay is what a copy gets; nil for err.
		replay *idempotency.Response
		copied error
	}{
		"a response":     {response: made, replay: made},
		"a refusal":      {err: idempotency.Refused(sold), replay: &idempotency.Response{Status: 409, Body: []byte("sold out")}},
		"a later commit": {copied: idempotency.ErrInProgress},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMemory()
			done, err := execute(t, m, "a", func() (*idempotency.Response, error) { return c.response, c.err })
			if c.err != nil {
				require.Equal(t, sold, err, "without the mark")
			} else {
				require.NoError(t, err)
			}
			require.Nil(t, done.Replay)
			require.EqualValues(t, 1, done.Record.Fence)
			done, err = execute(t, m, "a", nil)
			require.ErrorIs(t, err, c.copied)
			require.Equal(t, c.replay, done.Replay)
			_, err = execute(t, m, "b", nil)
			require.ErrorIs(t, err, idempotency.ErrKeyReused)
		})
	}
}

func TestExecuteUndoesAnError(t *testing.T) {
	t.Parallel()
	m := newMemory()
	broken := errors.New("broken")
	_, err := execute(t, m, "a", func() (*idempotency.Response, error) { return nil, broken })
	require.ErrorIs(t, err, broken)
	done, err := execute(t, m, "b", func() (*idempotency.Response, error) { return &idempotency.Response{Status: 201}, nil })
	require.NoError(t, err)
	require.EqualValues(t, 1, done.Record.Fence, "the key was never used")
}

// A stored refusal is an error to a caller that renders what was made.
func TestResponseErr(t *testing.T) {
	t.Parallel()
	require.NoError(t, idempotency.Response{Status: 201}.Err())
	var replay *idempotency.ReplayError
	require.ErrorAs(t, idempotency.Response{Status: 409, Subject: "a1"}.Err(), &replay)
	require.Equal(t, "a1", replay.Response.Subject)
}

// TestInTurnEndsWithItsWait: after a try that lasted longer than the wait no other try begins.
func TestInTurnEndsWithItsWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for range 50 {
			tries := 0
			err := idempotency.InTurn(t.Context(), time.Millisecond, func() error {
				tries++
				time.Sleep(time.Second)
				return idempotency.ErrInProgress
			})
			require.ErrorIs(t, err, idempotency.ErrInProgress)
			require.Equal(t, 1, tries)
		}
	})
}
