package runner

import (
	"context"
	"errors"
	"time"

	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/tracing"
)

// Storing a provider's response is worth some tries. No try begins after recordPatience. A try behind a lock takes as
// long as a statement may.
const (
	recordTries    = 10
	recordPause    = 200 * time.Millisecond
	recordPatience = 5 * time.Second
)

// ErrOvertaken is returned by Record if the caller would get a refusal, but another runner has taken the operation
// since. Record has done nothing then.
var ErrOvertaken = errors.New("another runner took over")

// recording is one call of Record. A recording with left set must be recorded alone.
type recording struct {
	task   Task
	result gateway.CallResult
	// now is the attempt after the recording.
	now  payment.Attempt
	left bool
	// poison is set once the result made the program panic: it is left out.
	poison bool
	// refused is set if the caller is to be answered with a refusal.
	refused bool
	// span is the span of this call; empty where traces are off.
	span tracing.Context
}

// First opens a recording's transaction: a key is locked before its attempt. Refused is
// set if it stores a refusal.
type First struct {
	Do      func(ctx context.Context, tx Tx) error
	Refused bool
}

// Record applies the result of a task. Its reports are applied in any case. Its other parts count only while the task's
// fence holds. Without first, concurrent calls share a transaction.
func (r *Runner) Record(ctx context.Context, t Task, res gateway.CallResult, first *First) (payment.Attempt, error) {
	ctx, span := tracing.Begin(ctx, "commit", tracing.Internal, about(t))
	a, err := r.record(ctx, t, res, first)
	span.End(a.Stage(), err != nil)
	return a, err
}

func (r *Runner) record(ctx context.Context, t Task, res gateway.CallResult, first *First) (payment.Attempt, error) {
	rec := &recording{task: t, result: res, refused: first != nil && first.Refused, span: tracing.Current(ctx)}
	if first == nil && r.records.Do(context.WithoutCancel(ctx), rec) == nil && !rec.left {
		return rec.now, nil
	}
	err := r.recordAlone(ctx, rec, first)
	return rec.now, err
}

// recordAlone records one result. If a result makes the program panic, it is left out for a person to look at, and the
// lease is released nevertheless.
func (r *Runner) recordAlone(ctx context.Context, rec *recording, first *First) error {
	record := func(ctx context.Context, s *changeset.Changeset, tx Tx) error {
		if first != nil && first.Do != nil {
			if err := first.Do(ctx, tx); err != nil {
				return err
			}
		}
		c, err := s.Lock(ctx, rec.task.Attempt.OrderID, rec.task.Attempt.ID)
		if err != nil {
			return err
		}
		if o := operationOf(c, rec.task); rec.refused && o.Fence != rec.task.Operation.Fence {
			return ErrOvertaken
		}
		if rec.poison {
			s.Find(c, payment.Finding{
				Kind: payment.NeedsReview, About: payment.AboutEventNotApplied, AboutID: rec.task.Operation.Key(),
				Text: "paylatch could not apply the provider's response, because of a fault in paylatch; the log has the fault. Compare " +
					"the payment with the provider's dashboard, and report the fault.",
			})
		}
		return r.recordIn(ctx, s, map[payment.AttemptID]*changeset.Change{c.Attempt.ID: c}, rec)
	}
	err := r.patiently(ctx, record)
	if thrown := (*payment.PanicError)(nil); errors.As(err, &thrown) {
		rec.result, rec.poison = gateway.CallResult{Outcome: gateway.CallUnknown}, true
		return errors.Join(err, r.patiently(ctx, record))
	}
	return err
}

// recordAll records, in one transaction, those results of provider calls that need not wait for a lock.
func (r *Runner) recordAll(ctx context.Context, recs []*recording) (err error) {
	ctx, span := tracing.Batch(ctx, "commit results", recs, func(rec *recording) tracing.Context { return rec.span })
	defer func() { span.End("", err != nil) }()
	ids, names := make([]payment.AttemptID, len(recs)), []payment.Reference{}
	for i, rec := range recs {
		a := &rec.task.Attempt
		ids[i] = a.ID
		for _, report := range rec.result.Reports {
			names = append(names, referencesOf(a.Account, report)...)
		}
	}
	var s *changeset.Changeset
	err = r.Store.InTx(ctx, func(ctx context.Context, tx Tx) error {
		s = changeset.New(tx, r.Rules)
		changes, err := s.Take(ctx, ids, changeset.Sorted(names))
		if err != nil {
			return err
		}
		return r.recordIn(ctx, s, changes, recs...)
	})
	if err == nil {
		s.Committed()
	}
	return err
}

func (r *Runner) recordIn(ctx context.Context, s *changeset.Changeset, changes map[payment.AttemptID]*changeset.Change, recs ...*recording) error {
	for _, rec := range recs {
		c, ok := changes[rec.task.Attempt.ID]
		if rec.left = !ok; rec.left {
			continue
		}
		if err := load(ctx, s, c, rec.result.Reports, rec.task.Operation.RefundID != payment.RefundID{}); err != nil {
			return err
		}
		r.conclude(s, c, rec)
	}
	if err := s.Save(ctx); err != nil {
		return err
	}
	for _, rec := range recs {
		if !rec.left {
			rec.now = changes[rec.task.Attempt.ID].Attempt
		}
	}
	return nil
}

func referencesOf(account string, r payment.Report) (refs []payment.Reference) {
	for _, name := range r.Names() {
		refs = append(refs, payment.Reference{Account: account, Name: name})
	}
	return refs
}

// load reads the data that reports need. It reads the attempt's refunds if a report is about a refund, or if ofRefund is
// set, and the owners of the names beside a mark from a browser.
func load(ctx context.Context, s *changeset.Changeset, c *changeset.Change, reports []payment.Report, ofRefund bool) error {
	var named changeset.Named
	var names []payment.Reference
	for _, report := range reports {
		named = named.With(changeset.NamedBy(report, c.Attempt.Account))
		ofRefund = ofRefund || report.Refund != nil
		if report.BrowserMark {
			names = append(names, referencesOf(c.Attempt.Account, report)...)
		}
	}
	if len(names) > 0 {
		if _, err := s.Take(ctx, nil, changeset.Sorted(names)); err != nil {
			return err
		}
	}
	if ofRefund {
		if err := s.LoadRefunds(ctx, c.Attempt.ID); err != nil {
			return err
		}
	}
	return s.LoadNamed(ctx, named)
}

// patiently runs a changeset again while the storage is gone.
func (r *Runner) patiently(ctx context.Context, write func(ctx context.Context, s *changeset.Changeset, tx Tx) error) error {
	return r.Patiently(func() error { return changeset.Run(ctx, r.Store.InTx, r.Rules, write) })
}

// Patiently does something again while the storage is gone.
func (r *Runner) Patiently(do func() error) error {
	until := r.Now().Add(recordPatience)
	err := do()
	for try := 1; try < recordTries && errors.Is(err, payment.ErrUnavailable) && r.Now().Before(until); try++ {
		timer := time.NewTimer(recordPause)
		<-timer.C
		err = do()
	}
	return err
}

func operationOf(c *changeset.Change, t Task) *payment.Operation {
	return c.Attempt.Operation(t.Operation.Kind, t.Operation.Number)
}
