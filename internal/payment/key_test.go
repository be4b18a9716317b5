package payment_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/idempotency"
	"github.com/paylatch/paylatch/internal/payment"
)

// A key never outlives what it points to (pay-connector #4632), and what it
// points to never depends on it: a purge causes no second charge and changes no
// answer.
func TestAPurgedKeyChangesNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
	first := r.paid(t, "A-1", "tok_success")
	for range 2 {
		again := r.pay(t, "A-1", "first-key", "tok_success")
		require.Equal(t, idempotency.Reused, again.Result)
		require.Equal(t, first.ID, again.ID)
		_, err := try(t.Context(), r.Service, "A-1", "first-key", "tok_decline")
		require.ErrorIs(t, err, idempotency.ErrKeyReused)
		r.exec(t, "DELETE FROM idempotency_keys")
	}
	r.audit(t, "A-1")
}

// A purge between an insert and a read never makes an untruthful "in progress"
// (margince #423).
func TestAPurgeWhileKeysAreClaimed(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
	second := r.another(t, nil)
	for round := range 20 {
		order := payment.OrderID(fmt.Sprintf("A-%d", round))
		r.order(t, order)
		pay := times(6, func(i int) {
			if _, err := try(t.Context(), []*payment.Service{r.Service, second}[i%2], order, "first-key", "tok_success"); err != nil {
				t.Error(err)
			}
		})
		race(append(pay, func() { r.exec(t, "DELETE FROM idempotency_keys") })...)
		r.audit(t, order)
	}
	require.Len(t, r.ledger(t), 20)
}

