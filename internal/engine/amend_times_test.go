package engine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// The order's time of change and its version rise with each change of it, of its payment and of a dispute, also if the clock
// was ahead at the change before.
func amendOrderEachChange(t *testing.T) {
	t.Parallel()
	t.Run("of the order alone", func(t *testing.T) {
		t.Parallel()
		for name, change := range map[string]func(r *env){
			"amended":   func(r *env) { r.amend(t, "amend-key", commands.AmendOrder{Amount: new(int64(dearer))}) },
			"cancelled": func(r *env) { r.cancelOrder(t) },
		} {
			r := newEnv(t, setup{silent: true})
			r.paid(t, "A-1", "tok_decline")
			r.exec(t, "UPDATE payment_attempts SET updated_at = updated_at + interval '1 hour'")
			before := r.orderNow(t)
			change(r)
			require.True(t, r.orderNow(t).ChangedAt().After(before.ChangedAt()), name)
			require.Greater(t, r.orderNow(t).Version(), before.Version(), name)
		}
	})
	r := newEnv(t, setup{silent: true})
	var id payment.AttemptID
	last := time.Time{}
	for _, step := range []struct {
		name string
		do   func()
		// The clock was ahead at the change before. Quiet changes leave the version.
		ahead, quiet bool
	}{
		{"created", func() { r.order(t, "A-1") }, false, false},
		{"amended", func() { r.amend(t, "amend-key-1", commands.AmendOrder{Amount: new(int64(dearer))}) }, false, false},
		{"declined", func() { r.pay(t, "A-1", "pay-key-1", "tok_decline") }, false, false},
		{"amended again", func() { r.amend(t, "amend-key-2", commands.AmendOrder{Amount: new(int64(price))}) }, false, false},
		{"on hold", func() { id = r.payAgain(t, "A-1", "tok_success", payment.CaptureManual).ID }, false, false},
		{"disputed", func() { r.inquiry(t, id) }, false, true},
		{"captured", func() { require.NoError(t, r.confirm(t, id, "confirm-key")) }, true, false},
		{"charged back", func() { r.chargedBack(t, id, "dp_2", 500) }, true, false},
	} {
		version := 0
		if !last.IsZero() {
			o := r.orderNow(t)
			version, last = o.Version(), o.ChangedAt()
		}
		if step.ahead { // the clock was ahead at the last change
			for _, table := range []string{"orders", "payment_attempts"} {
				r.exec(t, "UPDATE "+table+" SET updated_at = updated_at + interval '1 hour'")
			}
			last = r.orderNow(t).ChangedAt()
		}
		step.do()
		o := r.orderNow(t)
		require.True(t, o.ChangedAt().After(last), step.name)
		require.Equal(t, !step.quiet, o.Version() > version, step.name)
		last = o.ChangedAt()
	}
}

// inquiry opens a dispute that takes no money yet.
func (r *env) inquiry(t *testing.T, id payment.AttemptID) {
	t.Helper()
	e := event(webhooks.KindDisputed, id.String())
	e.Money, e.Dispute = nil, &webhooks.Dispute{ID: "dp_1", Status: webhooks.DisputeWarning, Reason: "fraudulent"}
	r.tell(t, e)
	require.Len(t, rows[string](t, r, "SELECT provider_dispute_id FROM disputes"), 1)
}
