package worker_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/ledger/reconcile"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/worker"
)

// books are of three accounts: one is due, one is not, one fails.
type books struct{}

var errBooks = errors.New("no answer")

func (books) WithBooks() (with, without []string) {
	return []string{"due", "fails", "later"}, []string{"filed", "mail"}
}

func (books) RunDaily(_ context.Context, account string, found func(payment.Discrepancy)) (reconcile.Count, bool, error) {
	switch account {
	case "due":
		found(payment.Discrepancy{Kind: payment.UnknownHere, AboutID: "pay_1"})
		return reconcile.Count{Entries: 2, Agreed: 1, Review: 1}, true, nil
	case "fails":
		return reconcile.Count{}, true, errBooks
	}
	return reconcile.Count{}, false, nil
}

func TestReconcileBooks(t *testing.T) {
	t.Parallel()
	var lines bytes.Buffer
	var mu sync.Mutex
	counts := map[string]map[string]int{}
	failures := map[string]int{}
	counted := func(account string, entries map[string]int, failed bool) {
		mu.Lock()
		defer mu.Unlock()
		counts[account] = entries
		if failed {
			failures[account]++
		}
	}
	loop := worker.ReconcileBooks(books{}, counted, zerolog.New(zerolog.SyncWriter(&lines)))
	var failed []error
	for range 2 {
		_, err := loop.Do(t.Context())
		failed = append(failed, err)
		loop.Rest()
	}
	_, err := loop.Do(t.Context())
	failed = append(failed, err)
	loop.Rest()
	require.NoError(t, failed[0], "it waits for none")
	require.ErrorIs(t, failed[1], errBooks)
	require.Equal(t, map[string]int{"fails": 3}, failures)
	require.Equal(t, 1, counts["due"]["agreed"])
	require.NotContains(t, counts, "later")
	require.Equal(t, 1, strings.Count(lines.String(), `"accounts":"filed, mail"`), "once")
	require.Equal(t, 3, strings.Count(lines.String(), `"kind":"unknown_here"`))
}
