package idempotency_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/idempotency"
)

// counted says which one of its user's each request is.
type counted []idempotency.Used

func (c counted) QuotasTake(context.Context, []idempotency.Request, time.Duration) ([]idempotency.Used, error) {
	return c, nil
}

func TestQuotaRefusesOneTooMany(t *testing.T) {
	t.Parallel()
	used := counted{{Nth: 0, Left: time.Second}, {Nth: 4, Left: time.Second}, {Nth: 5, Left: time.Second}}
	requests := make([]idempotency.Request, len(used))
	refused, err := idempotency.Quota{NewKeys: 4, Per: time.Minute}.TakeAll(t.Context(), used, requests)
	require.NoError(t, err)
	require.Equal(t, []error{nil, nil, &idempotency.QuotaError{RetryAfter: time.Second}}, refused)
	refused, err = idempotency.Quota{}.TakeAll(t.Context(), nil, requests)
	require.NoError(t, err)
	require.Equal(t, make([]error, len(used)), refused, "without a quota nobody counts")
}
