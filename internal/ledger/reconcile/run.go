package reconcile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/ledger/imports"
	"github.com/paylatch/paylatch/internal/payment"
)

const (
	// margin is how much the books are read beyond each end of the span: their clock differs from the clock of the
	// records.
	margin = time.Hour
	// batchSize is how many entries are compared at once.
	batchSize = 200
)

var (
	// ErrNoBooks is returned for an account with books that can't be read, without a file.
	ErrNoBooks = errors.New("paylatch can't read the provider's books by its API")
	// ErrIncomplete is returned for a period that is too recent for the books.
	ErrIncomplete = errors.New("the provider's books of the period are not complete yet: run the command again later")
	// ErrNoStatement is returned for a file of an account of a kind that has no form of files.
	ErrNoStatement = errors.New("paylatch can't read files of this kind of account")
	// ErrUnapplied is returned when entries could not be applied, with the first error of one. All others are.
	ErrUnapplied = errors.New("entries could not be applied")
	errOutside   = errors.New("the file has no entry in the period: it is from another time or another account")
	// ErrUnanswered is returned when payments could not be looked up. The results until then are applied.
	ErrUnanswered = errors.New("some payments could not be looked up: run the command again later")
)

// Options configure a Reconciler.
type Options struct {
	Store    Store
	Payments Payments
	changeset.Rules

	// HoldOf returns the hold of an account; nil if the account is not held. If HoldOf is nil, no account is ever held.
	HoldOf func(ctx context.Context, account string) (*Hold, error)
	// Recall makes a lost payment again. It returns an imports.RefusalError if that is not possible. If Recall is nil,
	// no payment is made.
	Recall func(ctx context.Context, p imports.Past) error

	Now func() time.Time
	// Pause waits between two tries of a lookup; by default it sleeps.
	Pause func(ctx context.Context, d time.Duration) error
}

// Reconciler compares books with records. It is safe for concurrent use.
type Reconciler struct{ Options }

// New returns a reconciler.
func New(o Options) *Reconciler {
	if o.Pause == nil {
		o.Pause = sleep
	}
	return &Reconciler{o}
}

// Request is the input of a run.
type Request struct {
	Account string
	Span    gateway.Span
	// File is read instead of the books; nil for the books.
	File io.Reader
	By   string
	// Lag is how old a movement is when an entry of it is missed.
	Lag time.Duration
	// Progress is called after each batch, Found for each discrepancy, even if it is open already. Neither may be nil.
	Progress func(Count)
	Found    func(payment.Discrepancy)
}

// Check returns ErrNoBooks or ErrNoStatement where there is nothing to read.
func (r *Reconciler) Check(q Request) error {
	_, err := r.source(q)
	return err
}

// Run compares a span, and returns the counts. It returns the errors of Check and Readable, of the books, of the file and of the
// store, and ErrUnanswered. A run that returns gateway.ErrUnreadable or gateway.ErrTotals has compared all other
// entries.
func (r *Reconciler) Run(ctx context.Context, q Request) (Count, error) {
	if err := r.Check(q); err != nil {
		return Count{}, err
	}
	var err error
	if q.Span, err = r.Readable(q); err != nil {
		return Count{}, err
	}
	run, err := r.Store.RunBegin(ctx, q.Account, q.By, func(Last) *Run { return r.run(q) })
	if err != nil {
		return Count{}, fmt.Errorf("begin a run: %w", err)
	}
	return r.carry(ctx, q, *run)
}

// Readable returns the span of a request, which ends where the books may still lack entries. It returns ErrIncomplete if nothing is left.
func (r *Reconciler) Readable(q Request) (gateway.Span, error) {
	complete := r.complete(q.Account)
	switch {
	case q.File != nil || !q.Span.To.After(complete):
		return q.Span, nil
	case !q.Span.From.Before(complete):
		return q.Span, fmt.Errorf("account %s: %w (they are complete until %s)", q.Account, ErrIncomplete, complete.UTC().Format(time.RFC3339))
	}
	return gateway.Span{From: q.Span.From, To: complete}, nil
}

// complete is the time until which the books of an account have all entries.
func (r *Reconciler) complete(account string) time.Time {
	return r.Now().Add(-r.Accounts.Get(account).BooksLag)
}

func (r *Reconciler) run(q Request) *Run {
	now := r.Now()
	run := &Run{
		ID: r.Cell.NewID(), Account: q.Account, From: q.Span.From, To: q.Span.To, By: q.By, Source: FromBooks, StartedAt: now, TouchedAt: now,
	}
	if q.File != nil {
		run.Source = FromFile
	}
	return run
}

// carry executes a run that has begun, and writes its end.
func (r *Reconciler) carry(ctx context.Context, q Request, run Run) (Count, error) {
	j := &job{
		Reconciler: r, Request: q, run: run, asked: map[payment.AttemptID]bool{},
		left: map[payment.AttemptID]map[string]gateway.Entry{}, unknown: map[string]*unknown{}, partial: map[string]bool{},
	}
	var err error
	if r.HoldOf != nil {
		j.hold, err = r.HoldOf(ctx, q.Account)
	}
	if err == nil {
		err = j.all(ctx)
	}
	if err == nil && j.failures > 0 {
		err = fmt.Errorf("%d %w, the first: %w", j.failures, ErrUnapplied, j.failed)
	}
	if err == nil && q.File != nil && j.run.Count.Entries == j.run.Count.Outside {
		j.unread = errOutside
	}
	if err == nil && j.run.Count.Unanswered > 0 {
		err = fmt.Errorf("%d %w", j.run.Count.Unanswered, ErrUnanswered)
	}
	now := r.Now()
	j.run.TouchedAt = now
	if err == nil {
		err, j.run.FinishedAt = errors.Join(j.unread, j.later), &now
	}
	if err != nil {
		j.run.Failure = payment.StorableText(err.Error())
	}
	return j.run.Count, errors.Join(err, r.Store.RunMove(context.WithoutCancel(ctx), j.run))
}

