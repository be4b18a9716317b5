package engine_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

func TestKeys(t *testing.T) {
	t.Parallel()
	t.Run("purged", keysPurged)
	t.Run("purged_while_claimed", keysPurgedWhileClaimed)
	t.Run("race_of_two_requests", keysRaceOfTwoRequests)
	t.Run("wrong_request_beside_a_replay", keysWrongRequestBesideAReplay)
	t.Run("refusals_that_are_stored", keysRefusalsThatAreStored)
	t.Run("invalid_request_stores_nothing", keysInvalidRequestStoresNothing)
	t.Run("providers_key_is_ours", keysProvidersKeyIsOurs)
	t.Run("each_call_has_one", keysEachCallHasOne)
	t.Run("target_is_never_deleted", keysTargetIsNeverDeleted)
}

// A key never outlives its target (pay-connector #4632), and the target never depends on it: a purge causes no second
// charge and changes no response.
func keysPurged(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	first := r.paid(t, "A-1", "tok_success")
	for range 2 {
		again := r.pay(t, "A-1", "first-key", "tok_success")
		require.Equal(t, idempotency.Reused, again.Result)
		require.Equal(t, first.ID, again.ID)
		_, err := try(t.Context(), r.service, "A-1", "first-key", "tok_decline")
		require.ErrorIs(t, err, idempotency.ErrKeyReused)
		r.exec(t, "DELETE FROM idempotency_keys")
	}
	r.audit(t, "A-1")
}

// A purge between an insert and a read never makes an untruthful "in progress"
// (margince #423).
func keysPurgedWhileClaimed(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	second := r.another(t, nil)
	for round := range 20 {
		order := payment.OrderID(fmt.Sprintf("A-%d", round))
		r.order(t, order)
		pay := times(6, func(i int) {
			if _, err := try(t.Context(), []*service{r.service, second}[i%2], order, "first-key", "tok_success"); err != nil {
				t.Error(err)
			}
		})
		race(append(pay, func() { r.exec(t, "DELETE FROM idempotency_keys") })...)
		r.audit(t, order)
	}
	require.Len(t, r.ledger(t), 20)
}

// The loser of a race gets the truth, not a 503 (idempot-js #186): a request that the key
// belongs to gets its response; all others get that it belongs to another.
func keysRaceOfTwoRequests(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	second := r.another(t, nil)
	for round := range 20 {
		order := payment.OrderID(fmt.Sprintf("A-%d", round))
		r.order(t, order)
		tokens := []string{"tok_success", "tok_decline"}
		const n = 8
		answers, errs := make([]commands.Reply, n), make([]error, n)
		race(times(n, func(i int) {
			answers[i], errs[i] = try(t.Context(), []*service{r.service, second}[i/2%2], order, "first-key", tokens[i%2])
		})...)
		winner := 0
		if errs[0] != nil {
			winner = 1
		}
		for i := range n {
			if i%2 == winner {
				require.NoError(t, errs[i])
				require.Equal(t, answers[winner].ID, answers[i].ID)
			} else {
				require.ErrorIs(t, errs[i], idempotency.ErrKeyReused)
			}
		}
		r.audit(t, order)
	}
}

// A replay beside a wrong request with the same key is still a replay.
func keysWrongRequestBesideAReplay(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	first := r.paid(t, "A-1", "tok_success")
	for range 50 {
		race(times(4, func(i int) {
			if i%2 == 0 {
				if _, err := try(t.Context(), r.service, "A-1", "first-key", "tok_decline"); !errors.Is(err, idempotency.ErrKeyReused) {
					t.Error(err)
				}
				return
			}
			again, err := try(t.Context(), r.service, "A-1", "first-key", "tok_success")
			if err != nil || again.ID != first.ID {
				t.Errorf("the replay got %v, %v", again.ID, err)
			}
		})...)
	}
}

// A final refusal is replayed to the letter. A refusal that time lifts does not use the key up.
func keysRefusalsThatAreStored(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	_, err := try(t.Context(), r.service, "A-1", "first-key", "tok_success")
	require.ErrorIs(t, err, payment.ErrForbidden, "a customer is not told what there is, and its key is free")
	none := commands.Pay{OrderID: "A-1", Details: gateway.Details{Token: "tok_success"}, Capture: payment.CaptureAutomatic}
	_, err = r.Pay(t.Context(), shop, request("pay A-1", "first-key", "tok_success"), none)
	require.ErrorIs(t, err, payment.ErrOrderNotFound)
	_, err = r.Pay(t.Context(), shop, request("pay A-1", "first-key", "tok_success"), none)
	var replay *idempotency.ReplayError
	require.ErrorAs(t, err, &replay)
	require.Contains(t, string(replay.Response.Body), payment.ErrOrderNotFound.Error())

	first := r.paid(t, "B-1", "tok_never")
	var busy *payment.InProgressError
	_, err = try(t.Context(), r.service, "B-1", "second-key", "tok_success")
	require.ErrorAs(t, err, &busy)
	require.Equal(t, first.ID, busy.Attempt.ID)
	_, err = r.Cancel(t.Context(), customer, request("cancel", "cancel-key", ""), first.ID)
	require.NoError(t, err)
	require.Equal(t, succeeded, standingOf(r.pay(t, "B-1", "second-key", "tok_success").Attempt))
	for range 2 {
		_, err = try(t.Context(), r.service, "B-1", "third-key", "tok_success")
		require.True(t, errors.Is(err, payment.ErrOrderPaid) || errors.As(err, &replay), "%v", err)
	}
	require.Contains(t, string(replay.Response.Body), payment.ErrOrderPaid.Error())
}

