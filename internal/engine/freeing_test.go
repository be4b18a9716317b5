package engine_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// A lookup comes before a resolution that frees money, or an order, for another move. The resolution is refused if the
// provider contradicts it. It takes two people if no lookup is possible.
func TestFreeingMoneyAsksFirst(t *testing.T) {
	t.Parallel()
	t.Run("of_an_attempt", freeingAttempt)
	t.Run("of_a_lost_charge", freeingLostCharge)
	t.Run("of_a_refund", freeingRefund)
	t.Run("of_late_money", freeingLateMoney)
	t.Run("of_what_went_back", freeingReturned)
	t.Run("of_a_hold", freeingHold)
	t.Run("of_an_account_without_a_gateway", freeingWithoutGateway)
}

// replying returns the provider's response, with the requested name.
func replying(news fsm.Event, money *payment.Money) func(name string) (gateway.Outcome, error) {
	return func(name string) (gateway.Outcome, error) {
		return gateway.Outcome{Event: news, ProviderPaymentID: name, Money: money}, nil
	}
}

func euros(minor int64) *payment.Money { return &payment.Money{Minor: minor, Currency: "EUR"} }

// sighted is a provider that lets charges through and answers every lookup with one thing.
type sighted struct {
	gateway.Provider

	lookup func(name string) (gateway.Outcome, error)
	can    func(*payment.Capabilities)
	asked  int
}

func (p *sighted) on(of gateway.Provider) gateway.Provider {
	p.Provider = of
	return p
}

func (p *sighted) Capabilities() payment.Capabilities {
	c := p.Provider.Capabilities()
	if p.can != nil {
		p.can(&c)
	}
	return c
}

func (p *sighted) Lookup(ctx context.Context, name string) (gateway.Outcome, error) {
	if p.lookup == nil {
		return p.Provider.Lookup(ctx, name)
	}
	p.asked++
	return p.lookup(name)
}

// byAnotherDoor is somebody who can't be told from those at the usual door.
func byAnotherDoor(a authz.Actor) authz.Actor {
	a.Door = "HS256"
	return a
}

// needsTwo requires that one person's resolution stays a proposal, that the same person can't agree with it, and that a
// second one decides it.
func (r *env) needsTwo(t *testing.T, cmd commands.Resolve) {
	t.Helper()
	first, err := r.Resolve(t.Context(), sam, cmd)
	require.NoError(t, err)
	require.Nil(t, first.Resolved, "one person alone freed it")
	require.True(t, first.Awaits())
	for _, who := range []authz.Actor{sam, byAnotherDoor(kim)} {
		_, err = r.Resolve(t.Context(), who, cmd)
		require.ErrorIs(t, err, payment.ErrSecondPerson, who.Person())
	}
	second, err := r.Resolve(t.Context(), kim, cmd)
	require.NoError(t, err)
	require.Equal(t, cmd.Resolution, second.Resolved.Resolution)
	require.Equal(t, "sam", second.Confirmed())
}

func freeingAttempt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		says    func(string) (gateway.Outcome, error)
		can     func(*payment.Capabilities)
		refused bool
		two     bool
		// stage is the attempt's stage after the first person's resolution.
		stage string
	}{
		"paid":                      {says: replying(fsm.EventSucceeded, euros(price)), refused: true, stage: "final"},
		"held":                      {says: replying(fsm.EventAuthorized, euros(price)), refused: true, stage: "authorized"},
		"under way":                 {says: replying(fsm.EventProcessing, nil), refused: true, stage: "requested"},
		"open":                      {says: replying(fsm.EventActionRequired, nil), refused: true, stage: "awaiting_customer"},
		"open, and nothing cancels": {says: replying(fsm.EventActionRequired, nil), can: func(c *payment.Capabilities) { c.Cancels = payment.CancelsNone }, two: true},
		"failed":                    {says: replying(fsm.EventFailed, nil)},
		"no such payment":           {says: func(string) (gateway.Outcome, error) { return gateway.Outcome{}, gateway.ErrNoSuchPayment }, two: true},
		"no answer":                 {says: func(string) (gateway.Outcome, error) { return gateway.Outcome{}, errNoAnswer }, two: true},
		"does not know":             {says: replying(fsm.EventUnknown, nil), two: true},
		"blind":                     {says: replying(fsm.EventFailed, nil), can: func(c *payment.Capabilities) { c.Lookup = payment.LookupNone }, two: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &sighted{can: c.can}
			r := newEnv(t, setup{silent: true, provider: p.on})
			id, d := r.stuck(t, "A-1")
			p.lookup = c.says
			cmd := because(d, payment.ResolvedNotPaid)
			switch {
			case c.two:
				r.needsTwo(t, cmd)
			case c.refused:
				_, err := r.Resolve(t.Context(), sam, cmd)
				require.ErrorIs(t, err, payment.ErrResolutionImpossible)
				require.Positive(t, p.asked)
				require.Equal(t, c.stage, r.attempt(t, id).Stage(), "what was found counts")
				require.False(t, r.attempt(t, id).Failed())
				return
			default:
				_, err := r.Resolve(t.Context(), sam, cmd)
				require.NoError(t, err)
			}
			require.True(t, r.attempt(t, id).Failed())
			require.Empty(t, r.verify(t))
		})
	}
}

