package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

func TestMethodEvents(t *testing.T) {
	t.Parallel()
	t.Run("in_any_order", methodsInAnyOrder)
	t.Run("before_the_attempt", methodsBeforeTheAttempt)
	t.Run("at_once", methodsAtOnce)
	t.Run("stored_elsewhere", methodsStoredElsewhere)
	t.Run("of_the_other_mode", methodsOfTheOtherMode)
	t.Run("by_a_hint", methodsByAHint)
	t.Run("erased_with_its_customer", methodsErased)
}

// methodEvent is an event about a stored payment method, in a second.
func methodEvent(kind webhooks.Kind, token, display string, second int) webhooks.Event {
	e := event(kind)
	e.OccurredAt = disputeEpoch.Add(time.Duration(second) * time.Second)
	e.Method = &webhooks.Method{Tokens: []string{token}, Display: display}
	return e
}

// removed reports whether a pay by a stored method is refused because it was removed, and whether the provider was called for it.
func (r *env) removed(t *testing.T, order payment.OrderID, token string) bool {
	t.Helper()
	r.order(t, order)
	_, err := r.Pay(t.Context(), shop, request("pay "+string(order), "stored-key", token), commands.Pay{
		OrderID: order, Capture: payment.CaptureAutomatic, Details: gateway.Details{Token: token, Stored: true},
	})
	if err != nil {
		require.ErrorIs(t, err, payment.ErrMethodRemoved)
	}
	return err != nil
}

// The events of a stored method may arrive in any order and number. Its details are those of the latest, by the provider's clock; once
// it is removed it stays so, is refused before the provider is called, and the attempt that stored it is as it was.
func methodsInAnyOrder(t *testing.T) {
	t.Parallel()
	var p *owners
	r := newEnv(t, setup{silent: true, provider: func(inner gateway.Provider) gateway.Provider {
		p = &owners{Provider: inner}
		return p
	}})
	for i, order := range permutations(3) {
		was := r.paid(t, payment.OrderID(fmt.Sprintf("A-%d", i)), "tok_save").Attempt
		token := was.Saved.Token
		events := []webhooks.Event{
			methodEvent(webhooks.KindMethodUpdated, token, "Visa •••• 1111", 1),
			methodEvent(webhooks.KindMethodUpdated, token, "Visa •••• 2222", 2),
			methodEvent(webhooks.KindMethodRemoved, token, "", 3),
		}
		for at, n := range append(slices.Clone(order), order...) {
			verdict := r.tell(t, events[n])[0]
			require.Equal(t, at >= 3, verdict == payment.VerdictDuplicate, "%v: %s", order, verdict)
		}
		got := r.attempt(t, was.ID)
		require.NotNil(t, got.Saved.RemovedAt)
		whole, err := r.store.Order(t.Context(), was.OrderID)
		require.NoError(t, err)
		require.Equal(t, got.Saved, whole.Attempts[0].Saved)
		require.Equal(t, disputeEpoch.Add(3*time.Second), got.Saved.RemovedAt.UTC())
		require.Equal(t, was.Version, got.Version, "%v", order)
		require.Equal(t, fsm.Stale, r.tell(t, methodEvent(webhooks.KindMethodUpdated, token, "Visa •••• 3333", 9))[0], "no event revives it")

		asked := p.asked.Load()
		require.True(t, r.removed(t, payment.OrderID(fmt.Sprintf("B-%d", i)), token))
		require.Equal(t, asked, p.asked.Load(), "the provider was called")

		types := rows[string](t, r, "SELECT type FROM outbox WHERE attempt_id = $1 AND type LIKE 'payment_method.%' ORDER BY version", was.ID.String())
		require.Equal(t, "payment_method.removed", types[len(types)-1])
		require.Len(t, slices.Compact(types), min(len(types), 2), "%v: it is told once, and last", types)
		if slices.Equal(order, []int{0, 1, 2}) {
			require.Len(t, types, 3)
			require.Equal(t, "Visa •••• 2222", got.Saved.Display)
			require.Equal(t, "2034-12", got.Saved.Expires, "what an event does not state stays")
		}
	}
	require.Empty(t, r.verify(t))
}

