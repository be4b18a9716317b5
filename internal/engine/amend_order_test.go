package engine_test

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

func TestAmendOrder(t *testing.T) {
	t.Parallel()
	t.Run("changes_the_terms", amendOrderChangesTheTerms)
	t.Run("is_no_change_without_one", amendOrderIsNoChangeWithoutOne)
	t.Run("leaves_the_creation_as_it_was", amendOrderLeavesTheCreation)
	t.Run("refused", amendOrderRefused)
	t.Run("invalid", amendOrderInvalid)
	t.Run("beside_pays", amendOrderBesidePays)
	t.Run("replaces_details", amendOrderReplacesDetails)
	t.Run("while_details_are_read", amendOrderWhileDetailsAreRead)
	t.Run("late_money_of_the_former_amount", amendOrderLateMoney)
	t.Run("late_money_in_the_former_currency", amendOrderLateMoneyInTheFormerCurrency)
	t.Run("to_less_than_late_money", amendOrderToLess)
	t.Run("each_change_has_a_later_time", amendOrderEachChange)
}

const dearer = 2500

// amending is an amendment whose response is the order's version and amount.
func amending(cmd commands.AmendOrder) commands.AmendOrder {
	cmd.OrderID = "A-1"
	cmd.Body = func(o payment.Order) []byte {
		return []byte(strconv.Itoa(o.Version()) + " " + o.Money.String())
	}
	return cmd
}

func amend(ctx context.Context, s *service, key string, cmd commands.AmendOrder) (commands.AmendedOrder, error) {
	return s.AmendOrder(ctx, shop, request("amend A-1", key, key), amending(cmd))
}

// amend changes the order A-1.
func (r *env) amend(t *testing.T, key string, cmd commands.AmendOrder) commands.AmendedOrder {
	t.Helper()
	var o commands.AmendedOrder
	require.NoError(t, untilAvailable(func() (err error) {
		o, err = amend(t.Context(), r.service, key, cmd)
		return err
	}))
	return o
}

func (r *env) orderNow(t *testing.T) payment.Order {
	t.Helper()
	o, err := r.store.Order(t.Context(), "A-1")
	require.NoError(t, err)
	return o
}

func amendOrderChangesTheTerms(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	_, _, err := r.CreateOrder(t.Context(), shop, request("orders", "order-key", ""), commands.CreateOrder{
		OrderID: "A-1", Money: payment.Money{Minor: price, Currency: "EUR"}, Description: "Two tickets", Metadata: map[string]string{"cart": "77", "gift": "yes"},
	})
	require.NoError(t, err)
	require.Equal(t, 1, r.orderNow(t).Version())
	declined := r.pay(t, "A-1", "first-key", "tok_decline")
	before := r.orderNow(t)
	cmd := commands.AmendOrder{
		Amount: new(int64(dearer)), Description: new("Three tickets"), Metadata: map[string]string{"cart": "78", "gift": "", "note": "new"},
		ExpectedVersion: new(before.Version()),
	}
	o := r.amend(t, "amend-key", cmd)
	require.Equal(t, idempotency.Created, o.Result)
	require.Equal(t, payment.Money{Minor: dearer, Currency: "EUR"}, o.Money)
	require.Equal(t, "Three tickets", o.Description)
	require.Equal(t, map[string]string{"cart": "78", "note": "new"}, o.Metadata)
	require.Equal(t, before.Version()+1, o.Version())
	require.True(t, o.ChangedAt().After(before.ChangedAt()))
	require.Equal(t, payment.Money{Minor: price, Currency: "EUR"}, r.attempt(t, declined.ID).Money, "an attempt keeps its amount")

	_, err = r.Pay(t.Context(), customer, request("pay A-1", "old-form", ""), commands.Pay{
		OrderID: "A-1", Details: gateway.Details{Token: "tok_success"}, Capture: payment.CaptureAutomatic, Amount: new(int64(price)),
	})
	require.Equal(t, "amount", fieldOf(t, err), "a form with the former amount charges nothing")
	paid := r.pay(t, "A-1", "second-key", "tok_success")
	require.EqualValues(t, dearer, paid.Captured)
	require.Len(t, r.ledger(t), 1)
	require.EqualValues(t, dearer, r.ledger(t)[0].Amount)
	require.Equal(t, payment.OrderPaid, r.orderNow(t).Status())

	again := r.amend(t, "amend-key", cmd)
	require.Equal(t, idempotency.Reused, again.Result)
	require.Equal(t, string(o.Body), string(again.Body), "the first response, although the order was paid since")
	require.Equal(t, []string{"from 19.99 EUR to 25.00 EUR"}, rows[string](t, r, "SELECT outcome FROM attempt_log WHERE what = 'amend_order' AND kind = 'press'"))
	r.audit(t, "A-1")
}