// source returns the function that passes the entries of a span.
func (r *Reconciler) source(q Request) (func(ctx context.Context, take func(gateway.Entry) error) error, error) {
	account := r.Accounts.Get(q.Account)
	switch {
	case q.File != nil && account.Statement == nil:
		return nil, fmt.Errorf("account %s: %w", q.Account, ErrNoStatement)
	case q.File != nil:
		return func(_ context.Context, take func(gateway.Entry) error) error { return account.Statement(q.File, take) }, nil
	case account.Books == nil && account.Statement != nil:
		return nil, fmt.Errorf("account %s: %w: download its statement and pass it with --file", q.Account, ErrNoBooks)
	case account.Books == nil:
		return nil, fmt.Errorf("account %s: %w, and it can't read files of this kind of account either: compare with the provider's dashboard", q.Account, ErrNoBooks)
	}
	return func(ctx context.Context, take func(gateway.Entry) error) error {
		return account.Books.Entries(ctx, r.wide(q), take)
	}, nil
}

// wide is the span that the account's books are read for.
func (r *Reconciler) wide(q Request) gateway.Span {
	wide := gateway.Span{From: q.Span.From.Add(-margin), To: q.Span.To.Add(margin)}
	if complete := r.complete(q.Account); wide.To.After(complete) {
		wide.To = complete // later entries may be incomplete; a later run reads them
	}
	return wide
}

// job is a run under way.
type job struct {
	*Reconciler
	Request

	run   Run
	batch []gateway.Entry
	// The attempts that were looked up.
	asked map[payment.AttemptID]bool
	// left are the entries, by id, that are still not recorded so after a lookup.
	left map[payment.AttemptID]map[string]gateway.Entry
	// unknown are the payments that are unknown here and to be reviewed, by the id of the payment.
	unknown map[string]*unknown
	// failed is the first error of an entry that could not be applied, failures how many there were.
	failed   error
	failures int
	// unread is set where entries could not be read; all others were. later is set where a forgotten payment could not be made
	// again yet.
	unread, later error
	// paid are the payouts of a file, partial those with an entry outside of the span.
	paid    []payment.PayoutReport
	partial map[string]bool
	// answered counts the lookups of payments without an entry.
	answered int
	// hold is set if the account is held.
	hold *Hold
}

func (j *job) all(ctx context.Context) error {
	read, err := j.source(j.Request)
	if err != nil {
		return err
	}
	err = read(ctx, func(e gateway.Entry) error { return j.take(ctx, e) })
	if err != nil && !passedOn(err) {
		return fmt.Errorf("read the entries: %w", err)
	}
	j.unread = err
	for _, step := range []func(context.Context) error{j.compare, j.recall, j.applyLeft, j.reviewUnknown, j.missing, j.payouts} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	j.Progress(j.run.Count)
	return nil
}

// passedOn reports whether all readable entries were read: reading again would give the same result.
func passedOn(err error) bool {
	return errors.Is(err, gateway.ErrUnreadable) || errors.Is(err, gateway.ErrTotals)
}

// take gathers an entry. An entry of a file may be outside of the span.
func (j *job) take(ctx context.Context, e gateway.Entry) error {
	if e.Paid != nil {
		j.paid = append(j.paid, *e.Paid)
		return nil
	}
	e = keepable(e)
	wide := gateway.Span{From: j.Span.From.Add(-margin), To: j.Span.To.Add(margin)}
	at := e.Movement.At
	outside := j.File != nil && !at.IsZero() && !wide.Has(at)
	if e.Own == "" && !e.Implied {
		j.run.Count.Entries++
		if outside {
			j.run.Count.Outside++
		}
	}
	if outside {
		j.partial[e.Payout] = true
		return nil
	}
	if j.batch = append(j.batch, e); len(j.batch) < batchSize {
		return nil
	}
	return j.compare(ctx)
}

// keepable returns an entry with names that the storage takes.
func keepable(e gateway.Entry) gateway.Entry {
	e.ID, e.Payment, e.Payout = payment.StorableName(e.ID), payment.StorableName(e.Payment), payment.StorableName(e.Payout)
	e.Undoes = payment.StorableName(e.Undoes)
	e.Movement.ID, e.Movement.Dispute = payment.StorableName(e.Movement.ID), payment.StorableName(e.Movement.Dispute)
	e.Order = payment.OrderID(payment.StorableName(string(e.Order)))
	names := make([]string, len(e.References))
	for i, name := range e.References {
		names[i] = payment.StorableName(name)
	}
	e.References = names
	return e
}

// moved writes how far the run is.
func (j *job) moved(ctx context.Context) error {
	j.Progress(j.run.Count)
	j.run.TouchedAt = j.Now()
	if err := j.Store.RunMove(ctx, j.run); err != nil {
		return fmt.Errorf("write the progress: %w", err)
	}
	return nil
}

// open opens discrepancies, each once for its cause.
func (j *job) open(ctx context.Context, all ...payment.Discrepancy) error {
	if len(all) == 0 {
		return nil
	}
	err := changeset.Run(ctx, j.Store.InReconcileTx, j.Rules, func(ctx context.Context, s *changeset.Changeset, _ changeset.Tx) error {
		for _, d := range all {
			s.Open(d)
		}
		return s.Save(ctx)
	})
	if err != nil {
		return fmt.Errorf("open %d discrepancies: %w", len(all), err)
	}
	for _, d := range all {
		j.Found(d)
	}
	return nil
}