// owners counts the lookups of owners.
type owners struct {
	gateway.Provider

	asked atomic.Int32
	gone  atomic.Bool
}

func (p *owners) CheckOwner(ctx context.Context, token, of string) error {
	p.asked.Add(1)
	if p.gone.Load() {
		return gateway.ErrNoSuchPayment
	}
	return p.Provider.CheckOwner(ctx, token, of)
}

// An event may come before the response that stores the method. What it says is not lost, and the method gets its attempt.
func methodsBeforeTheAttempt(t *testing.T) {
	t.Parallel()
	var r *env
	r = newEnv(t, setup{silent: true, provider: func(inner gateway.Provider) gateway.Provider {
		return forestalled{inner, func(o gateway.Outcome) {
			require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, methodEvent(webhooks.KindMethodUpdated, o.Saved.Token, "Visa •••• 7777", 1)))
		}}
	}})
	a := r.paid(t, "A-1", "tok_save").Attempt
	require.Equal(t, "Visa •••• 7777", r.attempt(t, a.ID).Saved.Display)
	require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, methodEvent(webhooks.KindMethodRemoved, a.Saved.Token, "", 2)))
	require.Equal(t, []string{"applied"}, r.verdicts(t, a.ID), "the event is in the attempt's timeline")
	require.Equal(t, []string{"A-1 u1"}, rows[string](t, r, "SELECT order_id || ' ' || (payload->>'user_id') FROM outbox WHERE type = 'payment_method.removed'"))
	require.Empty(t, r.verify(t))
}

// forestalled calls a function before the response to a charge is returned.
type forestalled struct {
	gateway.Provider

	before func(gateway.Outcome)
}

func (p forestalled) Charge(ctx context.Context, c gateway.Charge) (gateway.Outcome, error) {
	o, err := p.Provider.Charge(ctx, c)
	p.before(o)
	return o, err
}

// Of two events in two processes at the same moment, and of many in one batch, each counts.
func methodsAtOnce(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	token := r.paid(t, "A-1", "tok_save").Saved.Token
	other := r.another(t, nil)
	ended := make(chan error, 20)
	for i := range 20 {
		s, name := r.service, token
		if i%2 == 1 {
			s = other
		}
		if i%4 > 1 {
			name = "pm_new"
		}
		go func() {
			_, err := s.Intake(t.Context(), received(nil, methodEvent(webhooks.KindMethodUpdated, name, fmt.Sprint("card ", i), i)))
			ended <- err
		}()
	}
	for range 20 {
		require.NoError(t, <-ended)
	}
	require.Equal(t, []string{"card 17", "card 19"},
		rows[string](t, r, "SELECT display FROM saved_methods WHERE token IN ($1, 'pm_new') ORDER BY display", token))
	told := rows[int](t, r, "SELECT count(*)::int FROM outbox WHERE type = 'payment_method.updated' GROUP BY subject")
	require.Len(t, told, 2)
}

