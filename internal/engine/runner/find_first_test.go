package runner_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/engine/runner"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/current"
)

// lister is a provider that finds payments by our reference, and keeps no keys of errors.
type lister struct {
	gateway.Provider

	found   gateway.Outcome
	missing error
	calls   []string
	again   bool
}

var findsFirst = payment.Capabilities{Resend: payment.ResendUnfound, Lookup: payment.LookupByReference, FindLag: time.Minute, Identity: payment.IdentityOwn}

func (l *lister) Capabilities() payment.Capabilities { return findsFirst }

func (l *lister) Find(context.Context, payment.AttemptID) (gateway.Outcome, error) {
	l.calls = append(l.calls, "find")
	return l.found, l.missing
}

func (l *lister) Charge(_ context.Context, c gateway.Charge) (gateway.Outcome, error) {
	l.calls, l.again = append(l.calls, "charge"), c.Again
	return gateway.Outcome{Event: fsm.EventSucceeded, ProviderPaymentID: "pay_2", Money: &payment.Money{Minor: 1, Currency: "EUR"}}, nil
}

// TestFindFirst: a charge that may have been made is looked up before it is sent again. It is sent only if the provider
// does not have it.
func TestFindFirst(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		sends   int
		missing error
		calls   []string
		outcome gateway.CallOutcome
	}{
		"first_send":      {1, gateway.ErrNoSuchPayment, []string{"charge"}, gateway.CallAccepted},
		"not_found":       {2, gateway.ErrNoSuchPayment, []string{"find", "charge"}, gateway.CallAccepted},
		"found":           {2, nil, []string{"find"}, gateway.CallAsked},
		"nothing_is_told": {2, errors.New("502"), []string{"find"}, gateway.CallAsked},
		"held_back":       {2, gateway.ErrThrottled, []string{"find"}, gateway.CallThrottled},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &lister{missing: tt.missing, found: gateway.Outcome{Event: fsm.EventAuthorized, ProviderPaymentID: "pay_1"}}
			r := runner.New(runner.Options{
				ProviderTimeout: time.Minute, Now: time.Now,
				Rules: changeset.Rules{Schedule: payment.Schedule{Lease: time.Minute}, Accounts: current.Of(map[string]gateway.Account{"": {Provider: p}})},
			})
			a := payment.Attempt{ID: payment.AttemptID(uuid.New()), State: fsm.OutcomeUnknown, ReadAt: time.Now()}
			o := a.NewOperation(payment.OperationCharge, payment.OperationOriginRequest, a.ReadAt)
			o.Sends = tt.sends
			res := r.Send(t.Context(), runner.TaskOf(a, o, payment.Send, gateway.Details{Token: "tok_1"}.Text()), r.Permit(), payment.Cause{})
			require.Equal(t, tt.outcome, res.Outcome)
			require.Equal(t, tt.calls, p.calls)
			require.Equal(t, name == "not_found", p.again, "only a charge that was sent before is one again")
			if name == "found" {
				require.Equal(t, "pay_1", res.Reports[0].Payment)
			}
		})
	}
}

// TestFindFirstPermit: such a charge is sent a second time, past the lag of the lookup and within the
// resend window, and never a third time.
func TestFindFirstPermit(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for name, tt := range map[string]struct {
		age   time.Duration
		sends int
		can   payment.Capabilities
		want  payment.Decision
	}{
		"before_the_lag":   {59 * time.Second, 1, findsFirst, payment.Ask},
		"past_the_lag":     {time.Minute, 1, findsFirst, payment.Send},
		"a_third_time":     {2 * time.Minute, 2, findsFirst, payment.Ask},
		"after_the_window": {payment.ResendWindow, 1, findsFirst, payment.Ask},
		"without_keys":     {time.Minute, 1, payment.Capabilities{Lookup: payment.LookupByReference, FindLag: time.Minute, Identity: payment.IdentityOwn}, payment.Ask},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sent := now.Add(-tt.age)
			a := payment.Attempt{ID: payment.AttemptID(uuid.New()), State: fsm.OutcomeUnknown, CreatedAt: sent}
			o := a.NewOperation(payment.OperationCharge, payment.OperationOriginRequest, sent)
			o.Sends, o.FirstSentAt, o.SealedRequest = tt.sends, &sent, []byte("sealed")
			require.Equal(t, tt.want, a.Permit(&o, payment.Order{}, tt.can, now))
		})
	}
}