func keysInvalidRequestStoresNothing(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	r.order(t, "A-1")
	two, dollar := int64(2), payment.Currency("USD")
	good := commands.Pay{OrderID: "A-1", Details: gateway.Details{Token: "tok_success"}, Capture: payment.CaptureAutomatic}
	req := request("pay A-1", "first-key", "tok_success")
	for name, change := range map[string]func(*commands.Pay){
		"amount":   func(p *commands.Pay) { p.Amount = &two },
		"currency": func(p *commands.Pay) { p.Currency = &dollar },
		"account":  func(p *commands.Pay) { p.Account = "nobody" },
	} {
		bad := good
		change(&bad)
		_, err := r.Pay(t.Context(), shop, req, bad)
		var wrong *payment.ValidationError
		require.ErrorAs(t, err, &wrong)
		require.Equal(t, name, wrong.Fields[0].Field)
	}
	stranger := authz.Actor{Subject: "u2", Roles: []payment.Role{payment.RoleCustomer}}
	theirs := req
	theirs.User = "u2"
	_, err := r.Pay(t.Context(), stranger, theirs, good)
	require.ErrorIs(t, err, payment.ErrForbidden)
	_, err = r.Pay(t.Context(), authz.Actor{Subject: "u1", Roles: []payment.Role{payment.RoleSupport}}, req, good)
	require.ErrorIs(t, err, payment.ErrForbidden)
	paid, err := r.Pay(t.Context(), customer, req, good)
	require.NoError(t, err)
	require.Equal(t, idempotency.Created, paid.Result)
}

// Every provider call has a key of its own, never the client's (formance
// payments #745).
func keysProvidersKeyIsOurs(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	paid := r.paid(t, "A-1", "tok_success")
	key := r.ledger(t)[0].Key
	require.Equal(t, fmt.Sprintf("%x-charge-0", [16]byte(paid.ID)), key)
	require.LessOrEqual(t, len(key), 45)
}

// keyed records the idempotency key of every call that moves money.
type keyed struct {
	gateway.Provider

	keys []string
}

func (p *keyed) Charge(ctx context.Context, c gateway.Charge) (gateway.Outcome, error) {
	p.keys = append(p.keys, c.IdempotencyKey)
	return p.Provider.Charge(ctx, c)
}

func (p *keyed) Capture(ctx context.Context, c gateway.Capture) (gateway.Outcome, error) {
	p.keys = append(p.keys, c.IdempotencyKey)
	return p.Provider.Capture(ctx, c)
}

func (p *keyed) Cancel(ctx context.Context, c gateway.Cancel) (gateway.Outcome, error) {
	p.keys = append(p.keys, c.IdempotencyKey)
	return p.Provider.Cancel(ctx, c)
}

func (p *keyed) Refund(ctx context.Context, c gateway.RefundCall) (gateway.RefundOutcome, error) {
	p.keys = append(p.keys, c.IdempotencyKey)
	return p.Provider.Refund(ctx, c)
}

// Every provider call has a provider key (formance payments #745).
func keysEachCallHasOne(t *testing.T) {
	t.Parallel()
	p := &keyed{}
	r := newEnv(t, setup{silent: true, provider: func(of gateway.Provider) gateway.Provider { p.Provider = of; return p }})
	first, second := r.held(t, "A-1"), r.held(t, "A-2")
	_, err := r.Confirm(t.Context(), customer, request("confirm", "confirm-key", ""), commands.Confirm{AttemptID: first.ID})
	require.NoError(t, err)
	_, err = r.Cancel(t.Context(), customer, request("cancel", "cancel-key", ""), second.ID)
	require.NoError(t, err)
	refund := r.refund(t, first.ID, "refund-1")
	require.Equal(t, []string{
		fmt.Sprintf("%x-charge-0", [16]byte(first.ID)), fmt.Sprintf("%x-charge-0", [16]byte(second.ID)),
		fmt.Sprintf("%x-capture-0", [16]byte(first.ID)), fmt.Sprintf("%x-cancel-0", [16]byte(second.ID)),
		fmt.Sprintf("%x-refund-0", [16]byte(refund.ID)),
	}, p.keys)
}

// A key never outlives its target (pay-connector #4632): no order and no attempt can be deleted.
func keysTargetIsNeverDeleted(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	id := r.paid(t, "A-1", "tok_success").ID
	for _, table := range []string{"orders", "payment_attempts", "attempt_transitions"} {
		_, err := r.db.Exec(t.Context(), "DELETE FROM "+table)
		require.Error(t, err, table)
	}
	require.Equal(t, id, r.pay(t, "A-1", "first-key", "tok_success").ID)
}
