package commands

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/engine/runner"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// operation is a command on an attempt that begins an operation: a confirm or a cancel.
type operation struct {
	actor   authz.Actor
	req     idempotency.Request
	attempt payment.AttemptID
	kind    payment.OperationKind
	// carries is the data that the operation carries, sealed as long as it may be sent again; empty without data.
	carries string
	// final is set on the last capture of a hold.
	final bool
	// amount returns the amount of the operation for the attempt and its order, or the reason for a refusal.
	amount func(a payment.Attempt, o payment.Order) (int64, error)
	// met reports whether an attempt is already in the state that the command requests.
	met func(a payment.Attempt) bool
	// uses reports whether a refusal uses up the key.
	uses func(err error) bool
	// unmet is the caller's refusal after the call, given the attempt before the call. It is nil if the response is the
	// attempt after the call.
	unmet func(a payment.Attempt, r gateway.CallResult) error
}

func (op operation) response() *idempotency.Response {
	return &idempotency.Response{Status: http.StatusOK, Subject: op.attempt.String()}
}

// operate executes a command once for all its duplicates in this process.
func (c *Commands) operate(ctx context.Context, op operation) (Reply, error) {
	if err := op.actor.MayAct(); err != nil {
		return Reply{}, err
	}
	reply, shared, err := c.replies.Do(ctx, op.req, c.Wait, func() (Reply, error) {
		return c.execute(context.WithoutCancel(ctx), op)
	})
	if shared {
		reply.Result, reply.TookOver = idempotency.Reused, false
	}
	return reply, err
}

// begun is the result of commit 1 of a command: a task, or nothing for a replay.
type begun struct {
	task   runner.Task
	rec    idempotency.Record
	replay bool
}

// execute is the same two commits as a pay, with the attempt in the order's place.
func (c *Commands) execute(ctx context.Context, op operation) (Reply, error) {
	if err := c.Quota.Take(ctx, c.Store, op.req); err != nil {
		return Reply{}, err
	}
	var permit gateway.Permit
	var b begun
	err := idempotency.InTurn(ctx, c.Wait, func() (err error) {
		permit = c.Runner.Permit()
		b, err = c.begin(ctx, op)
		return err
	})
	if err != nil {
		return Reply{}, err
	}
	if b.replay {
		v, err := c.Runner.View(ctx, b.task.Attempt)
		return Reply{View: v, Result: idempotency.Reused}, err
	}
	res := c.Runner.Send(ctx, b.task, permit, payment.Cause{Kind: payment.CauseCheck, ID: string(op.kind)})
	return c.finish(ctx, op, b, res)
}

// finish is commit 2. A runner that was overtaken stores no refusal: the other runner has
// sent the same operation since.
func (c *Commands) finish(ctx context.Context, op operation, b begun, res gateway.CallResult) (Reply, error) {
	unmet := op.unmet(b.task.Attempt, res)
	result := idempotency.Created
	record := func(refused bool) (payment.Attempt, error) {
		return c.Runner.Record(ctx, b.task, res, &runner.First{
			Refused: refused,
			Do: func(ctx context.Context, tx runner.Tx) error {
				return op.conclude(ctx, tx, c.claim(op.req, idempotency.KeepMoney), b.rec.Fence, unmet)
			},
		})
	}
	a, err := record(unmet != nil)
	if errors.Is(err, runner.ErrOvertaken) {
		unmet = stands(unmet)
		a, err = record(false)
	}
	if errors.Is(err, idempotency.ErrFenced) {
		// Another runner owns the response by now; the provider's report is applied.
		result, unmet = idempotency.Reused, stands(unmet)
		a, err = c.Runner.Record(ctx, b.task, res, nil)
	}
	if err == nil && unmet != nil {
		if !op.uses(unmet) {
			err = c.Store.KeyRelease(ctx, op.req, b.rec.Fence)
		}
		return Reply{}, errors.Join(unmet, err)
	}
	if err != nil {
		return Reply{}, err
	}
	v, err := c.Runner.View(ctx, a)
	return Reply{View: v, Result: result, TookOver: b.rec.TakenOver && result == idempotency.Created}, err
}

