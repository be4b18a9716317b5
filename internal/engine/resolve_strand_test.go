package engine_test

import (
	"context"
	"maps"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres"
	"github.com/paylatch/paylatch/webhooks"
)

// lossy is a provider that never responds to a charge of tok_lost, and looks up the payments in says.
type lossy struct {
	gateway.Provider

	says map[string]func() (gateway.Outcome, error)
	// ours is the payment among them with the mark of any attempt that is looked for; empty if there is none.
	ours string
}

func (p *lossy) Charge(ctx context.Context, c gateway.Charge) (gateway.Outcome, error) {
	if c.Token == "tok_lost" {
		return gateway.Outcome{}, errNoAnswer
	}
	return p.Provider.Charge(ctx, c)
}

func (p *lossy) Find(context.Context, payment.AttemptID) (gateway.Outcome, error) {
	if p.ours != "" {
		return p.says[p.ours]()
	}
	return gateway.Outcome{}, errNoAnswer
}

func (p *lossy) Lookup(ctx context.Context, id string) (gateway.Outcome, error) {
	if say := p.says[id]; say != nil {
		return say()
	}
	return p.Provider.Lookup(ctx, id)
}

func (p *lossy) on(of gateway.Provider) gateway.Provider {
	p.Provider = of
	return p
}

func saysPaid(id string, minor int64, currency payment.Currency) func() (gateway.Outcome, error) {
	return func() (gateway.Outcome, error) {
		return gateway.Outcome{Event: fsm.EventSucceeded, ProviderPaymentID: id, Money: &payment.Money{Minor: minor, Currency: currency}}, nil
	}
}

const (
	// taken is a cent more than the price.
	taken = price + 1
)

// standings are attempts as a discrepancy may find them.
var standings = map[string]func(t *testing.T, r *env, of payment.OrderID) payment.AttemptID{
	"outcome unknown": func(t *testing.T, r *env, of payment.OrderID) payment.AttemptID {
		t.Helper()
		id := r.paid(t, of, "tok_lost").ID
		for range 12 {
			r.recheck(t, id)
		}
		require.Equal(t, []string{"needs_review"}, r.discrepancies(t, id))
		return id
	},
	"pending, another amount held": func(t *testing.T, r *env, of payment.OrderID) payment.AttemptID {
		t.Helper()
		id := r.paid(t, of, "tok_never").ID
		r.told(t, webhooks.KindAuthorized, id, taken, "EUR")
		return id
	},
	"pending, another amount taken": func(t *testing.T, r *env, of payment.OrderID) payment.AttemptID {
		t.Helper()
		id := r.paid(t, of, "tok_never").ID
		r.told(t, webhooks.KindSucceeded, id, price-1, "EUR")
		return id
	},
	"pending, another currency taken": func(t *testing.T, r *env, of payment.OrderID) payment.AttemptID {
		t.Helper()
		id := r.paid(t, of, "tok_never").ID
		r.told(t, webhooks.KindSucceeded, id, taken, "USD")
		return id
	},
	"succeeded": func(t *testing.T, r *env, of payment.OrderID) payment.AttemptID {
		t.Helper()
		return r.paid(t, of, "tok_success").ID
	},
	"failed": func(t *testing.T, r *env, of payment.OrderID) payment.AttemptID {
		t.Helper()
		return r.paid(t, of, "tok_decline").ID
	},
	"failed, paid late": func(t *testing.T, r *env, of payment.OrderID) payment.AttemptID {
		t.Helper()
		id := r.paid(t, of, "tok_decline").ID
		r.told(t, webhooks.KindSucceeded, id, price, "EUR")
		return id
	},
	"failed, another amount taken late": func(t *testing.T, r *env, of payment.OrderID) payment.AttemptID {
		t.Helper()
		id := r.paid(t, of, "tok_decline").ID
		r.told(t, webhooks.KindSucceeded, id, taken, "EUR")
		return id
	},
	"failed, paid late beside another": func(t *testing.T, r *env, of payment.OrderID) payment.AttemptID {
		t.Helper()
		id := r.paid(t, of, "tok_decline").ID
		r.pay(t, of, "second-key", "tok_success")
		r.told(t, webhooks.KindSucceeded, id, price, "EUR")
		return id
	},
	"failed, paid late after a cancel": func(t *testing.T, r *env, of payment.OrderID) payment.AttemptID {
		t.Helper()
		id := r.paid(t, of, "tok_decline").ID
		_, _, err := r.CancelOrder(t.Context(), customer, request("cancel", "cancel-"+string(of), ""), of)
		require.NoError(t, err)
		r.told(t, webhooks.KindSucceeded, id, price, "EUR")
		return id
	},
}

func (r *env) told(t *testing.T, kind webhooks.Kind, id payment.AttemptID, minor int64, currency string) {
	t.Helper()
	e := event(kind, id.String())
	e.Money = &webhooks.Money{Minor: minor, Currency: currency}
	require.Equal(t, []fsm.Verdict{fsm.Conflict}, r.tell(t, e))
}

