package runner

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"math"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/tracing"
)

// Send executes a permitted task, and looks up its outcome where the response is not conclusive. It always returns a
// result; unknown is a result, too.
func (r *Runner) Send(ctx context.Context, t Task, permit gateway.Permit, cause payment.Cause) gateway.CallResult {
	ctx, span := tracing.Begin(ctx, string(t.Operation.Kind), tracing.Client, about(t))
	res := r.send(ctx, t, permit, cause)
	span.End(string(res.Outcome), res.Outcome == gateway.CallUnknown)
	return res
}

func (r *Runner) send(ctx context.Context, t Task, permit gateway.Permit, cause payment.Cause) gateway.CallResult {
	account, ok := r.Account(t.Attempt)
	switch {
	case !ok && t.Decision == payment.Send: // since it was taken, the account has got another merchant
		return gateway.CallResult{Outcome: gateway.CallNotSent}
	case !ok:
		return gateway.CallResult{Outcome: gateway.CallAsked}
	}
	p := account.Provider
	switch kind := t.Operation.Kind; {
	case kind == payment.OperationRefund && t.Decision == payment.Send && (!r.sure(ctx) || r.HoldsRefunds(t.Attempt.Account)):
		return gateway.CallResult{Outcome: gateway.CallThrottled}
	case kind == payment.OperationCharge && t.Decision == payment.Send && t.Operation.Sends <= 1 && (!r.sure(ctx) || r.HoldsPays()):
		return gateway.CallResult{Outcome: gateway.CallNotSent} // noticed since the pay began
	case kind == payment.OperationRefund && t.Decision == payment.Send:
		return r.refund(ctx, p, t, permit)
	case t.Operation.RefundID != payment.RefundID{}:
		return r.askRefund(ctx, p, t, permit, cause)
	case kind == payment.OperationCancel:
		return r.cancel(ctx, p, t, permit, cause)
	case t.Decision != payment.Send:
		return r.ask(ctx, p, t, permit, cause)
	case kind == payment.OperationCapture:
		return r.orAsk(ctx, p, t, permit, cause, r.capture(ctx, p, t, permit))
	}
	if t.Operation.Kind == payment.OperationCharge && t.Operation.Sends > 1 && p.Capabilities().Resend == payment.ResendUnfound {
		if asked, absent := r.findFirst(ctx, p, t, permit, cause); !absent {
			return asked
		}
	}
	res := r.charge(ctx, p, t, permit)
	if t.Operation.Sends > 1 {
		return r.orAsk(ctx, p, t, permit, cause, res)
	}
	if can := p.Capabilities(); res.Outcome == gateway.CallUnknown && t.Operation.Kind == payment.OperationCharge && !can.Finds() {
		return r.orNeverPaid(t, can, payment.Cause{Kind: payment.CauseCall, ID: t.Operation.Key()}, res)
	}
	return res
}

// sure looks at the database's mark once more where a pooler may have changed the server without a new connection. It returns false if the
// database does not answer.
func (r *Runner) sure(ctx context.Context) bool {
	return r.LookAgain == nil || r.LookAgain(ctx) == nil
}

// result is the call result of a response. The cause of its reports is the call.
func result(t Task, out gateway.Outcome, err error) gateway.CallResult {
	if err != nil {
		return gateway.Failed(err)
	}
	report := gateway.FromOutcome(out, payment.Cause{Kind: payment.CauseCall, ID: t.Operation.Key()})
	if out.Refused {
		return gateway.CallResult{Outcome: gateway.CallRefused, Failure: out.Failure, Reports: []payment.Report{report}}
	}
	return gateway.CallResult{Outcome: gateway.CallAccepted, ProviderRef: out.ProviderRef, Reports: []payment.Report{report}}
}

// charge sends an operation that takes or holds the customer's money: a charge, or its completion.
func (r *Runner) charge(ctx context.Context, p gateway.Provider, t Task, permit gateway.Permit) gateway.CallResult {
	request, err := r.request(t)
	if err != nil {
		return gateway.CallResult{Outcome: gateway.CallUnknown}
	}
	call, end := r.call(ctx, permit)
	defer end()
	out, err := begin(call, p, t, request, permit)
	if err == nil && out.RefusesCall() {
		return gateway.CallResult{Outcome: gateway.CallRefused, Failure: out.Failure}
	}
	res := result(t, out, err)
	if res.Outcome == gateway.CallAccepted && out.Event == fsm.EventSoftFailed {
		r.cancelDeclined(ctx, p, t, permit, out, &res)
	}
	return res
}

