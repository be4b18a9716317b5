package runner

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// cancel cancels the payments of an attempt, or the payment that the operation names. If the provider has not named the
// payment, it is looked for first. If the charge was ours to send, it is then cancelled by our reference where the
// provider allows that. A failed attempt, and an external attempt, is looked up first: its hold may be gone,
// or another payment may exist.
func (r *Runner) cancel(ctx context.Context, p gateway.Provider, t Task, permit gateway.Permit, cause payment.Cause) gateway.CallResult {
	var before []payment.Report
	can, op := p.Capabilities(), &t.Operation
	elsewhere := t.Attempt.Origin == payment.OriginExternal
	if named := t.Attempt.ProviderPaymentID != ""; !named || (t.Attempt.Failed() || elsewhere) && !can.Blind() {
		asked := r.look(ctx, p, t, permit, cause)
		before = asked.Reports
		for _, report := range before {
			payment.Advance(&t.Attempt, report, t.Attempt.ReadAt)
		}
		nameless := t.Attempt.ProviderPaymentID == "" && (can.Cancels < payment.CancelsByReference || elsewhere)
		left := len(toCancel(&t.Attempt, op))
		soft := slices.ContainsFunc(before, func(r payment.Report) bool { return r.Event == fsm.EventSoftFailed }) // it may hold money unseen
		switch {
		case nameless, t.Attempt.Succeeded() && op.Payment == "", t.Attempt.Failed() && (left == 0 && !soft || len(before) == 0):
			return asked
		case elsewhere && left == 0 && asked.Outcome == gateway.CallAsked && len(before) > 0:
			asked.Inference = &gateway.Inference{Concludes: gateway.AllEnded, Cause: cause}
			return asked
		}
	}
	if can.Cancels == payment.CancelsNone {
		return r.orAsk(ctx, p, t, permit, cause, gateway.CallResult{Outcome: gateway.CallRefused, Reports: before})
	}
	if t.Decision != payment.Send {
		return r.ask(ctx, p, t, permit, cause)
	}
	res := r.sendCancels(ctx, p, t, permit)
	res.Reports = append(before, res.Reports...)
	return r.orAsk(ctx, p, t, permit, cause, res)
}

// look is ask. For an external attempt it also looks for further payments by our reference.
func (r *Runner) look(ctx context.Context, p gateway.Provider, t Task, permit gateway.Permit, cause payment.Cause) gateway.CallResult {
	res := r.ask(ctx, p, t, permit, cause)
	if t.Attempt.Origin != payment.OriginExternal || t.Attempt.ProviderPaymentID == "" || !p.Capabilities().Finds() || res.Outcome != gateway.CallAsked {
		return res
	}
	call, end := r.call(ctx, permit)
	defer end()
	unnamed := t.Attempt
	unnamed.ProviderPaymentID = ""
	if _, more, err := r.standings(call, p, &unnamed, cause); err == nil {
		res.Reports = append(res.Reports, more...)
	}
	return res
}

// sendCancels sends a cancel to each of its targets. The result is the first that is not accepted, with all reports.
func (r *Runner) sendCancels(ctx context.Context, p gateway.Provider, t Task, permit gateway.Permit) gateway.CallResult {
	targets := toCancel(&t.Attempt, &t.Operation)
	if len(targets) == 0 {
		of := acting(&t.Attempt)
		of.Key = t.Operation.Key()
		targets = []target{of}
	}
	var all gateway.CallResult
	for i, of := range targets {
		res := r.sendCancel(ctx, p, t, permit, of, r.quiet(t))
		res.Reports = append(all.Reports, res.Reports...)
		if i > 0 && all.Outcome != gateway.CallAccepted {
			res.Outcome, res.Failure = all.Outcome, all.Failure
		}
		all = res
	}
	return all
}

// sendCancel sends a cancel. Quiet is for how long nothing was sent that could take the payment's
// money.
func (r *Runner) sendCancel(ctx context.Context, p gateway.Provider, t Task, permit gateway.Permit, of target, quiet time.Duration) gateway.CallResult {
	call, end := r.call(ctx, permit)
	defer end()
	out, err := p.Cancel(call, gateway.Cancel{
		Attempt: t.Attempt.ID, ProviderPaymentID: of.Payment, Container: of.Container, IdempotencyKey: of.Key, Permit: permit, Quiet: quiet,
		Elsewhere: t.Attempt.Origin == payment.OriginExternal,
	})
	return result(t, named(&t.Attempt, out, cmp.Or(of.Payment, of.Container)), err)
}
