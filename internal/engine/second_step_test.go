package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

func TestSecondStep(t *testing.T) {
	t.Parallel()
	t.Run("passed", secondStepPassed)
	t.Run("ways", secondStepWays)
	t.Run("not_passed", secondStepNotPassed)
	t.Run("refused_details", secondStepRefusedDetails)
	t.Run("lost_answer", secondStepLostAnswer)
	t.Run("lost_past_the_window", secondStepLostPastTheWindow)
	t.Run("dead_runner", secondStepDeadRunner)
	t.Run("many_at_once", secondStepManyAtOnce)
	t.Run("nothing_to_complete", secondStepNothingToComplete)
	t.Run("withheld", secondStepWithheld)
	t.Run("one_more_step", secondStepOneMore)
	t.Run("manual_capture", secondStepManualCapture)
}

// stepping is a provider whose completes may go wrong.
type stepping struct {
	gateway.Provider

	complete func(c gateway.Completion, send func() (gateway.Outcome, error)) (gateway.Outcome, error)
	sent     atomic.Int32
}

func (p *stepping) on(of gateway.Provider) gateway.Provider {
	p.Provider = of
	return p
}

func (p *stepping) Complete(ctx context.Context, c gateway.Completion) (gateway.Outcome, error) {
	send := func() (gateway.Outcome, error) {
		p.sent.Add(1)
		return p.Provider.Complete(ctx, c)
	}
	if p.complete == nil {
		return send()
	}
	return p.complete(c, send)
}

// challenged is a payment whose customer has passed, or failed, the challenge on the provider's page, with the details
// of the return.
func (r *env) challenged(t *testing.T, order payment.OrderID, approve bool, vary ...func(*commands.Pay)) (payment.AttemptID, string) {
	t.Helper()
	r.order(t, order)
	cmd := commands.Pay{
		OrderID: order, Capture: payment.CaptureAutomatic, Details: gateway.Details{Token: "tok_3ds", ReturnURL: "https://shop.example/back?a=1"},
	}
	for _, f := range vary {
		f(&cmd)
	}
	paid, err := r.Pay(t.Context(), customer, request("pay "+string(order), "first-key", "3ds"), cmd)
	require.NoError(t, err)
	require.Equal(t, fsm.AwaitingCustomer, paid.State)
	return paid.ID, passed(t, paid.NextAction, approve)
}