// begin calls the provider with the data that an operation carries.
func begin(ctx context.Context, p gateway.Provider, t Task, request string, permit gateway.Permit) (gateway.Outcome, error) {
	a := t.Attempt
	if t.Operation.Kind == payment.OperationComplete {
		of := acting(&a)
		return p.Complete(ctx, gateway.Completion{
			Attempt: a.ID, Order: a.OrderID, ProviderPaymentID: of.Payment, Container: of.Container, Money: a.Money, Capture: a.Capture.AtProvider(),
			Details: json.RawMessage(request), IdempotencyKey: t.Operation.Key(), Permit: permit,
		})
	}
	details, err := gateway.ParseDetails(request)
	if err != nil {
		return gateway.Outcome{}, err
	}
	return p.Charge(ctx, gateway.Charge{
		Details: details, Attempt: a.ID, Order: a.OrderID, Money: a.Money, Capture: a.Capture.AtProvider(), Several: a.Capture == payment.CaptureSeveral,
		IdempotencyKey: t.Operation.Key(),
		Again:          t.Operation.Sends > 1, Permit: permit,
	})
}

// cancelDeclined cancels a declined payment that could still succeed, under the same lease, so that the decline is final
// at once. If the cancel does not get through, its own operation continues it.
func (r *Runner) cancelDeclined(ctx context.Context, p gateway.Provider, t Task, permit gateway.Permit, out gateway.Outcome, res *gateway.CallResult) {
	cancel := t.Attempt.NewOperation(payment.OperationCancel, payment.OperationOriginPolicy, t.Attempt.ReadAt)
	done := r.sendCancel(ctx, p, t, permit, target{Payment: out.ProviderPaymentID, Container: out.Container, Key: cancel.Key()}, math.MaxInt64)
	res.Cancelled = &done
}

// findFirst looks for the payment of a charge that was sent before. It reports whether the provider has no such payment:
// then the charge is sent again. Otherwise the found payment is the result.
func (r *Runner) findFirst(ctx context.Context, p gateway.Provider, t Task, permit gateway.Permit, cause payment.Cause) (gateway.CallResult, bool) {
	call, end := r.call(ctx, permit)
	defer end()
	out, err := p.Find(call, t.Attempt.ID)
	switch {
	case err == nil:
		return gateway.CallResult{Outcome: gateway.CallAsked, Reports: gateway.Reports(out, cause)}, false
	case errors.Is(err, gateway.ErrThrottled):
		return gateway.CallResult{Outcome: gateway.CallThrottled}, false
	}
	return gateway.CallResult{Outcome: gateway.CallAsked}, errors.Is(err, gateway.ErrNoSuchPayment)
}

// capture captures the money on hold.
func (r *Runner) capture(ctx context.Context, p gateway.Provider, t Task, permit gateway.Permit) gateway.CallResult {
	a := t.Attempt
	receipt, err := r.receipt(ctx, a, t.Operation.Amount)
	if err != nil {
		return gateway.CallResult{Outcome: gateway.CallNotSent}
	}
	data, err := r.data(t)
	if err != nil {
		return gateway.CallResult{Outcome: gateway.CallNotSent}
	}
	call, end := r.call(ctx, permit)
	defer end()
	of := toCapture(&a)
	out, err := p.Capture(call, gateway.Capture{
		Attempt: a.ID, ProviderPaymentID: of.Payment, Container: of.Container, IdempotencyKey: t.Operation.Key(), Permit: permit,
		Money: payment.Money{Minor: t.Operation.Amount, Currency: a.Money.Currency}, Whole: t.Operation.Amount == a.Capturable(),
		Several: a.Capture == payment.CaptureSeveral, Final: t.Operation.Final, Again: t.Operation.Sends > 1, Receipt: receipt, ProviderData: data,
	})
	return result(t, named(&a, out, cmp.Or(of.Payment, of.Container)), err)
}

// quiet is for how long no operation was sent that could take or hold money. An open cancel ends such sends, except for
// sends that an earlier permit still allowed.
func (r *Runner) quiet(t Task) time.Duration {
	last := t.Operation.CreatedAt
	for i := range t.Attempt.Operations {
		o := &t.Attempt.Operations[i]
		if o.Kind.Takes() && o.FirstSentAt != nil && o.LeaseUntil != nil && o.LeaseUntil.After(last) {
			last = *o.LeaseUntil
		}
	}
	return t.Attempt.ReadAt.Sub(last) - r.Schedule.Lease
}