func fieldOf(t *testing.T, err error) string {
	t.Helper()
	invalid, ok := errors.AsType[*payment.ValidationError](err)
	require.True(t, ok, "%v", err)
	return invalid.Fields[0].Field
}

// A backend that makes sure of an amendment, under a new key, finds it made.
func amendOrderIsNoChangeWithoutOne(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	r.order(t, "A-1")
	lines := []gateway.Line{{Description: "Ticket", Quantity: "1", UnitAmount: dearer, Amount: dearer}}
	cmd := commands.AmendOrder{Amount: new(int64(dearer)), Currency: new(payment.Currency("EUR")), Metadata: map[string]string{"cart": "1", "none": ""}, Lines: &lines}
	first := r.amend(t, "amend-key-1", cmd)
	second := r.amend(t, "amend-key-2", cmd)
	require.Equal(t, idempotency.Created, second.Result)
	require.Equal(t, first.Version(), second.Version())
	require.Equal(t, first.ChangedAt(), second.ChangedAt())
	require.Len(t, rows[string](t, r, "SELECT outcome FROM attempt_log WHERE what = 'amend_order'"), 1)
}

// The request that created the order gets its first response, with and without its key, and another order of its content is
// another order.
func amendOrderLeavesTheCreation(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	cmd := commands.CreateOrder{OrderID: "A-1", Money: payment.Money{Minor: price, Currency: "EUR"}, Description: "Two tickets", Metadata: map[string]string{"cart": "77"}}
	create := func(key string) (payment.Order, error) {
		o, _, err := r.CreateOrder(t.Context(), shop, request("orders", key, "first"), cmd)
		return o, err
	}
	first, err := create("order-key")
	require.NoError(t, err)
	r.amend(t, "amend-key-1", commands.AmendOrder{Amount: new(int64(dearer)), Description: new("Three"), Metadata: map[string]string{"cart": "78"}})
	r.amend(t, "amend-key-2", commands.AmendOrder{Amount: new(int64(dearer + 1))})
	for range 2 {
		again, err := create("order-key")
		require.NoError(t, err)
		require.Equal(t, first.Terms(), again.Terms())
		require.Equal(t, 1, again.Version())
		require.True(t, again.ChangedAt().Equal(first.ChangedAt()))
		r.exec(t, "DELETE FROM idempotency_keys")
	}
	_, err = create("other-key")
	require.ErrorIs(t, err, payment.ErrOrderExists)
}

func amendOrderRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		put func(t *testing.T, r *env)
		// stored refusals use up the key.
		stored bool
		err    error
	}{
		"paid":      {func(t *testing.T, r *env) { t.Helper(); r.paid(t, "A-1", "tok_success") }, true, payment.ErrOrderPaid},
		"cancelled": {func(t *testing.T, r *env) { t.Helper(); r.order(t, "A-1"); r.cancelOrder(t) }, true, payment.ErrOrderCancelled},
		"late money": {func(t *testing.T, r *env) {
			t.Helper()
			require.Equal(t, fsm.Conflict, r.say(t, r.paid(t, "A-1", "tok_decline").ID, webhooks.KindSucceeded))
		}, true, payment.ErrOrderPaid},
		"refunded": {func(t *testing.T, r *env) {
			t.Helper()
			r.refund(t, r.paid(t, "A-1", "tok_success").ID, "refund-key")
		}, true, payment.ErrOrderPaid},
		"pending":         {func(t *testing.T, r *env) { t.Helper(); r.paid(t, "A-1", "tok_never") }, false, nil},
		"on a page":       {func(t *testing.T, r *env) { t.Helper(); r.paid(t, "A-1", "tok_redirect") }, false, nil},
		"on hold":         {func(t *testing.T, r *env) { t.Helper(); r.held(t, "A-1") }, false, nil},
		"unknown":         {func(t *testing.T, r *env) { t.Helper(); r.paid(t, "A-1", "tok_hang_charged") }, false, nil},
		"another version": {func(t *testing.T, r *env) { t.Helper(); r.paid(t, "A-1", "tok_decline") }, false, payment.ErrOrderChanged},
		"begun elsewhere": {func(t *testing.T, r *env) {
			t.Helper()
			r.order(t, "A-1")
			r.register(t, commands.External{OrderID: "A-1"})
		}, false, nil},
		"no order": {func(*testing.T, *env) {}, true, payment.ErrOrderNotFound},
		"another customer": {func(t *testing.T, r *env) {
			t.Helper()
			r.order(t, "A-1")
			r.exec(t, "ALTER TABLE orders DISABLE TRIGGER orders_guard; UPDATE orders SET user_id = 'u2'")
		}, false, payment.ErrForbidden},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newEnv(t, setup{silent: true})
			c.put(t, r)
			before, _ := r.store.Order(t.Context(), "A-1")
			cmd := commands.AmendOrder{Amount: new(int64(dearer)), ExpectedVersion: new(1)}
			_, err := amend(t.Context(), r.service, "amend-key", cmd)
			if c.err == nil {
				_, ok := errors.AsType[*payment.InProgressError](err)
				require.True(t, ok, "%v", err)
			} else {
				require.ErrorIs(t, err, c.err)
			}
			after, _ := r.store.Order(t.Context(), "A-1")
			require.Equal(t, before.Terms(), after.Terms())
			require.Equal(t, before.Version(), after.Version())
			_, err = amend(t.Context(), r.service, "amend-key", cmd)
			if _, again := errors.AsType[*idempotency.ReplayError](err); again != c.stored {
				t.Errorf("the refusal is stored: %t", again)
			}
		})
	}
}

func amendOrderInvalid(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	r.orderWith(t, "A-1", []gateway.Line{{Description: "Ticket", Quantity: "1", UnitAmount: price, Amount: price}}, gateway.Customer{})
	wrong := []gateway.Line{{Description: "Ticket", Quantity: "1", UnitAmount: 1, Amount: 1}}
	many := map[string]string{}
	for i := range 51 {
		many[strconv.Itoa(i)] = "x"
	}
	for field, cmd := range map[string]commands.AmendOrder{
		"body":     {ExpectedVersion: new(1)},
		"lines":    {Amount: new(int64(dearer))},
		"lines ":   {Lines: &wrong},
		"metadata": {Metadata: many},
	} {
		_, err := amend(t.Context(), r.service, "amend-key", cmd)
		require.Contains(t, field, fieldOf(t, err))
	}
	_, err := amend(t.Context(), r.service, "amend-key", commands.AmendOrder{Metadata: many})
	require.ErrorContains(t, err, "would give the order 51 members; at most 50 are allowed")
	_, err = r.AmendOrder(t.Context(), customer, request("amend A-1", "amend-key", ""), amending(commands.AmendOrder{Amount: new(int64(1))}))
	require.ErrorIs(t, err, payment.ErrForbidden)
	_, err = r.AmendOrder(t.Context(), authz.Actor{Subject: "shop", Roles: shop.Roles}, request("amend A-1", "amend-key", ""), amending(commands.AmendOrder{Amount: new(int64(1))}))
	require.ErrorIs(t, err, payment.ErrUserMissing)
	require.Equal(t, 1, r.orderNow(t).Version())
	none := []gateway.Line{}
	o := r.amend(t, "amend-key", commands.AmendOrder{Amount: new(int64(dearer)), Lines: &none})
	require.False(t, o.Detailed, "the key was not used up")
}