// searching is a provider that loses the answers to charges of "lost", keeps no keys, and can be down.
type searching struct {
	gateway.Provider

	down  bool
	finds int
}

func (p *searching) Charge(ctx context.Context, c gateway.Charge) (gateway.Outcome, error) {
	lost := c.Token == "lost"
	if lost {
		c.Token = "tok_success"
	}
	out, err := p.Provider.Charge(ctx, c)
	if lost {
		return gateway.Outcome{}, errNoAnswer
	}
	return out, err
}

func (p *searching) Capabilities() payment.Capabilities {
	c := p.Provider.Capabilities()
	c.KeyLife = 0
	return c
}

func (p *searching) Find(ctx context.Context, id payment.AttemptID) (gateway.Outcome, error) {
	p.finds++
	if p.down {
		return gateway.Outcome{}, errNoAnswer
	}
	return p.Provider.Find(ctx, id)
}

// A charge with a lost response was paid. Resolved as not paid, the order would be paid twice.
func freeingLostCharge(t *testing.T) {
	t.Parallel()
	p := &searching{down: true}
	r := newEnv(t, setup{silent: true, provider: func(of gateway.Provider) gateway.Provider { p.Provider = of; return p }})
	r.order(t, "A-1")
	first, err := r.Pay(t.Context(), customer, request("pay A-1", "first-key", "lost"), commands.Pay{
		OrderID: "A-1", Details: gateway.Details{Token: "lost"}, Capture: payment.CaptureAutomatic,
	})
	require.NoError(t, err)
	for range 12 {
		r.recheck(t, first.ID)
	}
	open := r.open(t, first.ID)
	require.Len(t, open, 1)
	p.down, p.finds = false, 0 // it is back, and the next lookup is due in a day
	_, err = r.Resolve(t.Context(), sam, because(open[0], payment.ResolvedNotPaid))
	require.ErrorIs(t, err, payment.ErrResolutionImpossible)
	require.Positive(t, p.finds)
	require.Equal(t, succeeded, standingOf(r.attempt(t, first.ID).Attempt))
	require.Len(t, r.ledger(t), 1)
}

func freeingRefund(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		says    fsm.Event
		err     error
		refused bool
		want    fsm.RefundState
	}{
		"under way": {says: fsm.EventProcessing, refused: true, want: fsm.RefundPending},
		"done":      {says: fsm.EventSucceeded, refused: true, want: fsm.RefundSucceeded},
		"failed":    {says: fsm.EventFailed, want: fsm.RefundFailed},
		"no answer": {err: errNoAnswer, want: fsm.RefundFailed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sent, answer, failed := 0, fsm.EventProcessing, error(nil)
			p := &refunding{
				refund: func(func() (gateway.RefundOutcome, error)) (gateway.RefundOutcome, error) {
					sent++
					return gateway.RefundOutcome{Event: fsm.EventProcessing, ProviderRefundID: fmt.Sprintf("re_%d", sent)}, nil
				},
				lookup: func() (gateway.RefundOutcome, error) {
					return gateway.RefundOutcome{Event: answer, ProviderRefundID: "re_1"}, failed
				},
			}
			r := newEnv(t, setup{silent: true, provider: p.on})
			id := r.paid(t, "A-1", "tok_success").ID
			made := r.refund(t, id, "refund-1")
			r.exec(t, "WITH r AS (UPDATE refunds SET created_at = created_at - interval '20 days', updated_at = updated_at - interval '20 days') UPDATE operations SET created_at = created_at - interval '20 days', first_sent_at = first_sent_at - interval '20 days' WHERE kind = 'refund'")
			for range 3 {
				_, err := r.RecheckRefund(t.Context(), made.ID, byTest)
				require.NoError(t, err)
			}
			open := r.open(t, id)
			require.Len(t, open, 1)
			answer, failed = c.says, c.err
			cmd := because(open[0], payment.ResolvedNotPaid)
			if c.err != nil {
				r.needsTwo(t, cmd)
			} else {
				_, err := r.Resolve(t.Context(), sam, cmd)
				require.Equal(t, c.refused, err != nil, "%v", err)
			}
			now, err := r.RefundStatus(t.Context(), shop, made.ID)
			require.NoError(t, err)
			require.Equal(t, c.want, now.State)
			if c.refused {
				_, err = r.Refund(t.Context(), shop, request("refund", "refund-2", ""), commands.CreateRefund{AttemptID: id})
				require.Error(t, err, "its money is not free")
				require.Equal(t, 1, sent)
			}
			require.Empty(t, r.verify(t))
		})
	}
}