// A method that the shop stored by itself is told, too, and may be named by more than one token.
func methodsStoredElsewhere(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	token := "card_00000000000000000000000000000001"
	e := methodEvent(webhooks.KindMethodRemoved, "x", "", 1)
	e.Method.Tokens = []string{token, "paypal:1"}
	require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, e))
	require.True(t, r.removed(t, "A-1", token))
	payload := rows[string](t, r, "SELECT payload::text FROM outbox WHERE type = 'payment_method.removed'")
	require.Len(t, payload, 1)
	var told struct {
		Attempt *string `json:"payment_attempt_id"`
		Account string  `json:"account"`
		Method  struct {
			Token     string     `json:"token"`
			RemovedAt *time.Time `json:"removed_at"`
		} `json:"saved_payment_method"`
	}
	require.NoError(t, json.Unmarshal([]byte(payload[0]), &told))
	require.Nil(t, told.Attempt)
	require.Equal(t, []string{"sandbox", token}, []string{told.Account, told.Method.Token})
	require.Equal(t, disputeEpoch.Add(time.Second), told.Method.RemovedAt.UTC())

	e = methodEvent(webhooks.KindMethodUpdated, token, "", 2)
	e.Method.Restored = true
	require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, e))
	require.Equal(t, fsm.Stale, r.tell(t, methodEvent(webhooks.KindMethodRemoved, token, "", 1))[0], "it was restored since")
}

func methodsOfTheOtherMode(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true, change: func(o *options) {
		a := o.Accounts["sandbox"]
		a.Live = new(true)
		o.Accounts["sandbox"] = a
	}})
	e := methodEvent(webhooks.KindMethodRemoved, "pm_1", "", 1)
	e.Mode = webhooks.ModeTest
	require.Equal(t, []fsm.Verdict{payment.Ignored}, r.tell(t, e))
	require.Empty(t, rows[string](t, r, "SELECT token FROM saved_methods"))
}

// PayPal's event removes a method only once the vault does not have it any more.
func methodsByAHint(t *testing.T) {
	t.Parallel()
	var p *owners
	r := newEnv(t, setup{silent: true, provider: func(inner gateway.Provider) gateway.Provider {
		p = &owners{Provider: inner}
		return p
	}})
	token := r.paid(t, "A-1", "tok_save").Saved.Token
	for _, gone := range []bool{false, true} {
		p.gone.Store(gone)
		e := methodEvent(webhooks.KindMethodRemoved, token, "", 1)
		e.NeedsFetch, e.DeliveryID = true, serial()
		require.Equal(t, []fsm.Verdict{payment.VerdictDeferred}, r.tell(t, e))
		r.retry(t, true)
		require.Equal(t, []string{map[bool]string{false: "ignored", true: "applied"}[gone]},
			rows[string](t, r, "SELECT verdict FROM provider_events WHERE provider_event_id = $1", e.ID))
	}
	p.gone.Store(false)
	require.True(t, r.removed(t, "A-2", token))
}

// Nothing of a customer's method is left once the customer is erased.
func methodsErased(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	paid := r.paid(t, "A-1", "tok_save")
	token := paid.Saved.Token
	r.tell(t, methodEvent(webhooks.KindMethodUpdated, token, "Visa •••• 1111", 1))
	erased := func() {
		t.Helper()
		for table, text := range map[string]string{"saved_methods": "token", "outbox": "subject || payload::text", "provider_events": "news::text", "payment_attempts": "saved_payment_method::text"} {
			require.Empty(t, rows[string](t, r, "SELECT "+text+" FROM "+table+" WHERE "+text+" LIKE '%' || $1 || '%'", token), table)
		}
	}
	r.exec(t, "SELECT erase_orders('u1', 'erased-1', '', 100)")
	erased()
	r.recheck(t, paid.ID)
	erased()

	r.exec(t, `INSERT INTO saved_methods (account, token, user_id, order_id, attempt_id, type, display, expires, version, updated_at) VALUES ('sandbox', $1, 'erased-1', 'A-1', $2, 'card', '', '', 1, now())`, token, paid.ID.String())
	r.exec(t, "UPDATE payment_attempts SET saved_payment_method = json_build_object('token', $1::text)", token)
	r.exec(t, "UPDATE provider_events SET news = jsonb_set(news::jsonb, '{method}', jsonb_build_object('tokens', jsonb_build_array($1::text)))::json, attempt_id = $2 WHERE kind = 'method_updated'", token, paid.ID.String())
	r.exec(t, "SELECT erase_details('u1', 'erased-1', false, '', 100)")
	erased()
}