// stands returns the caller's refusal that remains when another runner has overtaken this one. ErrAttemptFinal remains:
// it is the state of the payment, for any command.
func stands(unmet error) error {
	if errors.Is(unmet, payment.ErrAttemptFinal) {
		return unmet
	}
	return nil
}

// conclude stores the response, unless the refusal leaves the key unused.
func (op operation) conclude(ctx context.Context, tx idempotency.Tx, claim idempotency.Claim, fence int64, unmet error) error {
	switch {
	case unmet == nil:
		return claim.Respond(ctx, tx, fence, *op.response())
	case op.uses(unmet):
		return claim.Refuse(ctx, tx, fence, unmet)
	}
	return nil
}

// begin is commit 1 of a command.
func (c *Commands) begin(ctx context.Context, op operation) (b begun, err error) {
	done, err := c.underKey(ctx, op.req, idempotency.KeepMoney, func(ctx context.Context, tx Tx, rec idempotency.Record) (*idempotency.Response, error) {
		b = begun{rec: rec}
		a, o, err := tx.AttemptLock(ctx, op.attempt)
		switch {
		case errors.Is(err, payment.ErrAttemptNotFound):
			return nil, unseen(op.actor, err)
		case err != nil:
			return nil, err
		case a.UserID != op.actor.User():
			return nil, payment.ErrForbidden
		}
		// The reconciler may have finished the operation of a dead runner.
		if b.replay = rec.TakenOver && op.met(a); b.replay {
			b.task.Attempt = a
			return op.response(), nil
		}
		b.task, err = c.beginOperation(ctx, tx, op, a, o, rec)
		return nil, err
	})
	if err != nil || done.Replay == nil {
		return b, err
	}
	a, err := c.Store.Attempt(ctx, op.attempt)
	return begun{task: runner.Task{Attempt: a}, replay: true}, err
}

// beginOperation puts the operation on disk as sent. A command that is taken over from a
// dead runner finds its own operation there.
func (c *Commands) beginOperation(ctx context.Context, tx Tx, op operation, a payment.Attempt, o payment.Order, rec idempotency.Record) (runner.Task, error) {
	amount, err := op.amount(a, o)
	withheld := errors.Is(err, payment.ErrOrderPaid) || errors.Is(err, payment.ErrOrderCancelled)
	if a.LeasedOperation(tx.Now()) != nil && !withheld { // waiting would not lift that
		return runner.Task{}, payment.ErrBusy
	}
	if err := c.callable(a); err != nil {
		return runner.Task{}, err
	}
	switch {
	case err != nil && op.uses(err):
		return runner.Task{}, idempotency.Refused(err)
	case err != nil:
		return runner.Task{}, err
	}
	s := changeset.New(tx, c.Runner.Rules)
	change := s.Change(a)
	begun, err := op.open(&change.Attempt, amount, rec)
	if err != nil {
		return runner.Task{}, err
	}
	if begun == nil {
		made, err := c.made(op, &change.Attempt, amount, tx.Now())
		if err != nil {
			return runner.Task{}, err
		}
		begun = change.Add(made)
	}
	decision, request := payment.Send, op.carries
	if begun.Sends > 0 && begun.Kind != payment.OperationCancel { // an operation that was taken over may be too old
		if request, err = c.Runner.LoadRequest(ctx, tx, begun, op.carries); err != nil {
			return runner.Task{}, err
		}
		account, _ := c.Runner.Account(a) // callable has found it
		decision = change.Attempt.Permit(begun, o, account.Provider.Capabilities(), tx.Now())
	}
	end := tx.Now().Add(c.Runner.Schedule.Lease)
	begun.Take(decision, tx.Now(), end)
	begun.NextAt = &end
	if err := s.Save(ctx); err != nil {
		return runner.Task{}, err
	}
	return runner.TaskOf(change.Attempt, *begun, decision, request), nil
}