var everyKind = []payment.DiscrepancyKind{
	payment.PaymentReversed, payment.RefundReversed, payment.Disputed, payment.LateSuccess, payment.DoubleSuccess, payment.PaidAfterCancel,
	payment.AmountMismatch, payment.CurrencyMismatch, payment.RefundExceeds, payment.EventChanged, payment.UnmatchedEvent, payment.NeedsReview,
}

var everyResolution = []payment.Resolution{
	payment.ResolvedPaid, payment.ResolvedNotPaid, payment.ResolvedRefundedElsewhere, payment.ResolvedAccepted,
}

// discrepancy is an attempt's discrepancy of a kind. If it did not arise by itself, it is opened as if it had.
func (r *env) discrepancy(t *testing.T, of payment.OrderID, id payment.AttemptID, kind payment.DiscrepancyKind) payment.DiscrepancyID {
	t.Helper()
	find := func() []uuid.UUID {
		return rows[uuid.UUID](t, r, "SELECT discrepancy_id FROM discrepancies WHERE attempt_id = $1 AND kind = $2", id.String(), string(kind))
	}
	if len(find()) == 0 {
		r.exec(t, `INSERT INTO discrepancies (discrepancy_id, kind, order_id, attempt_id, account, text, opened_at)
			VALUES (gen_random_uuid(), $2, $3, $1, '', 'Look.', now())`, id.String(), string(kind), string(of))
	}
	return payment.DiscrepancyID(find()[0])
}

// ended is the state of an order once one of its discrepancies was resolved; empty if nothing will end it any more.
func (r *env) ended(t *testing.T, of payment.OrderID, id payment.AttemptID) string {
	t.Helper()
	o, err := r.Order(t.Context(), customer, of)
	require.NoError(t, err)
	switch {
	case len(r.open(t, id)) > 0:
		return "on the worklist"
	case o.Status() == payment.OrderPaid && !chargedTwice(o):
		return "paid"
	case o.TakesPay() == nil:
		return "payable"
	case r.cancelling(t, id):
		return "the provider is asked to release what it holds"
	case o.Status() == payment.OrderCancelled && !o.HoldsMoney():
		return "cancelled"
	}
	return ""
}

func chargedTwice(o payment.Order) bool {
	holding := 0
	for _, a := range o.Attempts {
		if a.Held() > 0 {
			holding++
		}
	}
	return holding > 1
}

// Each offered resolution of a discrepancy leaves an order that is paid, that can be paid, or that still has a
// discrepancy.
func resolveStrandsNoOrder(t *testing.T) {
	t.Parallel()
	for _, standing := range slices.Sorted(maps.Keys(standings)) {
		t.Run(standing, func(t *testing.T) {
			t.Parallel()
			p := &lossy{says: map[string]func() (gateway.Outcome, error){}}
			r := newEnv(t, setup{silent: true, provider: p.on})
			for _, kind := range everyKind {
				for _, how := range everyResolution {
					of := payment.OrderID(string(kind) + ":" + string(how))
					t.Run(string(of), func(t *testing.T) { walk(t, r, p, of, standing, kind, how) })
				}
			}
			require.Empty(t, r.verify(t))
		})
	}
}

// walk resolves one discrepancy of a new order's attempt.
func walk(t *testing.T, r *env, p *lossy, of payment.OrderID, standing string, kind payment.DiscrepancyKind, how payment.Resolution) {
	t.Helper()
	id := standings[standing](t, r, of)
	d := r.discrepancy(t, of, id, kind)
	cmd := because(d, how)
	if how == payment.ResolvedPaid {
		cmd.ProviderPaymentID = "pay of " + string(of)
		p.says[cmd.ProviderPaymentID] = saysPaid(cmd.ProviderPaymentID, taken, "EUR")
		if standing == "pending, another currency taken" {
			p.says[cmd.ProviderPaymentID] = saysPaid(cmd.ProviderPaymentID, taken, "USD")
		}
	}
	if name := r.attempt(t, id).ProviderPaymentID; name != "" && how != payment.ResolvedPaid {
		p.says[name] = replies(gateway.Outcome{Event: fsm.EventFailed, ProviderPaymentID: name}, nil) // nothing is there any more
	}
	shown, err := r.store.(*postgres.Store).Worklist().Entry(t.Context(), d, 0)
	require.NoError(t, err)
	offered := slices.ContainsFunc(shown.Possible(), func(p payment.PossibleResolution) bool { return p.Resolution == how })
	_, err = r.agreed(t, cmd)
	require.Equal(t, offered, err == nil, "what is offered is taken, and nothing else: %v", err)
	if err != nil {
		require.Contains(t, r.open(t, id), d, "what was refused stays on the list: %v", err)
		return
	}
	require.NotContains(t, r.open(t, id), d)
	require.NotEmpty(t, r.ended(t, of, id), "%+v", r.attempt(t, id))
}