// Whatever comes first, the amount that is charged is that of the order when the pay was accepted, and it stays the order's.
func amendOrderBesidePays(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	other := r.another(t, nil)
	for round := range 15 {
		id := payment.OrderID("A-" + strconv.Itoa(round))
		r.order(t, id)
		var answers sync.Map
		race(append(times(3, func(i int) {
			s := []*service{r.service, other}[i%2]
			if _, err := try(t.Context(), s, id, "pay-key-"+strconv.Itoa(i), "tok_success"); err == nil {
				answers.Store("paid", true)
			}
		}), times(3, func(i int) {
			s := []*service{other, r.service}[i%2]
			cmd := amending(commands.AmendOrder{Amount: new(dearer + int64(i))})
			cmd.OrderID = id
			_, err := s.AmendOrder(t.Context(), shop, request("amend "+string(id), "amend-key-"+strconv.Itoa(i), strconv.Itoa(i)), cmd)
			var busy *payment.InProgressError
			if err != nil && !errors.Is(err, payment.ErrOrderPaid) && !errors.As(err, &busy) {
				t.Errorf("unexpected: %v", err)
			}
		})...)...)
		o, err := r.store.Order(t.Context(), id)
		require.NoError(t, err)
		_, paid := answers.Load("paid")
		require.True(t, paid)
		require.Len(t, o.Attempts, 1)
		require.Equal(t, o.Money, o.Attempts[0].Money, "the order has changed since its pay was accepted")
		var charged []int64
		for _, m := range r.ledger(t) {
			if m.Reference == o.Attempts[0].ID.String() {
				charged = append(charged, m.Amount)
			}
		}
		require.Equal(t, []int64{o.Money.Minor}, charged)
	}
	require.Empty(t, r.verify(t))
}

func amendOrderReplacesDetails(t *testing.T) {
	t.Parallel()
	p := &carrying{}
	r := newEnv(t, setup{silent: true, provider: p.on})
	r.orderWith(t, "A-1", []gateway.Line{{Description: "Ticket", Quantity: "1", UnitAmount: price, Amount: price}}, gateway.Customer{Name: "Ann"})
	lines := []gateway.Line{{Description: "Ticket", Quantity: "1", UnitAmount: dearer, Amount: dearer}}
	r.amend(t, "amend-key-1", commands.AmendOrder{Amount: new(int64(dearer)), Lines: &lines})
	r.amend(t, "amend-key-2", commands.AmendOrder{Customer: &gateway.Customer{Name: "Bob"}})
	r.pay(t, "A-1", "first-pay", "tok_success")
	require.Len(t, p.charges, 1)
	require.Equal(t, lines, p.charges[0].Lines)
	require.Equal(t, "Bob", p.charges[0].Customer.Name)
}

// meanwhile lets something happen after the details of the order were read.
type meanwhile struct {
	store

	do func()
}

func (s *meanwhile) OrderDetails(ctx context.Context, id payment.OrderID) ([]byte, int, error) {
	sealed, revision, err := s.store.OrderDetails(ctx, id)
	if do := s.do; do != nil {
		s.do = nil
		do()
	}
	return sealed, revision, err
}

// A pay that has read the order's lines is not charged with them once they were replaced.
func amendOrderWhileDetailsAreRead(t *testing.T) {
	t.Parallel()
	p, s := &carrying{}, &meanwhile{}
	r := newEnv(t, setup{silent: true, provider: p.on, store: func(of store) store { s.store = of; return s }})
	r.orderWith(t, "A-1", []gateway.Line{{Description: "Ticket", Quantity: "1", UnitAmount: price, Amount: price}}, gateway.Customer{})
	lines := []gateway.Line{{Description: "Other ticket", Quantity: "1", UnitAmount: price, Amount: price}}
	s.do = func() { r.amend(t, "amend-key", commands.AmendOrder{Lines: &lines}) }
	r.pay(t, "A-1", "first-pay", "tok_success")
	require.Len(t, p.charges, 1)
	require.Equal(t, lines, p.charges[0].Lines)
}

