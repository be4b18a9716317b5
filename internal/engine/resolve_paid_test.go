package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

var kim = authz.Actor{Subject: "kim", Roles: []payment.Role{payment.RoleAdmin}}

// lostPay makes an attempt with an unknown outcome, and its discrepancy.
func (r *env) lostPay(t *testing.T, of payment.OrderID) (payment.AttemptID, payment.DiscrepancyID) {
	t.Helper()
	id := standings["outcome unknown"](t, r, of)
	return id, r.open(t, id)[0]
}

func replies(o gateway.Outcome, err error) func() (gateway.Outcome, error) {
	return func() (gateway.Outcome, error) { return o, err }
}

// One resolution is not enough for money: the payment is looked up, and where it can't be a
// second person has to agree.
func TestResolvePaid(t *testing.T) {
	t.Parallel()
	t.Run("the provider says that it was not", func(t *testing.T) {
		t.Parallel()
		p := &lossy{says: map[string]func() (gateway.Outcome, error){
			"pay_failed":  replies(gateway.Outcome{Event: fsm.EventFailed}, nil),
			"pay_held":    replies(gateway.Outcome{Event: fsm.EventAuthorized}, nil),
			"pay_waiting": replies(gateway.Outcome{Event: fsm.EventActionRequired}, nil),
			"pay_nobodys": replies(gateway.Outcome{}, gateway.ErrNoSuchPayment),
		}}
		r := newEnv(t, setup{silent: true, provider: p.on})
		id, d := r.lostPay(t, "A-1")
		for name := range p.says {
			_, err := r.Resolve(t.Context(), sam, because(d, payment.ResolvedPaid, name))
			require.Error(t, err, name)
			require.Equal(t, "pending", standingOf(r.attempt(t, id).Attempt).status, name)
		}
		require.Equal(t, []payment.DiscrepancyID{d}, r.open(t, id))
	})
	t.Run("the provider says how much", func(t *testing.T) {
		t.Parallel()
		p := &lossy{says: map[string]func() (gateway.Outcome, error){
			"pay_more": saysPaid("pay_more", taken, "EUR"), "pay_foreign": saysPaid("pay_foreign", taken, "USD"), "pay_right": saysPaid("pay_right", price, "EUR"),
		}}
		r := newEnv(t, setup{silent: true, provider: p.on})
		for name, want := range map[string]struct {
			captured int64
			opened   []string
		}{
			"pay_right":   {price, []string{"needs_review unknown_outcome"}},
			"pay_more":    {taken, []string{"amount_mismatch 20.00 EUR", "needs_review unknown_outcome"}},
			"pay_foreign": {0, []string{"currency_mismatch 20.00 USD", "needs_review unknown_outcome"}},
		} {
			id, d := r.lostPay(t, payment.OrderID(name))
			_, err := r.agreed(t, because(d, payment.ResolvedPaid, name))
			require.NoError(t, err)
			require.Equal(t, succeeded, standingOf(r.attempt(t, id).Attempt))
			require.Equal(t, want.captured, r.attempt(t, id).Captured, name)
			require.ElementsMatch(t, want.opened, r.about(t, id), name)
		}
		require.Empty(t, r.verify(t))
	})
	t.Run("the payment is another's", func(t *testing.T) {
		t.Parallel()
		p := &lossy{says: map[string]func() (gateway.Outcome, error){}}
		r := newEnv(t, setup{silent: true, provider: p.on})
		other := r.paid(t, "A-2", "tok_success")
		answer := saysPaid("pay_found", price, "EUR")
		p.says["pay_found"] = func() (gateway.Outcome, error) {
			o, err := answer()
			o.References = []string{other.ID.String()}
			return o, err
		}
		_, d := r.lostPay(t, "A-1")
		_, err := r.Resolve(t.Context(), sam, because(d, payment.ResolvedPaid, "pay_found"))
		require.ErrorIs(t, err, payment.ErrPaymentTaken)
	})
	for name, with := range map[string]func(p *lossy) setup{
		"it can't be asked": func(p *lossy) setup {
			return setup{silent: true, provider: func(of gateway.Provider) gateway.Provider { return &blind{Provider: p.on(of)} }}
		},
		"it does not answer": func(p *lossy) setup {
			p.says["pay_found"], p.says["pay_typo"] = replies(gateway.Outcome{}, errNoAnswer), replies(gateway.Outcome{}, errNoAnswer)
			return setup{silent: true, provider: p.on}
		},
		"it does not tell": func(p *lossy) setup {
			p.says["pay_found"], p.says["pay_typo"] = replies(gateway.Outcome{Event: fsm.EventUnknown}, nil), replies(gateway.Outcome{}, gateway.ErrInconclusive)
			return setup{silent: true, provider: p.on}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newEnv(t, with(&lossy{says: map[string]func() (gateway.Outcome, error){}}))
			id, d := r.lostPay(t, "A-1")
			r.second(t, d, "pay_found")
			a := r.attempt(t, id)
			require.Equal(t, succeeded, standingOf(a.Attempt))
			require.EqualValues(t, price, a.Captured)
			require.Empty(t, r.verify(t))
		})
	}
}

