package payment_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

var kim = payment.Actor{Subject: "kim", Roles: []payment.Role{payment.RoleAdmin}}

// lostPay is an attempt of which nobody knows whether it was paid, and the question of that.
func (r *rig) lostPay(t *testing.T, of payment.OrderID) (payment.AttemptID, payment.DiscrepancyID) {
	t.Helper()
	id := standings["outcome unknown"](t, r, of)
	return id, r.open(t, id)[0]
}

func replies(o payment.Outcome, err error) func() (payment.Outcome, error) {
	return func() (payment.Outcome, error) { return o, err }
}

// One person's word is not enough for money: the provider is asked, and where it can't be
// asked somebody else has to agree.
func TestPaidIsAsked(t *testing.T) {
	t.Parallel()
	t.Run("the provider says that it was not", func(t *testing.T) {
		t.Parallel()
		p := &told{says: map[string]func() (payment.Outcome, error){
			"pay_failed":  replies(payment.Outcome{News: fsm.NewsFailed}, nil),
			"pay_held":    replies(payment.Outcome{News: fsm.NewsAuthorized}, nil),
			"pay_waiting": replies(payment.Outcome{News: fsm.NewsActionRequired}, nil),
			"pay_nobodys": replies(payment.Outcome{}, payment.ErrNoSuchPayment),
		}}
		r := newRig(t, setup{silent: true, provider: p.on})
		id, d := r.lostPay(t, "A-1")
		for name := range p.says {
			_, err := r.Resolve(t.Context(), sam, because(d, payment.ResolvedPaid, name))
			require.Error(t, err, name)
			require.Equal(t, "pending", standingOf(r.attempt(t, id)).status, name)
		}
		require.Equal(t, []payment.DiscrepancyID{d}, r.open(t, id))
	})
	t.Run("the provider says how much", func(t *testing.T) {
		t.Parallel()
		p := &told{says: map[string]func() (payment.Outcome, error){
			"pay_more": saysPaid("pay_more", taken, "EUR"), "pay_foreign": saysPaid("pay_foreign", taken, "USD"), "pay_right": saysPaid("pay_right", price, "EUR"),
		}}
		r := newRig(t, setup{silent: true, provider: p.on})
		for name, want := range map[string]struct {
			captured int64
			opened   []string
		}{
			"pay_right":   {price, []string{"needs_review "}},
			"pay_more":    {taken, []string{"amount_mismatch 20.00 EUR", "needs_review "}},
			"pay_foreign": {0, []string{"currency_mismatch 20.00 USD", "needs_review "}},
		} {
			id, d := r.lostPay(t, payment.OrderID(name))
			_, err := r.Resolve(t.Context(), sam, because(d, payment.ResolvedPaid, name))
			require.NoError(t, err)
			require.Equal(t, succeeded, standingOf(r.attempt(t, id)))
			require.Equal(t, want.captured, r.attempt(t, id).Captured, name)
			require.ElementsMatch(t, want.opened, r.about(t, id), name)
		}
		require.Empty(t, r.verify(t))
	})
	t.Run("the payment is another's", func(t *testing.T) {
		t.Parallel()
		p := &told{says: map[string]func() (payment.Outcome, error){}}
		r := newRig(t, setup{silent: true, provider: p.on})
		other := r.paid(t, "A-2", "tok_success")
		answer := saysPaid("pay_found", price, "EUR")
		p.says["pay_found"] = func() (payment.Outcome, error) {
			o, err := answer()
			o.References = []string{other.ID.String()}
			return o, err
		}
		_, d := r.lostPay(t, "A-1")
		_, err := r.Resolve(t.Context(), sam, because(d, payment.ResolvedPaid, "pay_found"))
		require.ErrorIs(t, err, payment.ErrPaymentTaken)
	})
	for name, with := range map[string]func(p *told) setup{
		"it can't be asked": func(p *told) setup {
			return setup{silent: true, provider: func(of payment.Provider) payment.Provider { return &blind{Provider: p.on(of)} }}
		},
		"it does not answer": func(p *told) setup {
			p.says["pay_found"], p.says["pay_typo"] = replies(payment.Outcome{}, errNoAnswer), replies(payment.Outcome{}, errNoAnswer)
			return setup{silent: true, provider: p.on}
		},
		"it does not tell": func(p *told) setup {
			p.says["pay_found"], p.says["pay_typo"] = replies(payment.Outcome{News: fsm.NewsUnknown}, nil), replies(payment.Outcome{}, payment.ErrNotTold)
			return setup{silent: true, provider: p.on}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, with(&told{says: map[string]func() (payment.Outcome, error){}}))
			id, d := r.lostPay(t, "A-1")
			r.second(t, d, "pay_found")
			a := r.attempt(t, id)
			require.Equal(t, succeeded, standingOf(a))
			require.EqualValues(t, price, a.Captured)
			require.Empty(t, r.verify(t))
		})
	}
}

// second resolves as paid by two persons.
func (r *rig) second(t *testing.T, d payment.DiscrepancyID, name string) {
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

// So it is with a refund.
func TestPaidIsAskedOfARefund(t *testing.T) {
	t.Parallel()
	answer := func(o payment.RefundOutcome, err error) func() (payment.RefundOutcome, error) {
		return func() (payment.RefundOutcome, error) { return o, err }
	}
	for name, c := range map[string]struct {
		consistent bool
		says       func() (payment.RefundOutcome, error)
		refused    bool
		second     bool
	}{
		"succeeded":           {false, answer(payment.RefundOutcome{News: fsm.NewsSucceeded, ProviderRefundID: "re_found"}, nil), false, false},
		"failed":              {false, answer(payment.RefundOutcome{News: fsm.NewsFailed}, nil), true, false},
		"not there, for sure": {true, answer(payment.RefundOutcome{}, payment.ErrNoSuchPayment), true, false},
		"not there yet":       {false, answer(payment.RefundOutcome{}, payment.ErrNoSuchPayment), false, true},
		"no answer":           {true, answer(payment.RefundOutcome{}, errNoAnswer), false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, p := newListing(t, c.consistent)
			p.lookup = answer(payment.RefundOutcome{}, errNoAnswer)
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

// What was taken in another currency counts nothing in the order's, and stays visible.
func TestPaidInAnotherCurrency(t *testing.T) {
	t.Parallel()
	p := &told{says: map[string]func() (payment.Outcome, error){"pay_usd": saysPaid("pay_usd", taken, "USD")}}
	r := newRig(t, setup{silent: true, provider: p.on})
	id := standings["pending, another currency taken"](t, r, "A-1")
	_, err := r.Resolve(t.Context(), sam, because(r.open(t, id)[0], payment.ResolvedPaid, "pay_usd"))
	require.NoError(t, err)
	a := r.attempt(t, id)
	require.Equal(t, succeeded, standingOf(a))
	require.Zero(t, a.Captured)
	require.Equal(t, []string{"currency_mismatch 20.00 USD"}, r.about(t, id), "the one that was resolved")
	require.Empty(t, r.open(t, id))
	require.Empty(t, r.verify(t))
	require.Equal(t, fsm.Conflict, r.tell(t, event(webhooks.KindSucceeded, id.String()))[0], "money in its own currency beside")
}