// passed is the data with which the customer returns from the page of an action.
func passed(t *testing.T, action *payment.NextAction, approve bool) string {
	t.Helper()
	require.Equal(t, payment.ActionRedirect, action.Type)
	decision := "decline"
	if approve {
		decision = "approve"
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	defer client.CloseIdleConnections()
	answer, err := client.PostForm(action.URL, url.Values{"decision": {decision}})
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	back, err := answer.Location()
	require.NoError(t, err)
	require.Equal(t, "1", back.Query().Get("a"))
	return details(t, map[string]string{"sandbox_result": back.Query().Get("sandbox_result")})
}

func details(t *testing.T, of any) string {
	t.Helper()
	text, err := json.Marshal(of)
	require.NoError(t, err)
	return string(text)
}

func (r *env) complete(ctx context.Context, id payment.AttemptID, key, details string) (commands.Reply, error) {
	return r.Complete(ctx, customer, request("complete "+id.String(), key, details), commands.Complete{AttemptID: id, Details: json.RawMessage(details)})
}

func (r *env) completed(t *testing.T, id payment.AttemptID, key, details string) commands.Reply {
	t.Helper()
	reply, err := r.complete(t.Context(), id, key, details)
	require.NoError(t, err)
	return reply
}

func secondStepPassed(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	id, details := r.challenged(t, "A-1", true)
	require.Empty(t, r.ledger(t), "nothing is taken before the second step")
	done := r.completed(t, id, "complete-1", details)
	require.Equal(t, idempotency.Created, done.Result)
	require.Equal(t, succeeded, standingOf(done.Attempt))
	require.Nil(t, done.NextAction)
	again := r.completed(t, id, "complete-1", details)
	require.Equal(t, idempotency.Reused, again.Result)
	require.Equal(t, succeeded, standingOf(again.Attempt))
	_, err := r.complete(t.Context(), id, "complete-1", `{"other":"details"}`)
	require.ErrorIs(t, err, idempotency.ErrKeyReused)
	require.Len(t, r.ledger(t), 1)
	require.Empty(t, rows[string](t, r, "SELECT kind FROM sealed_requests"), "what it carried is erased")
	require.Empty(t, r.verify(t))
	r.audit(t, "A-1")
}

// The customer goes on by a form, or by the provider's script, or pays a voucher later.
func secondStepWays(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	form := r.paid(t, "A-1", "tok_3ds_form")
	require.Equal(t, payment.ActionPostForm, form.NextAction.Type)
	require.Equal(t, map[string]string{"charge": form.ProviderPaymentID}, form.NextAction.Fields)
	require.True(t, strings.HasSuffix(form.NextAction.URL, "/pay/challenge"))

	sdk := r.paid(t, "A-2", "tok_3ds_sdk")
	require.Equal(t, payment.ActionSDK, sdk.NextAction.Type)
	require.Contains(t, string(sdk.NextAction.Data), "client_secret")
	require.Empty(t, rows[string](t, r, "SELECT version::text FROM attempt_transitions WHERE detail::text LIKE '%secret%'"), "the log is kept for ever")
	require.Equal(t, sdk.NextAction, r.recheck(t, sdk.ID).NextAction, "a lookup changes nothing")
	require.Equal(t, sdk.Version, r.attempt(t, sdk.ID).Version)

	voucher := r.paid(t, "A-3", "tok_voucher")
	require.Equal(t, payment.ActionDisplay, voucher.NextAction.Type)
	require.Greater(t, time.Until(voucher.NextAction.ExpiresAt), 48*time.Hour)
	require.Equal(t, voucher.NextAction, r.attempt(t, voucher.ID).NextAction)
	require.Empty(t, r.verify(t))
}

func secondStepNotPassed(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	id, details := r.challenged(t, "A-1", false)
	done := r.completed(t, id, "complete-1", details)
	require.Equal(t, fsm.Failed, done.State)
	require.Equal(t, "authentication_failed", done.Failure.Code)
	require.True(t, done.CanStartNew)
	require.Empty(t, r.ledger(t))
	r.audit(t, "A-1")
}

// Details that the provider refuses change nothing: the attempt waits on, and the key is free.
func secondStepRefusedDetails(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	id, details := r.challenged(t, "A-1", true)
	var invalid *payment.ValidationError
	_, err := r.complete(t.Context(), id, "complete-1", `{"sandbox_result":"res_made_up"}`)
	require.ErrorAs(t, err, &invalid)
	require.Equal(t, "details", invalid.Fields[0].Field)
	now := r.attempt(t, id)
	require.Equal(t, fsm.AwaitingCustomer, now.State)
	require.NotNil(t, now.NextAction)
	require.Equal(t, []string{"charge done", "check wanted", "complete refused"},
		rows[string](t, r, "SELECT kind || ' ' || state FROM operations ORDER BY kind"))
	require.Equal(t, succeeded, standingOf(r.completed(t, id, "complete-1", details).Attempt))
	require.Len(t, r.ledger(t), 1)
	r.audit(t, "A-1")
}

// A complete without a response is sent again under its key, with its stored data, whether it was carried out or not.
func secondStepLostAnswer(t *testing.T) {
	t.Parallel()
	for name, made := range map[string]bool{"carried out": true, "not carried out": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var keys []string
			p := &stepping{}
			p.complete = func(c gateway.Completion, send func() (gateway.Outcome, error)) (gateway.Outcome, error) {
				keys = append(keys, c.IdempotencyKey)
				if len(keys) > 1 {
					return send()
				}
				if made {
					_, _ = send()
				}
				return gateway.Outcome{}, errNoAnswer
			}
			r := newEnv(t, setup{silent: true, provider: p.on})
			id, details := r.challenged(t, "A-1", true)
			require.Equal(t, fsm.AwaitingCustomer, r.completed(t, id, "complete-1", details).State)
			require.Equal(t, []string{"complete"}, rows[string](t, r, "SELECT kind FROM sealed_requests"))
			_, err := r.complete(t.Context(), id, "complete-2", details)
			require.ErrorIs(t, err, payment.ErrBusy, "the first may have been carried out")
			require.Equal(t, succeeded, standingOf(r.recheck(t, id).Attempt))
			require.Len(t, r.ledger(t), 1)
			require.Len(t, keys, 2)
			require.Equal(t, keys[0], keys[1])
			require.Empty(t, rows[string](t, r, "SELECT kind FROM sealed_requests"))
			r.audit(t, "A-1")
		})
	}
}

