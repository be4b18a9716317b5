package worklist_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/backoffice/worklist"
	"github.com/paylatch/paylatch/internal/payment"
)

// comments adds a comment without a key.
func (r *env) comments(t *testing.T, who support.Staff, id payment.DiscrepancyID, text string) error {
	t.Helper()
	_, _, err := r.Comment(t.Context(), who, worklist.AddComment{ID: id, Text: text})
	return err
}

// The same form that is sent twenty times at once is one comment, and twenty entries of the audit log about it.
func TestService_Comment_once(t *testing.T) {
	t.Parallel()
	const presses = 20
	r := newEnv(t)
	d := r.opened(t, payment.EventChanged, uuid.Nil, `{"account": "acc"}`)
	cmd := worklist.AddComment{ID: d, Text: "The bank calls back.", Key: "form-of-the-page-1"}
	var (
		all     sync.WaitGroup
		start   = make(chan struct{})
		results = make([]idempotency.Result, presses)
		failed  = make([]error, presses)
	)
	for i := range presses {
		all.Go(func() {
			<-start
			_, results[i], failed[i] = r.Comment(t.Context(), sam, cmd)
		})
	}
	close(start)
	all.Wait()
	require.NoError(t, errors.Join(failed...))
	counts := map[idempotency.Result]int{}
	for _, result := range results {
		counts[result]++
	}
	require.Equal(t, map[idempotency.Result]int{idempotency.Created: 1, idempotency.Reused: presses - 1}, counts)
	require.Equal(t, []string{"The bank calls back. form-of-the-page-1"}, rows(t, r, `SELECT text || ' ' || key FROM worklist_comments`))
	require.Equal(t, []string{"1 20 19"}, rows(t, r, `SELECT count(DISTINCT detail->>'comment_id') || ' ' || count(*) || ' ' || count(*) FILTER (WHERE detail->>'reused' = 'true')
		FROM staff_audit WHERE action = 'discrepancy.comment' AND outcome = 'done'`))
}

// A key belongs to its person and to one discrepancy.
func TestService_Comment_under_a_key(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	d, other := r.opened(t, payment.EventChanged, uuid.Nil, `{"account": "acc"}`), r.opened(t, payment.EventChanged, uuid.Nil, `{"account": "acc", "about_id": "2"}`)
	cmd := worklist.AddComment{ID: d, Text: "first", Key: "key-00000001"}
	say := func(who support.Staff, cmd worklist.AddComment) (idempotency.Result, error) {
		_, result, err := r.Comment(t.Context(), who, cmd)
		return result, err
	}
	for _, want := range []idempotency.Result{idempotency.Created, idempotency.Reused} {
		result, err := say(sam, cmd)
		require.NoError(t, err)
		require.Equal(t, want, result)
	}
	changed := cmd
	changed.Text = "second"
	_, err := say(sam, changed)
	require.ErrorIs(t, err, idempotency.ErrKeyReused)
	elsewhere := cmd
	elsewhere.ID = other
	for who, cmd := range map[*support.Staff]worklist.AddComment{&pat: changed, &sam: elsewhere} {
		result, err := say(*who, cmd)
		require.NoError(t, err)
		require.Equal(t, idempotency.Created, result)
	}
	for range 2 {
		require.NoError(t, r.comments(t, sam, d, "first"), "without a key each is another one")
	}
	require.Equal(t, []string{"first", "first", "first", "first", "second"}, rows(t, r, `SELECT text FROM worklist_comments ORDER BY text`))
	require.Equal(t, 1, one[int](t, r, `SELECT count(*)::int FROM staff_audit WHERE action = 'discrepancy.comment' AND outcome = 'refused'`))
}