// second resolves as paid by two persons.
func (r *env) second(t *testing.T, d payment.DiscrepancyID, name string) {
	t.Helper()
	typo := because(d, payment.ResolvedPaid, "pay_typo")
	got, err := r.Resolve(t.Context(), kim, typo)
	require.NoError(t, err)
	require.Nil(t, got.Resolved)
	cmd := because(d, payment.ResolvedPaid, name)
	got, err = r.Resolve(t.Context(), sam, cmd)
	require.NoError(t, err)
	require.Nil(t, got.Resolved, "somebody else has to agree")
	_, err = r.Resolve(t.Context(), sam, cmd)
	require.Error(t, err, "nobody agrees with themselves")
	require.Len(t, r.open(t, *got.AttemptID), 1)
	got, err = r.Resolve(t.Context(), kim, cmd)
	require.NoError(t, err)
	require.Equal(t, "kim", got.Resolved.By)
	again, err := r.Resolve(t.Context(), kim, cmd)
	require.NoError(t, err)
	require.Equal(t, got.Resolved, again.Resolved)
}

// The same of a refund.
func resolveRefundPaidIsLookedUp(t *testing.T) {
	t.Parallel()
	answer := func(o gateway.RefundOutcome, err error) func() (gateway.RefundOutcome, error) {
		return func() (gateway.RefundOutcome, error) { return o, err }
	}
	for name, c := range map[string]struct {
		consistent bool
		says       func() (gateway.RefundOutcome, error)
		refused    bool
		second     bool
	}{
		"succeeded":           {false, answer(gateway.RefundOutcome{Event: fsm.EventSucceeded, ProviderRefundID: "re_found"}, nil), false, false},
		"failed":              {false, answer(gateway.RefundOutcome{Event: fsm.EventFailed}, nil), true, false},
		"not there, for sure": {true, answer(gateway.RefundOutcome{}, gateway.ErrNoSuchPayment), true, false},
		"not there yet":       {false, answer(gateway.RefundOutcome{}, gateway.ErrNoSuchPayment), false, true},
		"no answer":           {true, answer(gateway.RefundOutcome{}, errNoAnswer), false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, p := newListing(t, c.consistent)
			p.lookup = answer(gateway.RefundOutcome{}, errNoAnswer)
			id := r.paid(t, "A-1", "tok_success").ID
			r.lost(t, id, "refund-1")
			d := r.open(t, id)[0]
			p.lookup = c.says
			cmd := because(d, payment.ResolvedPaid, "re_found")
			if c.second {
				r.second(t, d, "re_found")
			} else {
				got, err := r.Resolve(t.Context(), sam, cmd)
				require.Equal(t, c.refused, err != nil, "%v", err)
				require.Equal(t, c.refused, got.Resolved == nil)
			}
			want := []string{"succeeded re_found"}
			if c.refused {
				want = []string{"pending "}
			}
			require.Equal(t, want, rows[string](t, r, "SELECT status || ' ' || provider_refund_id FROM refunds"))
		})
	}
}

// A capture in another currency counts nothing in the order's currency, and stays visible.
func resolvePaidInAnotherCurrency(t *testing.T) {
	t.Parallel()
	p := &lossy{says: map[string]func() (gateway.Outcome, error){"pay_usd": saysPaid("pay_usd", taken, "USD")}}
	r := newEnv(t, setup{silent: true, provider: p.on})
	id := standings["pending, another currency taken"](t, r, "A-1")
	_, err := r.agreed(t, because(r.open(t, id)[0], payment.ResolvedPaid, "pay_usd"))
	require.NoError(t, err)
	a := r.attempt(t, id)
	require.Equal(t, succeeded, standingOf(a.Attempt))
	require.Zero(t, a.Captured)
	require.Equal(t, []string{"currency_mismatch 20.00 USD"}, r.about(t, id), "the one that was resolved")
	require.Empty(t, r.open(t, id))
	require.Empty(t, r.verify(t))
	require.Equal(t, fsm.Conflict, r.tell(t, under(webhooks.KindSucceeded, id, a.ProviderPaymentID))[0], "money in its own currency beside")
}