// orAsk looks up the status of the payment after a call that leaves it open.
func (r *Runner) orAsk(ctx context.Context, p gateway.Provider, t Task, permit gateway.Permit, cause payment.Cause, res gateway.CallResult) gateway.CallResult {
	if res.Outcome == gateway.CallAccepted || res.Outcome == gateway.CallRefused && len(res.Reports) > 0 || res.Outcome == gateway.CallThrottled {
		return res
	}
	asked := r.ask(ctx, p, t, permit, cause)
	res.Reports = append(res.Reports, asked.Reports...)
	if t.Operation.Kind == payment.OperationCharge || res.Outcome != gateway.CallUnsupported && res.Outcome != gateway.CallRefused {
		res.Inference = asked.Inference
		if asked.Outcome == gateway.CallThrottled {
			res.Outcome = gateway.CallThrottled
		}
	}
	return res
}

// ask looks up the statuses of an attempt's payments: by the provider's ids, or by ours where the provider can search by
// them.
func (r *Runner) ask(ctx context.Context, p gateway.Provider, t Task, permit gateway.Permit, cause payment.Cause) gateway.CallResult {
	call, end := r.call(ctx, permit)
	defer end()
	a, can := t.Attempt, p.Capabilities()
	if a.ProviderPaymentID == "" && (!can.Finds() || a.ReadAt.Sub(a.CreatedAt) < can.FindLag) {
		return r.orNeverPaid(t, can, cause, gateway.CallResult{Outcome: gateway.CallAsked})
	}
	outs, reports, err := r.standings(call, p, &a, cause)
	switch {
	case err == nil:
		res := gateway.CallResult{Outcome: gateway.CallAsked, Reports: reports}
		if t.Operation.Kind == payment.OperationCapture && notCaptured(t, outs[0], can) && t.Operation.Age(a.ReadAt) > payment.ResendWindow+payment.GiveUpLeases*r.Schedule.Lease {
			res.Inference = &gateway.Inference{Concludes: gateway.NotCaptured, Cause: cause}
		}
		return res
	case errors.Is(err, gateway.ErrThrottled):
		return gateway.CallResult{Outcome: gateway.CallThrottled, Reports: reports}
	case errors.Is(err, gateway.ErrNoSuchPayment) && (can.Lookup == payment.LookupConsistent || a.Origin == payment.OriginExternal) && a.Unreported() && r.neverArrived(t, can):
		return gateway.CallResult{Outcome: gateway.CallAsked, Inference: &gateway.Inference{Concludes: gateway.NeverArrived, Cause: cause}}
	case errors.Is(err, gateway.ErrNoSuchPayment):
		return r.orNeverPaid(t, can, cause, gateway.CallResult{Outcome: gateway.CallAsked, Reports: reports})
	}
	return gateway.CallResult{Outcome: gateway.CallAsked, Reports: reports}
}

// orNeverPaid is a result that tells nothing of the attempt, with the inference that nobody can pay what the attempt's charge may have
// made.
func (r *Runner) orNeverPaid(t Task, can payment.Capabilities, cause payment.Cause, res gateway.CallResult) gateway.CallResult {
	charge := t.Attempt.Operation(payment.OperationCharge, 0)
	if r.Open == nil {
		can.KeyLife = 0
	}
	if charge != nil && t.Attempt.Unreported() && r.Schedule.Unpayable(charge, can, t.Attempt.ReadAt) {
		res.Inference = &gateway.Inference{Concludes: gateway.NeverPaid, Cause: cause}
	}
	return res
}

// standings returns the outcomes of the lookups of an attempt's payments, by their ids or by ours, with their reports.
// It returns at least one outcome or an error. An error comes with the outcomes before it. A payment that is found by a
// mark that a browser could have written is a claim.
func (r *Runner) standings(ctx context.Context, p gateway.Provider, a *payment.Attempt, cause payment.Cause) (outs []gateway.Outcome, reports []payment.Report, err error) {
	if a.ProviderPaymentID == "" {
		out, err := p.Find(ctx, a.ID)
		if err != nil {
			return nil, nil, err
		}
		reports = gateway.Reports(out, cause)
		for i := range reports {
			reports[i].BrowserMark = p.Capabilities().Identity.BrowserMarks()
		}
		return []gateway.Outcome{out}, reports, nil
	}
	outs, err = standing(ctx, p, a)
	for _, out := range outs {
		reports = append(reports, gateway.Reports(out, cause)...)
	}
	return outs, reports, err
}

