package idempotency_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/idempotency"
)

const (
	lease = time.Minute
	keep  = time.Hour
)

func take(m *memory, content string) (a *idempotency.Response, rec idempotency.Record, err error) {
	err = m.InKeyTx(context.Background(), func(ctx context.Context, tx idempotency.Tx) error {
		a, rec, err = idempotency.Take(ctx, tx, idempotency.Claim{Request: request(content), Lease: lease, Keep: keep})
		return err
	})
	return a, rec, err
}

func store(m *memory, fence int64, body string) error {
	return m.InKeyTx(context.Background(), func(ctx context.Context, tx idempotency.Tx) error {
		return tx.KeyRespond(ctx, request("a"), fence, idempotency.Response{Status: 201, Body: []byte(body)}, keep)
	})
}

func TestTake(t *testing.T) {
	t.Parallel()
	m := newMemory()
	answer, first, err := take(m, "a")
	require.NoError(t, err)
	require.Nil(t, answer, "a new key is the caller's")

	_, _, err = take(m, "a")
	require.ErrorIs(t, err, idempotency.ErrInProgress)
	_, _, err = take(m, "b")
	require.ErrorIs(t, err, idempotency.ErrKeyReused, "another request never waits for the first")

	require.NoError(t, store(m, first.Fence, "first"))
	answer, _, err = take(m, "a")
	require.NoError(t, err)
	require.Equal(t, "first", string(answer.Body))
	_, _, err = take(m, "b")
	require.ErrorIs(t, err, idempotency.ErrKeyReused)
}

func TestTakeOverADeadRunnersKey(t *testing.T) {
	t.Parallel()
	m := newMemory()
	_, first, err := take(m, "a")
	require.NoError(t, err)
	m.leap(lease)
	_, _, err = take(m, "b")
	require.ErrorIs(t, err, idempotency.ErrKeyReused, "a dead runner's key is still its request's")
	_, second, err := take(m, "a")
	require.NoError(t, err)
	require.Greater(t, second.Fence, first.Fence)
	require.ErrorIs(t, store(m, first.Fence, "woken"), idempotency.ErrFenced)
	require.NoError(t, store(m, second.Fence, "second"))
	answer, _, err := take(m, "a")
	require.NoError(t, err)
	require.Equal(t, "second", string(answer.Body))
}

func TestTakeAnExpiredKeyForAnything(t *testing.T) {
	t.Parallel()
	m := newMemory()
	_, rec, err := take(m, "a")
	require.NoError(t, err)
	require.NoError(t, store(m, rec.Fence, "old"))
	m.leap(keep)
	answer, _, err := take(m, "b")
	require.NoError(t, err)
	require.Nil(t, answer)
}