// The loser of a race gets the truth, not a 503 (idempot-js #186): whoever's
// request the key is, gets its answer; everybody else is told that it is another's.
func TestTwoRequestsRaceForOneKey(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
	second := r.another(t, nil)
	for round := range 20 {
		order := payment.OrderID(fmt.Sprintf("A-%d", round))
		r.order(t, order)
		tokens := []string{"tok_success", "tok_decline"}
		const n = 8
		answers, errs := make([]payment.Reply, n), make([]error, n)
		race(times(n, func(i int) {
			answers[i], errs[i] = try(t.Context(), []*payment.Service{r.Service, second}[i/2%2], order, "first-key", tokens[i%2])
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
func TestAWrongRequestDoesNotSpoilAReplay(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
	first := r.paid(t, "A-1", "tok_success")
	for range 50 {
		race(times(4, func(i int) {
			if i%2 == 0 {
				if _, err := try(t.Context(), r.Service, "A-1", "first-key", "tok_decline"); !errors.Is(err, idempotency.ErrKeyReused) {
					t.Error(err)
				}
				return
			}
			again, err := try(t.Context(), r.Service, "A-1", "first-key", "tok_success")
			if err != nil || again.ID != first.ID {
				t.Errorf("the replay got %v, %v", again.ID, err)
			}
		})...)
	}
}

// What was refused for good is replayed to the letter; what time lifts does not
// use the key up.
func TestWhichRefusalsUseTheKeyUp(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
	_, err := try(t.Context(), r.Service, "A-1", "first-key", "tok_success")
	require.ErrorIs(t, err, payment.ErrForbidden, "a customer is not told what there is, and its key is free")
	none := payment.Pay{OrderID: "A-1", Token: "tok_success", Capture: payment.CaptureAutomatic}
	_, err = r.Pay(t.Context(), shop, request("pay A-1", "first-key", "tok_success"), none)
	require.ErrorIs(t, err, payment.ErrOrderNotFound)
	_, err = r.Pay(t.Context(), shop, request("pay A-1", "first-key", "tok_success"), none)
	var replay *idempotency.ReplayError
	require.ErrorAs(t, err, &replay)
	require.Contains(t, string(replay.Answer.Body), payment.ErrOrderNotFound.Error())

	first := r.paid(t, "B-1", "tok_never")
	var busy *payment.InProgressError
	_, err = try(t.Context(), r.Service, "B-1", "second-key", "tok_success")
	require.ErrorAs(t, err, &busy)
	require.Equal(t, first.ID, busy.Attempt.ID)
	_, err = r.Cancel(t.Context(), customer, request("cancel", "cancel-key", ""), first.ID)
	require.NoError(t, err)
	require.Equal(t, succeeded, standingOf(r.pay(t, "B-1", "second-key", "tok_success").Attempt))
	for range 2 {
		_, err = try(t.Context(), r.Service, "B-1", "third-key", "tok_success")
		require.True(t, errors.Is(err, payment.ErrOrderPaid) || errors.As(err, &replay), "%v", err)
	}
	require.Contains(t, string(replay.Answer.Body), payment.ErrOrderPaid.Error())
}

func TestARequestThatIsWrongInItselfUsesNothingUp(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
	r.order(t, "A-1")
	two, dollar := int64(2), payment.Currency("USD")
	good := payment.Pay{OrderID: "A-1", Token: "tok_success", Capture: payment.CaptureAutomatic}
	req := request("pay A-1", "first-key", "tok_success")
	for name, change := range map[string]func(*payment.Pay){
		"amount":   func(p *payment.Pay) { p.Amount = &two },
		"currency": func(p *payment.Pay) { p.Currency = &dollar },
		"account":  func(p *payment.Pay) { p.Account = "nobody" },
	} {
		bad := good
		change(&bad)
		_, err := r.Pay(t.Context(), shop, req, bad)
		var wrong *payment.ValidationError
		require.ErrorAs(t, err, &wrong)
		require.Equal(t, name, wrong.Fields[0].Field)
	}
	stranger := payment.Actor{Subject: "u2", Roles: []payment.Role{payment.RoleCustomer}}
	theirs := req
	theirs.User = "u2"
	_, err := r.Pay(t.Context(), stranger, theirs, good)
	require.ErrorIs(t, err, payment.ErrForbidden)
	_, err = r.Pay(t.Context(), payment.Actor{Subject: "u1", Roles: []payment.Role{payment.RoleSupport}}, req, good)
	require.ErrorIs(t, err, payment.ErrForbidden)
	paid, err := r.Pay(t.Context(), customer, req, good)
	require.NoError(t, err)
	require.Equal(t, idempotency.Created, paid.Result)
}

// Every provider call bears a key of its own, never the client's (formance
// payments #745).
func TestTheProvidersKeyIsOurs(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
	paid := r.paid(t, "A-1", "tok_success")
	key := r.ledger(t)[0].Key
	require.Equal(t, fmt.Sprintf("%x-pay", [16]byte(paid.ID)), key)
	require.LessOrEqual(t, len(key), 45)
}

// keyed notes the idempotency key of every call that moves money.
type keyed struct {
	payment.Provider

	keys []string
}

func (p *keyed) Charge(ctx context.Context, c payment.Charge) (payment.Outcome, error) {
	p.keys = append(p.keys, c.IdempotencyKey)
	return p.Provider.Charge(ctx, c)
}

func (p *keyed) Capture(ctx context.Context, c payment.Capture) (payment.Outcome, error) {
	p.keys = append(p.keys, c.IdempotencyKey)
	return p.Provider.Capture(ctx, c)
}

func (p *keyed) Cancel(ctx context.Context, c payment.Cancel) (payment.Outcome, error) {
	p.keys = append(p.keys, c.IdempotencyKey)
	return p.Provider.Cancel(ctx, c)
}

func (p *keyed) Refund(ctx context.Context, c payment.RefundCall) (payment.RefundOutcome, error) {
	p.keys = append(p.keys, c.IdempotencyKey)
	return p.Provider.Refund(ctx, c)
}

// Every provider call bears a provider key (formance payments #745).
func TestEveryCallBearsAKeyOfOurs(t *testing.T) {
	t.Parallel()
	p := &keyed{}
	r := newRig(t, setup{silent: true, provider: func(of payment.Provider) payment.Provider { p.Provider = of; return p }})
	first, second := r.held(t, "A-1"), r.held(t, "A-2")
	_, err := r.Confirm(t.Context(), customer, request("confirm", "confirm-key", ""), payment.Confirm{AttemptID: first.ID})
	require.NoError(t, err)
	_, err = r.Cancel(t.Context(), customer, request("cancel", "cancel-key", ""), second.ID)
	require.NoError(t, err)
	refund := r.refund(t, first.ID, "refund-1")
	require.Equal(t, []string{
		fmt.Sprintf("%x-pay", [16]byte(first.ID)), fmt.Sprintf("%x-pay", [16]byte(second.ID)),
		fmt.Sprintf("%x-capture-0", [16]byte(first.ID)), fmt.Sprintf("%x-cancel-0", [16]byte(second.ID)),
		fmt.Sprintf("%x-refund", [16]byte(refund.ID)),
	}, p.keys)
}

// A key never outlives what it points to (pay-connector #4632): nobody can take an
// order or an attempt away.
func TestAKeyNeverOutlivesWhatItPointsTo(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
	id := r.paid(t, "A-1", "tok_success").ID
	for _, table := range []string{"orders", "payment_attempts", "attempt_transitions"} {
		_, err := r.db.Exec(t.Context(), "DELETE FROM "+table)
		require.Error(t, err, table)
	}
	require.Equal(t, id, r.pay(t, "A-1", "first-key", "tok_success").ID)
}

func TestCreateOrderOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
	cmd := payment.CreateOrder{OrderID: "A-1", Money: payment.Money{Minor: price, Currency: "EUR"}}
	results := make([]idempotency.Result, 20)
	race(times(len(results), func(i int) {
		o, result, err := r.CreateOrder(t.Context(), shop, request("orders", "first-key", "a"), cmd)
		if err != nil || o.ID != "A-1" {
			t.Errorf("%s, %v", o.ID, err)
		}
		results[i] = result
	})...)
	require.Contains(t, results, idempotency.Created)
	r.pay(t, "A-1", "a-pay-key", "tok_success")

	again, result, err := r.CreateOrder(t.Context(), shop, request("orders", "first-key", "a"), cmd)
	require.NoError(t, err)
	require.Equal(t, idempotency.Reused, result)
	require.Equal(t, payment.OrderOpen, again.Status(), "the same request: as it was")
	for range 2 {
		now, _, err := r.CreateOrder(t.Context(), shop, request("orders", "other-key", "a"), cmd)
		require.NoError(t, err)
		require.Equal(t, payment.OrderPaid, now.Status(), "another request: as it is")
	}

	_, _, err = r.CreateOrder(t.Context(), shop, request("orders", "first-key", "b"), cmd)
	require.ErrorIs(t, err, idempotency.ErrKeyReused)
	r.exec(t, "DELETE FROM idempotency_keys")
	_, _, err = r.CreateOrder(t.Context(), shop, request("orders", "first-key", "b"), cmd)
	require.ErrorIs(t, err, idempotency.ErrKeyReused, "whether or not the key is still there")
}

// A shop that makes sure of its order, under a new key each time, may one day write
// members that it left out before.
func TestAnOrderThatIsThereIsComparedByItsContent(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
	r.order(t, "A-1")
	was := payment.CreateOrder{OrderID: "A-1", Money: payment.Money{Minor: price, Currency: "EUR"}}
	empty, dearer, named, marked := was, was, was, was
	empty.Metadata = map[string]string{}
	dearer.Money.Minor++
	named.Description = "Two tickets"
	marked.Metadata = map[string]string{"cart": "77"}
	for key, c := range map[string]struct {
		cmd payment.CreateOrder
		err error
	}{
		"the-same": {was, nil}, "nothing-more": {empty, nil},
		"dearer-1": {dearer, payment.ErrOrderExists}, "described": {named, payment.ErrOrderExists}, "marked-1": {marked, payment.ErrOrderExists},
	} {
		_, _, err := r.CreateOrder(t.Context(), shop, request("orders", key, key), c.cmd)
		require.ErrorIs(t, err, c.err, key)
	}
}