// made is the operation that a command begins, with the data that it carries.
func (c *Commands) made(op operation, a *payment.Attempt, amount int64, now time.Time) (o payment.Operation, err error) {
	o = a.NewOperation(op.kind, payment.OperationOriginRequest, now)
	o.Amount, o.OriginID, o.Final = amount, string(op.req.Key), op.final
	if op.kind == payment.OperationCapture {
		o.Before, o.HasData = a.Sums(payment.MovementCapture), op.carries != ""
	}
	if op.carries != "" {
		o.SealedRequest, err = c.Runner.Sealed(op.carries, a.ID[:])
	}
	return o, err
}

// open is the open operation of the same kind that the command goes on with; nil if it
// begins its own. The slot of a charge that is accepted is taken over.
func (op operation) open(a *payment.Attempt, amount int64, rec idempotency.Record) (*payment.Operation, error) {
	take, cancel := a.OpenTake(), a.OpenCancel()
	if op.kind == payment.OperationCancel {
		if take != nil && take.Kind == payment.OperationCapture {
			return nil, payment.ErrBusy
		}
		return cancel, nil
	}
	switch {
	case cancel != nil:
		return nil, payment.ErrBusy
	case take == nil:
		return nil, nil
	case op.kind == payment.OperationComplete && take.Kind == payment.OperationComplete:
		return op.openComplete(take, rec)
	case take.Kind != payment.OperationCapture:
		take.Finish("authorized")
		return nil, nil
	case !rec.TakenOver || take.Amount != amount || take.OriginID != string(op.req.Key): // another command's capture is no answer to this one
		return nil, payment.ErrBusy
	}
	return take, nil
}

// openComplete decides about an open complete beside a new one. A complete of the same key is continued. A complete that
// the provider has accepted needed one more step. An unsent complete belongs to an approval that a lookup showed.
func (op operation) openComplete(take *payment.Operation, rec idempotency.Record) (*payment.Operation, error) {
	switch {
	case rec.TakenOver && take.OriginID == string(op.req.Key):
		return take, nil
	case take.Sends == 0:
		take.Withdraw()
	case take.State == fsm.OperationAccepted:
		take.Finish("continued")
	default:
		return nil, payment.ErrBusy
	}
	return nil, nil
}

// Confirm is the command: capture an authorized attempt, all of it or Amount.
type Confirm struct {
	AttemptID payment.AttemptID
	Amount    *int64
	// Final is set, or not, by the caller for one of several captures of a hold: nothing more is captured after it, and the
	// rest is released.
	Final *bool
	// ProviderData are members of the provider's own request.
	ProviderData gateway.Data
}

// Confirm captures authorized money. It returns a ValidationError for an amount or data that must not be sent to the provider,
// and payment's ErrOrderCancelled, ErrNotCapturable, ErrCaptureExceeds, ErrForbidden and ErrAttemptNotFound. It returns
// ErrOrderPaid if another attempt of the order holds money, and ErrBusy while another command on the attempt is under
// way. It also returns the errors of idempotency.Take.
func (c *Commands) Confirm(ctx context.Context, actor authz.Actor, req idempotency.Request, cmd Confirm) (Reply, error) {
	return c.operate(ctx, operation{
		actor: actor, req: req, attempt: cmd.AttemptID, kind: payment.OperationCapture, carries: cmd.ProviderData.Text(),
		amount: func(a payment.Attempt, o payment.Order) (int64, error) {
			if account, ok := c.Runner.Account(a); ok {
				if err := account.Further.AcceptsCapture(cmd.ProviderData, a.Split); err != nil {
					return 0, err
				}
			}
			return cmd.capture(a, o)
		},
		met: func(a payment.Attempt) bool {
			if a.Capture == payment.CaptureSeveral {
				made := a.CaptureBy(string(req.Key))
				return made != nil && made.State == fsm.OperationDone
			}
			return a.Succeeded() && a.Captured == cmd.of(a)
		},
		final: cmd.Final != nil && *cmd.Final,
		uses: func(err error) bool {
			return errors.Is(err, payment.ErrCaptureExceeds) || errors.Is(err, payment.ErrOrderPaid) || errors.Is(err, payment.ErrOrderCancelled)
		},
		unmet: notCaptured,
	})
}