// notCaptured reports whether a lookup shows that a capture took nothing.
func notCaptured(t Task, out gateway.Outcome, can payment.Capabilities) bool {
	if t.Attempt.Succeeded() { // it is not the first one
		return out.Event == fsm.EventSucceeded && out.Money != nil && out.Money.Minor <= t.Operation.Before && can.CapturesSeen
	}
	return out.Event == fsm.EventSoftFailed || out.Event == fsm.EventAuthorized && can.CapturesSeen
}

// neverArrived reports whether the attempt's charge was sent so long ago that a consistent
// "not found" is final.
func (r *Runner) neverArrived(t Task, can payment.Capabilities) bool {
	charge := t.Attempt.Operation(payment.OperationCharge, 0)
	if charge == nil { // an external attempt: its caller or its expiry ends it
		return t.Attempt.Expired(t.Attempt.ReadAt) || t.Attempt.OpenCancel() != nil
	}
	if r.Open == nil {
		can.KeyLife = 0
	}
	var cancelled time.Time
	if cancel := t.Attempt.OpenCancel(); cancel != nil {
		cancelled = cancel.CreatedAt
	}
	return r.Schedule.NeverArrived(charge, can, cancelled, t.Attempt.ReadAt)
}

// refund sends a refund.
func (r *Runner) refund(ctx context.Context, p gateway.Provider, t Task, permit gateway.Permit) gateway.CallResult {
	a := t.Attempt
	receipt, err := r.receipt(ctx, a, t.Refund.Money.Minor)
	if err != nil {
		return gateway.CallResult{Outcome: gateway.CallNotSent}
	}
	data, err := r.data(t)
	if err != nil {
		return gateway.CallResult{Outcome: gateway.CallNotSent}
	}
	call, end := r.call(ctx, permit)
	defer end()
	of := toRefund(&a, t.Refund)
	out, err := p.Refund(call, gateway.RefundCall{
		Refund: t.Refund.ID, Attempt: a.ID, ProviderPaymentID: of.Payment, Container: of.Container, Capture: of.capture, Money: t.Refund.Money, Reason: t.Refund.Reason,
		Left: payment.Money{Minor: of.held, Currency: a.Money.Currency}, IdempotencyKey: t.Operation.Key(), Permit: permit,
		Receipt: receipt, ProviderData: data,
	})
	switch {
	case err != nil:
		return gateway.Failed(err)
	case out.RefusesCall():
		return gateway.CallResult{Outcome: gateway.CallRefused, Failure: out.Failure}
	}
	return gateway.CallResult{Outcome: gateway.CallAccepted, Reports: []payment.Report{refundReport(t.Refund.ID, out, payment.Cause{Kind: payment.CauseCall, ID: t.Operation.Key()})}}
}

func refundReport(id payment.RefundID, out gateway.RefundOutcome, cause payment.Cause) payment.Report {
	return payment.Report{Event: fsm.EventMoney, Cause: cause, Refund: &payment.RefundReport{
		ProviderID: out.ProviderRefundID, Reference: id.String(), Event: out.Event, Money: out.Money, Failure: out.Failure, Unnamed: out.Unnamed,
	}}
}

// askRefund looks up the outcome of a refund.
func (r *Runner) askRefund(ctx context.Context, p gateway.Provider, t Task, permit gateway.Permit, cause payment.Cause) gateway.CallResult {
	call, end := r.call(ctx, permit)
	defer end()
	a, can := t.Attempt, p.Capabilities()
	age := t.Operation.Age(a.ReadAt)
	of := toRefund(&a, t.Refund)
	out, err := p.LookupRefund(call, gateway.RefundRef{
		Refund: t.Refund.ID, ProviderRefundID: t.Refund.ProviderRefundID, ProviderPaymentID: of.Payment, Container: of.Container, Age: age,
		Money: t.Refund.Money, Taken: payment.Money{Minor: of.taken, Currency: a.Money.Currency},
	})
	switch {
	case err == nil:
		return gateway.CallResult{Outcome: gateway.CallAsked, Reports: []payment.Report{refundReport(t.Refund.ID, out, cause)}}
	case errors.Is(err, gateway.ErrThrottled):
		return gateway.CallResult{Outcome: gateway.CallThrottled}
	case errors.Is(err, gateway.ErrNoSuchPayment) && can.RefundsConsistent && t.Refund.ProviderRefundID == "" &&
		age > can.Resendable()+payment.GiveUpLeases*r.Schedule.Lease:
		return gateway.CallResult{Outcome: gateway.CallAsked, Inference: &gateway.Inference{Concludes: gateway.NeverArrived, Cause: cause}}
	}
	return gateway.CallResult{Outcome: gateway.CallAsked}
}
