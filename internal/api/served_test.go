package api_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/api"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/metrics"
)

func TestWhatAKeyLedToIsObserved(t *testing.T) {
	t.Parallel()
	served := make(chan metrics.Request, 1)
	b := newBench(t, func(o *api.Options) { o.Observe = func(s metrics.Request) { served <- s } })
	created := commands.Reply{View: payment.View{Attempt: pending()}, Result: idempotency.Created}
	reused, resumed, shown := created, created, created
	reused.Result = idempotency.Reused
	resumed.TookOver = true
	shown.Result, shown.TookOver = idempotency.Reused, true
	b.payments.refuses, b.payments.err = true, payment.ErrOrderPaid
	b.command("/v1/orders/A-1/pay", goodPay, "X-Request-Id: r1")
	require.Equal(t, metrics.KeyCreated, (<-served).KeyResult, "executed and refused")
	b.payments.refuses = false
	for name, c := range map[string]struct {
		reply commands.Reply
		err   error
		want  metrics.KeyResult
	}{
		"created":             {created, nil, metrics.KeyCreated},
		"reused":              {reused, nil, metrics.KeyReused},
		"takeover":            {resumed, nil, metrics.KeyTakeover},
		"takeover of a pay":   {shown, nil, metrics.KeyTakeover},
		"conflict":            {commands.Reply{}, idempotency.ErrKeyReused, metrics.KeyConflict},
		"in progress":         {commands.Reply{}, idempotency.ErrInProgress, metrics.KeyInProgress},
		"busy":                {commands.Reply{}, payment.ErrBusy, metrics.KeyInProgress},
		"quota":               {commands.Reply{}, &idempotency.QuotaError{}, metrics.KeyQuota},
		"replayed refusal":    {commands.Reply{}, &idempotency.ReplayError{Response: b.payments.kept}, metrics.KeyReused},
		"payment in progress": {commands.Reply{}, &payment.InProgressError{Attempt: pending()}, ""},
		"storage":             {commands.Reply{}, payment.ErrUnavailable, ""},
	} {
		b.payments.reply, b.payments.err = c.reply, c.err
		b.command("/v1/orders/A-1/pay", goodPay, "X-Request-Id: r1")
		got := <-served
		require.Equal(t, "pay", got.Operation, name)
		require.Equal(t, c.want, got.KeyResult, name)
	}
	for _, path := range []string{"/v1/orders/A-1/cancel", attemptPath + "/confirm", attemptPath + "/cancel", attemptPath + "/refunds"} {
		b.payments.err = payment.ErrBusy
		b.command(path, ``)
		require.Equal(t, metrics.KeyInProgress, (<-served).KeyResult, path)
	}
	b.send(http.MethodPost, "/v1/orders", goodOrder)
	require.Empty(t, (<-served).Operation, "refused before the use case")
	b.send("BREW", "/v1/orders", "")
	require.Equal(t, "other", (<-served).Method, "a caller can't make labels")
}

func TestTheTimeOfAUseCaseIsWithoutTheBodys(t *testing.T) {
	t.Parallel()
	served := make(chan metrics.Request, 1)
	clock := now
	b := newBench(t, func(o *api.Options) {
		o.Observe = func(s metrics.Request) { served <- s }
		o.Now = func() time.Time { clock = clock.Add(time.Second); return clock }
	})
	b.payments.order, b.payments.result = order(), idempotency.Created
	b.command("/v1/orders", goodOrder)
	got := <-served
	require.Positive(t, got.Worked)
	require.Less(t, got.Worked, got.Took)
}
