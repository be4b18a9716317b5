package engine_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
	"github.com/paylatch/paylatch/webhooks"
)

func TestMarketplace(t *testing.T) {
	t.Parallel()
	t.Run("data_reach_the_provider", marketplaceDataReachTheProvider)
	t.Run("data_that_are_not_allowed", marketplaceDataThatAreNotAllowed)
	t.Run("a_resend_has_the_same_bytes", marketplaceResendHasTheSameBytes)
	t.Run("a_call_without_its_data_is_not_sent", marketplaceCallWithoutItsData)
	t.Run("a_refund_is_found", marketplaceRefundIsFound)
	t.Run("a_capture_that_is_taken_over", marketplaceCaptureTakenOver)
	t.Run("who_bears_a_refund", marketplaceWhoBearsARefund)
	t.Run("no_policy_refund", marketplaceNoPolicyRefund)
}

// marketplace is a provider that shares money, and shows the data of its captures and refunds in the order of the calls.
type marketplace struct {
	gateway.Provider

	// lost are the calls that are lost before they have an effect. Of unheard refunds the response is lost.
	lost    int
	unheard bool
	mu      sync.Mutex
	got     []string
}

func (*marketplace) Accepts(gateway.Charge) error { return nil }

// call keeps the data of a call. It reports whether the response is lost.
func (p *marketplace) call(d gateway.Data) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.got = append(p.got, d.Text())
	p.lost--
	return p.lost >= 0
}

func (p *marketplace) Capture(ctx context.Context, c gateway.Capture) (gateway.Outcome, error) {
	if p.call(c.ProviderData) {
		return gateway.Outcome{}, errNoAnswer
	}
	return p.Provider.Capture(ctx, c)
}

func (p *marketplace) Refund(ctx context.Context, c gateway.RefundCall) (gateway.RefundOutcome, error) {
	if p.call(c.ProviderData) {
		return gateway.RefundOutcome{}, errNoAnswer
	}
	o, err := p.Provider.Refund(ctx, c)
	if p.unheard {
		return gateway.RefundOutcome{}, errNoAnswer
	}
	return o, err
}

// newMarketplace is an env whose account shares money, with calls whose responses are lost first.
func newMarketplace(t *testing.T, lost int, change func(*options)) (*env, *marketplace) {
	t.Helper()
	p := &marketplace{lost: lost}
	r := newEnv(t, setup{silent: true, provider: func(of gateway.Provider) gateway.Provider {
		p.Provider = of
		return p
	}, change: func(o *options) {
		account := o.Accounts["sandbox"]
		account.Further = gateway.Further{
			Capture: gateway.Members{"fees": kit.AnyObject, "note": kit.TextTo(100), "share": kit.TextTo(100)},
			Refund:  gateway.Members{"reverse": kit.AnyBool, "note": kit.TextTo(100)},
			Split:   gateway.Split{Pay: []string{"share"}, Refund: []string{"reverse"}, Advice: "send `reverse`"},
		}
		o.Accounts["sandbox"] = account
		if change != nil {
			change(o)
		}
	}})
	return r, p
}

func data(text string) (d gateway.Data) {
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		panic(err)
	}
	return d
}

// command is a capture of a hold or a refund of a payment, with the provider's own members.
type command struct {
	// ready makes the attempt that the command is about.
	ready func(t *testing.T, r *env) payment.AttemptID
	do    func(ctx context.Context, s *service, id payment.AttemptID, key, text string) error
	// again carries the command out once more, without its request.
	again func(t *testing.T, r *env, id payment.AttemptID)
	money func(a attempt) int64
}

// furtherCommands are all the commands that carry members of the provider's own request.
func furtherCommands() map[string]command {
	return map[string]command{
		"capture": {
			ready: func(t *testing.T, r *env) payment.AttemptID {
				t.Helper()
				return r.held(t, "A-1").ID
			},
			do: func(ctx context.Context, s *service, id payment.AttemptID, key, text string) error {
				_, err := s.Confirm(ctx, shop, request("confirm", key, text), commands.Confirm{AttemptID: id, ProviderData: data(text)})
				return err
			},
			again: func(t *testing.T, r *env, id payment.AttemptID) {
				t.Helper()
				r.recheck(t, id)
			},
			money: func(a attempt) int64 { return a.Captured },
		},
		"refund": {
			ready: func(t *testing.T, r *env) payment.AttemptID {
				t.Helper()
				return r.paid(t, "A-1", "tok_success").ID
			},
			do: func(ctx context.Context, s *service, id payment.AttemptID, key, text string) error {
				_, err := s.Refund(ctx, shop, request("refund", key, text), commands.CreateRefund{AttemptID: id, ProviderData: data(text)})
				return err
			},
			again: func(t *testing.T, r *env, _ payment.AttemptID) {
				t.Helper()
				id := payment.RefundID(uuid.MustParse(rows[string](t, r, "SELECT refund_id::text FROM refunds")[0]))
				_, err := r.RecheckRefund(t.Context(), id, byTest)
				require.NoError(t, err)
			},
			money: func(a attempt) int64 { return a.Refunded },
		},
	}
}