// A person states that late money was refunded in the dashboard.
func freeingLateMoney(t *testing.T) {
	t.Parallel()
	shows := func(c *payment.Capabilities) { c.Shows = payment.ShowsDisputes }
	hides := func(c *payment.Capabilities) { c.Shows = payment.ShowsPayment }
	back := func(minor int64) func(string) (gateway.Outcome, error) {
		return func(name string) (gateway.Outcome, error) {
			out, err := replying(fsm.EventSucceeded, euros(price))(name)
			out.Refunds = []gateway.RefundOutcome{{Event: fsm.EventSucceeded, ProviderRefundID: "re_there", Money: euros(minor)}}
			return out, err
		}
	}
	for name, c := range map[string]struct {
		says     func(string) (gateway.Outcome, error)
		can      func(*payment.Capabilities)
		refused  bool
		two      bool
		refunded int64
	}{
		"it is paid, and no refund is there": {says: replying(fsm.EventSucceeded, euros(price)), can: shows, refused: true},
		"a part went back":                   {says: back(price - 1), can: shows, refused: true, refunded: price - 1},
		"it went back":                       {says: back(price), can: shows, refunded: price},
		"refunds are not shown":              {says: replying(fsm.EventSucceeded, euros(price)), can: hides, two: true, refunded: price},
		"no answer":                          {says: func(string) (gateway.Outcome, error) { return gateway.Outcome{}, errNoAnswer }, can: shows, two: true, refunded: price},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &sighted{can: c.can}
			r := newEnv(t, setup{silent: true, provider: p.on})
			id := r.paid(t, "A-1", "tok_decline").ID
			require.Equal(t, fsm.Conflict, r.say(t, id, webhooks.KindSucceeded))
			d := r.open(t, id)[0]
			p.lookup = c.says
			cmd := because(d, payment.ResolvedRefundedElsewhere)
			if c.two {
				r.needsTwo(t, cmd)
			} else {
				_, err := r.Resolve(t.Context(), sam, cmd)
				require.Equal(t, c.refused, err != nil, "%v", err)
			}
			require.Equal(t, c.refunded, r.attempt(t, id).Refunded)
			require.Equal(t, c.refused, len(r.open(t, id)) > 0)
			o, err := r.Order(t.Context(), customer, "A-1")
			require.NoError(t, err)
			require.Equal(t, !c.refused, o.TakesPay() == nil)
			require.Empty(t, r.verify(t))
		})
	}
}

// A pending payment of another amount went back: the look that shows it must not leave the person without a resolution.
func freeingReturned(t *testing.T) {
	t.Parallel()
	p := &sighted{can: func(c *payment.Capabilities) { c.Shows = payment.ShowsDisputes }}
	r := newEnv(t, setup{silent: true, provider: p.on})
	id := r.paid(t, "A-1", "tok_never").ID
	r.told(t, webhooks.KindSucceeded, id, price-1, "EUR")
	p.lookup = func(name string) (gateway.Outcome, error) {
		out, err := replying(fsm.EventSucceeded, euros(price-1))(name)
		out.Refunds = []gateway.RefundOutcome{{Event: fsm.EventSucceeded, ProviderRefundID: "re_there", Money: euros(price - 1)}}
		return out, err
	}
	_, err := r.Resolve(t.Context(), sam, because(r.open(t, id)[0], payment.ResolvedRefundedElsewhere))
	require.NoError(t, err)
	require.Equal(t, standing{"failed", "final", "refunded"}, standingOf(r.attempt(t, id).Attempt))
	require.EqualValues(t, price-1, r.attempt(t, id).Refunded)
	require.Empty(t, r.verify(t))
}