// Past the window, or without its stored data, a complete is looked up and not sent.
func secondStepLostPastTheWindow(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]string{
		"late":       "UPDATE operations SET first_sent_at = first_sent_at - interval '11 minutes' WHERE kind = 'complete'",
		"not kept":   "DELETE FROM sealed_requests",
		"not sealed": "UPDATE sealed_requests SET sealed = '\\x00'",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &stepping{complete: func(gateway.Completion, func() (gateway.Outcome, error)) (gateway.Outcome, error) {
				return gateway.Outcome{}, errNoAnswer
			}}
			r := newEnv(t, setup{silent: true, provider: p.on})
			id, details := r.challenged(t, "A-1", true)
			r.completed(t, id, "complete-1", details)
			r.exec(t, spoil)
			p.complete = func(gateway.Completion, func() (gateway.Outcome, error)) (gateway.Outcome, error) {
				return gateway.Outcome{}, errors.New("it is sent again")
			}
			require.Equal(t, fsm.AwaitingCustomer, r.recheck(t, id).State)
			require.Zero(t, p.sent.Load())
			require.Empty(t, r.ledger(t))
		})
	}
}

// The retry of a client takes over from a runner that died with the permit: it continues the same operation. If the
// reconciler was first, the retry finds the reconciler's result.
func secondStepDeadRunner(t *testing.T) {
	t.Parallel()
	for name, reconciled := range map[string]bool{"retried": false, "reconciled": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &stepping{}
			r := newEnv(t, setup{silent: true, provider: p.on})
			id, details := r.challenged(t, "A-1", true)
			mortal := r.another(t, func(o *options) {
				o.Accounts = map[string]gateway.Account{"sandbox": {Provider: deadStep{o.Accounts["sandbox"].Provider}}}
			})
			require.PanicsWithValue(t, "killed", func() {
				_, _ = mortal.Complete(t.Context(), customer, request("complete "+id.String(), "complete-1", details),
					commands.Complete{AttemptID: id, Details: json.RawMessage(details)})
			})
			r.age(t, id, lease)
			r.exec(t, "UPDATE idempotency_keys SET lease_until = now() WHERE endpoint LIKE 'complete %'")
			if reconciled {
				require.Equal(t, succeeded, standingOf(r.recheck(t, id).Attempt))
			}
			require.Equal(t, succeeded, standingOf(r.completed(t, id, "complete-1", details).Attempt))
			require.EqualValues(t, 1, p.sent.Load())
			require.Len(t, r.ledger(t), 1)
			require.Equal(t, []string{"complete 0 2"}, rows[string](t, r, "SELECT kind || ' ' || number || ' ' || sends FROM operations WHERE kind = 'complete'"))
			r.audit(t, "A-1")
		})
	}
}

// deadStep is a provider that kills the runner of a complete.
type deadStep struct{ gateway.Provider }

func (deadStep) Complete(context.Context, gateway.Completion) (gateway.Outcome, error) {
	panic("killed")
}