func eachFurtherCommand(t *testing.T, test func(t *testing.T, c command)) {
	t.Helper()
	for name, c := range furtherCommands() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, c)
		})
	}
}

func marketplaceDataReachTheProvider(t *testing.T) {
	t.Parallel()
	eachFurtherCommand(t, func(t *testing.T, c command) {
		t.Helper()
		mark := "note-" + uuid.NewString()
		r, p := newMarketplace(t, 0, nil)
		id := c.ready(t, r)
		require.NoError(t, c.do(t.Context(), r.service, id, "the-only-key", `{"note":"`+mark+`"}`))
		require.Equal(t, []string{`{"note":"` + mark + `"}`}, p.got)
		require.EqualValues(t, price, c.money(r.attempt(t, id)))
		require.Empty(t, r.dump(t, mark), "it is not sent again")
		require.Empty(t, r.verify(t))
	})
}

func marketplaceDataThatAreNotAllowed(t *testing.T) {
	t.Parallel()
	eachFurtherCommand(t, func(t *testing.T, c command) {
		t.Helper()
		r, p := newMarketplace(t, 0, nil)
		id := c.ready(t, r)
		for text, field := range map[string]string{
			`{"amount":1}`:                  "provider_data.amount",
			`{"note":""}`:                   "provider_data.note",
			`{"note":"x","other":{"a":[]}}`: "provider_data.other",
			`{"share":"acct_1"}`:            "provider_data.share",
		} {
			var invalid *payment.ValidationError
			require.ErrorAs(t, c.do(t.Context(), r.service, id, "the-only-key", text), &invalid, text)
			require.Equal(t, field, invalid.Fields[0].Field)
		}
		require.Empty(t, p.got)
		require.NoError(t, c.do(t.Context(), r.service, id, "the-only-key", `{"note":"x"}`), "the key is not used up")
	})
}

func marketplaceResendHasTheSameBytes(t *testing.T) {
	t.Parallel()
	eachFurtherCommand(t, func(t *testing.T, c command) {
		t.Helper()
		mark := "note-" + uuid.NewString()
		r, p := newMarketplace(t, 1, sealedWith("sealed-"))
		id := c.ready(t, r)
		require.NoError(t, c.do(t.Context(), r.service, id, "the-only-key", `{"note":"`+mark+`"}`))
		require.Equal(t, []string{"sealed_requests"}, r.dump(t, mark), "kept to be sent again")
		c.again(t, r, id)
		require.Equal(t, []string{`{"note":"` + mark + `"}`, `{"note":"` + mark + `"}`}, p.got)
		require.EqualValues(t, price, c.money(r.attempt(t, id)))
		require.Empty(t, r.dump(t, mark))
		require.Empty(t, r.verify(t))
	})
}

// A server that crashed has lost the data. A call without them would move the money in another way, so the call is only
// looked up.
func marketplaceCallWithoutItsData(t *testing.T) {
	t.Parallel()
	eachFurtherCommand(t, func(t *testing.T, c command) {
		t.Helper()
		r, p := newMarketplace(t, 1, nil)
		id := c.ready(t, r)
		require.NoError(t, c.do(t.Context(), r.service, id, "the-only-key", `{"note":"x"}`))
		r.exec(t, "TRUNCATE sealed_requests")
		c.again(t, r, id)
		require.Len(t, p.got, 1)
		require.Zero(t, c.money(r.attempt(t, id)))
		require.NotEmpty(t, rows[int64](t, r, "SELECT 1::bigint FROM operations WHERE kind IN ('capture', 'refund') AND open"), "it is looked up on")
		require.Empty(t, r.verify(t))
	})
}