// A hold that a person calls released frees the order.
func freeingHold(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		says    func(string) (gateway.Outcome, error)
		refused bool
		two     bool
	}{
		"held still": {says: replying(fsm.EventAuthorized, euros(price)), refused: true},
		"released":   {says: replying(fsm.EventFailed, nil)},
		"no answer":  {says: func(string) (gateway.Outcome, error) { return gateway.Outcome{}, errNoAnswer }, two: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &sighted{}
			r := newEnv(t, setup{silent: true, provider: p.on})
			id := r.paid(t, "A-1", "tok_decline").ID
			r.say(t, id, webhooks.KindAuthorized)
			require.True(t, r.attempt(t, id).MayHold())
			r.exec(t, `INSERT INTO discrepancies (discrepancy_id, kind, about, order_id, attempt_id, account, text, opened_at)
				VALUES (gen_random_uuid(), 'needs_review', 'hold_not_released', 'A-1', $1, '', 'Look.', now())`, id.String())
			p.lookup = c.says
			cmd := because(r.open(t, id)[0], payment.ResolvedAccepted)
			if c.two {
				r.needsTwo(t, cmd)
			} else {
				_, err := r.Resolve(t.Context(), sam, cmd)
				require.Equal(t, c.refused, err != nil, "%v", err)
			}
			require.Equal(t, c.refused, r.attempt(t, id).MayHold())
		})
	}
}

func freeingWithoutGateway(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true, change: func(o *options) { o.Accounts = map[string]gateway.Account{"sandbox": {}} }})
	id := r.register(t, commands.External{}).ID
	r.told(t, webhooks.KindSucceeded, id, price-1, "EUR")
	d := r.open(t, id)[0]
	otherwise := because(d, payment.ResolvedPaid, "pay_1")
	got, err := r.Resolve(t.Context(), authz.Actor{Subject: "pat", Roles: sam.Roles}, otherwise)
	require.NoError(t, err)
	require.True(t, got.Awaits(), "another resolution is no agreement")
	r.needsTwo(t, because(d, payment.ResolvedRefundedElsewhere))
	require.True(t, r.attempt(t, id).Failed())
	require.Empty(t, r.verify(t))
}

// Late money that is less than the order's amount pays it only if two people say so. One is enough for all of it.
func TestALateCentTakesTwo(t *testing.T) {
	t.Parallel()
	for minor, two := range map[int64]bool{1: true, price: false} {
		r := newEnv(t, setup{silent: true})
		id := r.paid(t, "A-1", "tok_decline").ID
		r.told(t, webhooks.KindSucceeded, id, minor, "EUR")
		cmd := because(r.open(t, id)[0], payment.ResolvedAccepted)
		if two {
			r.needsTwo(t, cmd)
		} else {
			_, err := r.Resolve(t.Context(), sam, cmd)
			require.NoError(t, err)
		}
		require.Equal(t, payment.OrderPaid, r.orderOf(t, "A-1").Status())
		require.Empty(t, r.verify(t))
	}
}

// An order that is paid by a payment without a mark of ours, or of another amount, takes two people. A discrepancy that
// a resolution opens must be closed by another person.
func TestNobodyClosesTheirOwn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		minor int64
		ours  bool
		two   bool
		opens bool
	}{
		"a stranger's cent":           {minor: 1, two: true, opens: true},
		"our mark and another amount": {minor: 1, ours: true, two: true, opens: true},
		"a stranger's full amount":    {minor: price, two: true},
		"ours":                        {minor: price, ours: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &lossy{says: map[string]func() (gateway.Outcome, error){"pay_x": saysPaid("pay_x", c.minor, "EUR")}}
			r := newEnv(t, setup{silent: true, provider: p.on})
			id, d := r.lostPay(t, "A-1")
			if c.ours {
				p.ours = "pay_x"
			}
			cmd := because(d, payment.ResolvedPaid, "pay_x")
			if c.two {
				r.needsTwo(t, cmd)
			} else {
				_, err := r.Resolve(t.Context(), sam, cmd)
				require.NoError(t, err)
			}
			require.True(t, r.attempt(t, id).Succeeded())
			require.Equal(t, c.opens, len(r.open(t, id)) > 0)
			if c.opens {
				opened := because(r.open(t, id)[0], payment.ResolvedAccepted)
				for _, who := range []authz.Actor{kim, byAnotherDoor(sam)} {
					_, err := r.Resolve(t.Context(), who, opened)
					require.ErrorIs(t, err, payment.ErrSecondPerson, "kim's word opened it, and who came in by another door may be kim")
				}
				require.Len(t, r.open(t, id), 1)
				_, err := r.Resolve(t.Context(), sam, opened)
				require.NoError(t, err)
			}
			require.Empty(t, r.verify(t))
		})
	}
}