// late makes an attempt that failed here and is charged at the provider afterwards. The charge is not reported yet.
func (r *env) late(t *testing.T) payment.AttemptID {
	t.Helper()
	id := r.paid(t, "A-1", "tok_late_success").ID
	require.Equal(t, fsm.Failed, r.attempt(t, id).State)
	return id
}

// charged waits until the sandbox has charged, and lets the late money be found.
func (r *env) charged(t *testing.T, id payment.AttemptID) {
	t.Helper()
	require.Eventually(t, func() bool { return len(r.ledger(t)) == 1 }, waitFor, tick)
	require.Equal(t, fsm.Conflict, r.say(t, id, webhooks.KindSucceeded))
	require.EqualValues(t, price, r.attempt(t, id).Held())
}

// Money of an attempt with the former amount never pays the amended order: not by a report, and not by a person.
func amendOrderLateMoney(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	id := r.late(t)
	r.amend(t, "amend-key", commands.AmendOrder{Amount: new(int64(dearer))})
	r.charged(t, id)
	o := r.orderNow(t)
	require.Equal(t, payment.OrderOpen, o.Status())
	require.EqualValues(t, price, o.AmountHeld())
	require.Equal(t, []string{"late_success"}, r.discrepancies(t, id))
	require.Contains(t, rows[string](t, r, "SELECT text FROM discrepancies")[0], "the order is for 25.00 EUR now, and the payment was for 19.99 EUR.")
	_, err := try(t.Context(), r.service, "A-1", "early-key", "tok_success")
	require.ErrorIs(t, err, payment.ErrOrderPaid)
	found := r.open(t, id)[0]
	_, err = r.Resolve(t.Context(), sam, because(found, payment.ResolvedAccepted))
	require.ErrorIs(t, err, payment.ErrResolutionImpossible)
	require.ErrorContains(t, err, "less than its amount")

	r.refund(t, id, "refund-key")
	_, err = r.Resolve(t.Context(), sam, because(found, payment.ResolvedAccepted))
	require.NoError(t, err)
	require.Equal(t, payment.OrderOpen, r.orderNow(t).Status())
	require.EqualValues(t, dearer, r.pay(t, "A-1", "second-key", "tok_success").Captured)
	require.Equal(t, payment.OrderPaid, r.orderNow(t).Status())
	require.Empty(t, r.verify(t))
}

func amendOrderLateMoneyInTheFormerCurrency(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	id := r.late(t)
	r.amend(t, "amend-key", commands.AmendOrder{Currency: new(payment.Currency("USD")), Amount: new(int64(100))})
	r.charged(t, id)
	o := r.orderNow(t)
	require.Zero(t, o.AmountHeld(), "19.99 EUR are no dollars")
	require.True(t, o.HoldsMoney())
	_, err := r.Resolve(t.Context(), sam, because(r.open(t, id)[0], payment.ResolvedAccepted))
	require.ErrorIs(t, err, payment.ErrResolutionImpossible)
	require.Equal(t, payment.OrderOpen, r.orderNow(t).Status())
}

// A person may accept late money that is enough.
func amendOrderToLess(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	id := r.late(t)
	r.amend(t, "amend-key", commands.AmendOrder{Amount: new(int64(price - 500))})
	r.charged(t, id)
	_, err := r.Resolve(t.Context(), sam, because(r.open(t, id)[0], payment.ResolvedAccepted))
	require.NoError(t, err)
	require.Equal(t, payment.OrderPaid, r.orderNow(t).Status())
	require.Empty(t, r.verify(t))
}