func secondStepManyAtOnce(t *testing.T) {
	t.Parallel()
	p := &stepping{}
	r := newEnv(t, setup{silent: true, provider: p.on})
	id, details := r.challenged(t, "A-1", true)
	var wait sync.WaitGroup
	failed := make(chan error, 200)
	for i := range 200 {
		wait.Go(func() {
			_, err := r.complete(t.Context(), id, fmt.Sprintf("complete-%d", i%4), details)
			if err != nil && !errors.Is(err, payment.ErrBusy) && !errors.Is(err, payment.ErrNotCompletable) {
				failed <- err
			}
		})
	}
	wait.Wait()
	close(failed)
	for err := range failed {
		require.NoError(t, err)
	}
	require.Equal(t, succeeded, standingOf(r.attempt(t, id).Attempt))
	require.EqualValues(t, 1, p.sent.Load())
	require.Len(t, r.ledger(t), 1)
	r.audit(t, "A-1")
}

func secondStepNothingToComplete(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	for order, token := range map[payment.OrderID]string{"A-1": "tok_success", "A-2": "tok_decline", "A-3": "tok_never"} {
		id := r.paid(t, order, token).ID
		_, err := r.complete(t.Context(), id, "complete-"+string(order), `{}`)
		require.ErrorIs(t, err, payment.ErrNotCompletable, token)
	}
	require.Equal(t, []string{"0"}, rows[string](t, r, "SELECT count(*)::text FROM operations WHERE kind = 'complete'"))
	_, err := r.complete(t.Context(), payment.AttemptID{1}, "complete-none", `{}`)
	require.ErrorIs(t, err, payment.ErrForbidden)
}

// Money is not taken for an order that is cancelled, or beside a cancel of the attempt.
func secondStepWithheld(t *testing.T) {
	t.Parallel()
	p := &stepping{}
	r := newEnv(t, setup{silent: true, provider: p.on})
	id, details := r.challenged(t, "A-1", true)
	r.exec(t, "UPDATE orders SET cancel_requested_at = now() WHERE order_id = 'A-1'")
	_, err := r.complete(t.Context(), id, "complete-1", details)
	require.ErrorIs(t, err, payment.ErrOrderCancelled)
	require.Zero(t, p.sent.Load())

	other, details := r.challenged(t, "A-2", true)
	_, err = r.Cancel(t.Context(), customer, request("cancel", "cancel-key", ""), other)
	require.NoError(t, err)
	_, err = r.complete(t.Context(), other, "complete-2", details)
	require.ErrorIs(t, err, payment.ErrNotCompletable)
	require.Empty(t, r.ledger(t))
}

// A provider may answer a second step with a third one, which takes a complete of its own.
func secondStepOneMore(t *testing.T) {
	t.Parallel()
	p := &stepping{}
	var keys []string
	p.complete = func(c gateway.Completion, send func() (gateway.Outcome, error)) (gateway.Outcome, error) {
		if keys = append(keys, c.IdempotencyKey); len(keys) > 1 {
			return send()
		}
		return gateway.Outcome{
			Event: fsm.EventActionRequired, ProviderPaymentID: c.ProviderPaymentID,
			NextAction: &payment.NextAction{Type: payment.ActionSDK, Data: json.RawMessage(`{"challenge":"2"}`)},
		}, nil
	}
	r := newEnv(t, setup{silent: true, provider: p.on})
	id, details := r.challenged(t, "A-1", true)
	next := r.completed(t, id, "complete-1", `{"fingerprint":"f"}`)
	require.Equal(t, fsm.AwaitingCustomer, next.State)
	require.Equal(t, payment.ActionSDK, next.NextAction.Type)
	require.Equal(t, succeeded, standingOf(r.completed(t, id, "complete-2", details).Attempt))
	require.NotEqual(t, keys[0], keys[1])
	require.Len(t, r.ledger(t), 1)
	require.Empty(t, r.verify(t))
	r.audit(t, "A-1")
}

func secondStepManualCapture(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	id, details := r.challenged(t, "A-1", true, func(cmd *commands.Pay) { cmd.Capture = payment.CaptureManual })
	require.Equal(t, fsm.Authorized, r.completed(t, id, "complete-1", details).State)
	_, err := r.Confirm(t.Context(), customer, request("confirm", "confirm-key", ""), commands.Confirm{AttemptID: id})
	require.NoError(t, err)
	require.Equal(t, succeeded, standingOf(r.attempt(t, id).Attempt))
	require.Len(t, r.ledger(t), 1)
	r.audit(t, "A-1")
}