// A refund that was made, and whose members are lost, is found by a lookup.
func marketplaceRefundIsFound(t *testing.T) {
	t.Parallel()
	r, p := newMarketplace(t, 0, nil)
	p.unheard = true
	id, refund := r.paid(t, "A-1", "tok_success").ID, furtherCommands()["refund"]
	require.NoError(t, refund.do(t.Context(), r.service, id, "the-only-key", `{"note":"x"}`))
	require.Zero(t, r.attempt(t, id).Refunded)
	r.exec(t, "TRUNCATE sealed_requests")
	refund.again(t, r, id)
	require.EqualValues(t, price, r.attempt(t, id).Refunded)
	require.Len(t, p.got, 1)
}

// The client's repeated request may have its members in another order. The call has the bytes of the first request.
func marketplaceCaptureTakenOver(t *testing.T) {
	t.Parallel()
	r, p := newMarketplace(t, 0, nil)
	id := r.held(t, "A-1").ID
	sleepy := sleepyCapture{p, make(chan struct{}), make(chan struct{})}
	p.lost = 1
	slow := r.another(t, func(o *options) {
		account := o.Accounts["sandbox"]
		account.Provider = sleepy
		o.Accounts = map[string]gateway.Account{"sandbox": account}
	})
	confirm := func(s *service, text string) error {
		_, err := s.Confirm(t.Context(), shop, request("confirm", "confirm-key", ""), commands.Confirm{AttemptID: id, ProviderData: data(text)})
		return err
	}
	first := make(chan error, 1)
	go func() { first <- confirm(slow, `{"fees":{"a":1,"b":2}}`) }()
	<-sleepy.asleep
	r.age(t, id, lease)
	r.exec(t, "UPDATE idempotency_keys SET lease_until = lease_until - $1::interval", lease)
	require.NoError(t, confirm(r.service, `{"fees":{"b":2,"a":1}}`))
	close(sleepy.thaw)
	require.NoError(t, <-first)
	require.Equal(t, []string{`{"fees":{"a":1,"b":2}}`, `{"fees":{"a":1,"b":2}}`}, p.got)
	r.audit(t, "A-1")
}

// shared pays an order with money that other accounts share.
func (r *env) shared(t *testing.T, token string) payment.AttemptID {
	t.Helper()
	r.order(t, "A-1")
	made, err := r.Pay(t.Context(), shop, request("pay A-1", "first-key", token), commands.Pay{
		OrderID: "A-1", Capture: payment.CaptureAutomatic, Details: gateway.Details{Token: token, ProviderData: data(`{"share":"acct_1"}`)},
	})
	require.NoError(t, err)
	return made.ID
}

// The refund of a payment that was shared must say who bears it, and any answer is taken.
func marketplaceWhoBearsARefund(t *testing.T) {
	t.Parallel()
	r, p := newMarketplace(t, 0, nil)
	id := r.shared(t, "tok_success")
	refund := commands.CreateRefund{AttemptID: id}
	for _, silent := range []gateway.Data{nil, data(`{"note":"x"}`)} {
		refund.ProviderData = silent
		_, err := r.Refund(t.Context(), shop, request("refund", "refund-key", ""), refund)
		var invalid *payment.ValidationError
		require.ErrorAs(t, err, &invalid)
		require.Equal(t, "provider_data", invalid.Fields[0].Field)
		require.Contains(t, invalid.Fields[0].Message, "send `reverse`")
	}
	require.Empty(t, p.got)
	part := int64(500)
	refund.Amount = &part
	for _, text := range []string{`{"reverse":false}`, `{"reverse":true}`} {
		refund.ProviderData = data(text)
		made, err := r.Refund(t.Context(), shop, request("refund", "refund-"+text, ""), refund)
		require.NoError(t, err)
		require.Equal(t, fsm.RefundSucceeded, made.State)
	}
	require.Equal(t, []string{`{"reverse":false}`, `{"reverse":true}`}, p.got)
	require.Equal(t, 2*part, r.attempt(t, id).Refunded)
}

// Late money that was shared is not refunded by the policy: a person says who bears it.
func marketplaceNoPolicyRefund(t *testing.T) {
	t.Parallel()
	r, _ := newMarketplace(t, 0, autoRefunds)
	id := r.shared(t, "tok_decline")
	require.Equal(t, fsm.Conflict, r.say(t, id, webhooks.KindSucceeded))
	require.Empty(t, rows[string](t, r, "SELECT refund_id::text FROM refunds"))
	require.Equal(t, []string{"late_success"}, r.discrepancies(t, id))
}