// of is how much the confirm captures: without an amount, all of it.
func (cmd Confirm) of(a payment.Attempt) int64 {
	if cmd.Amount != nil {
		return *cmd.Amount
	}
	return a.Capturable()
}

func (cmd Confirm) capture(a payment.Attempt, o payment.Order) (int64, error) {
	if err := o.Withheld(a.ID); err != nil {
		return 0, err
	}
	if a.State != fsm.Authorized && a.Rest() == 0 {
		return 0, payment.ErrNotCapturable
	}
	if cmd.Final != nil && !*cmd.Final && a.Capture != payment.CaptureSeveral {
		return 0, payment.Invalid("final", "must be true or absent: this hold is captured once, because the pay did not send `manual_multiple`")
	}
	amount := cmd.of(a)
	if amount > a.Capturable() {
		return 0, payment.ErrCaptureExceeds
	}
	return amount, nil
}

func notCaptured(a payment.Attempt, r gateway.CallResult) error {
	refused := r.Outcome == gateway.CallRefused || r.Outcome == gateway.CallUnsupported || r.Inference != nil
	switch {
	case !refused || r.Event() == fsm.EventFailed || r.Event() == fsm.EventSucceeded && !notCapturedAgain(a, r):
		return nil
	case r.Outcome == gateway.CallUnsupported:
		return payment.Invalid("amount", "can't be sent to the payment's provider; choose another amount")
	}
	return payment.ErrNotCapturable
}

// notCapturedAgain reports whether a further capture of a hold took no money, though earlier ones did.
func notCapturedAgain(a payment.Attempt, r gateway.CallResult) bool {
	take := a.OpenTake()
	if a.Capture != payment.CaptureSeveral || take == nil || take.Kind != payment.OperationCapture {
		return false
	}
	for _, report := range r.Reports {
		payment.Advance(&a, report, a.ReadAt)
	}
	return !a.Effected(take)
}

// Cancel cancels a pending attempt at the provider. The attempt fails once the provider has reported the cancellation.
// It is pending until then, also where the provider refuses. If a hold is captured in several parts, Cancel releases the
// rest of it, and the attempt stays as it is. It returns payment.ErrAttemptFinal, ErrForbidden for a
// customer where money is on hold, and the errors of Confirm.
func (c *Commands) Cancel(ctx context.Context, actor authz.Actor, req idempotency.Request, id payment.AttemptID) (Reply, error) {
	looked, err := c.lookForHold(ctx, actor, id)
	if err != nil {
		return Reply{}, err
	}
	return c.operate(ctx, operation{
		actor: actor, req: req, attempt: id, kind: payment.OperationCancel,
		amount: func(a payment.Attempt, _ payment.Order) (int64, error) {
			if a.State.Final() && a.Rest() == 0 {
				return 0, payment.ErrAttemptFinal
			}
			return 0, c.mayRelease(actor, looked, a)
		},
		met: func(a payment.Attempt) bool {
			return a.Failed() || a.Capture == payment.CaptureSeveral && a.Succeeded() && a.Rest() == 0
		},
		uses:  func(err error) bool { return errors.Is(err, payment.ErrAttemptFinal) },
		unmet: paidInstead,
	})
}

// paidInstead refuses a cancel that came too late. Money that does not fit the attempt
// leaves it pending.
func paidInstead(a payment.Attempt, r gateway.CallResult) error {
	if a.Succeeded() {
		return nil // the rest is released, or it stays on hold
	}
	for _, report := range r.Reports {
		payment.Advance(&a, report, a.ReadAt)
	}
	if r.Outcome == gateway.CallRefused && a.Succeeded() {
		return payment.ErrAttemptFinal
	}
	return nil
}
