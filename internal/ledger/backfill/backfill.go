// Package backfill reads a provider's list of events. It is for the time after an outage, or after a time with a wrong
// secret.
//
//	gateway.EventLog ─► webhooks.Reader ─► batches ─► intake
//
// A listed event is read as the body of its delivery and has the provider's id, so the intake acts once on each, whether a webhook
// brought it before, brings it later, or the backfill is run again after it was cut off. It is stored with the mark
// [payment.TakenListed]. What has to be looked up at the provider, or waits for its payment, is left to the running service.
package backfill

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

const (
	// batchEvents and batchBytes share a call of the intake.
	batchEvents = 100
	batchBytes  = 2 << 20
	// takeTries is how often a batch is offered to an intake that is overloaded or has lost its storage, takePause apart.
	takeTries = 5
	takePause = time.Second
)

// Why an account has no backfill.
var (
	// ErrNoList is returned for an account whose provider has no list of events, or is not called.
	ErrNoList = errors.New("the provider has no readable list of events, or paylatch can't call the account: compare with the provider's books instead (paylatch reconcile)")
	// ErrNoReader is returned for an account whose webhooks are not configured.
	ErrNoReader = errors.New("the account's webhooks are not configured, so its events can't be read: add the missing keys")
	// ErrNoID is returned for a listed event without the id by which a webhook would bring it.
	ErrNoID = errors.New("a listed event has no id")
)

// Options are what to take in. All are required.
type Options struct {
	Account string
	Span    gateway.Span
	Events  gateway.EventLog
	Reader  webhooks.Reader
	// Take takes events in; it is intake.Inbox.Intake.
	Take func(ctx context.Context, received []payment.ReceivedEvent) ([]fsm.Verdict, error)
	// Progress is called after each batch.
	Progress func(Count)
	Now      func() time.Time
}

// Count is what has become of the events so far.
type Count struct {
	Events   int
	Verdicts map[fsm.Verdict]int
}

type backfill struct {
	Options

	count Count
	batch []payment.ReceivedEvent
	bytes int
	// refused is why the batch was not taken in.
	refused error
}

// Run takes in the events that are listed in a span. It returns the errors of the list and of the intake; all that was read until
// then is taken in, and the same run again goes on. It also returns ErrNoList, ErrNoReader and ErrNoID.
func Run(ctx context.Context, o Options) (Count, error) {
	b := &backfill{Options: o, count: Count{Verdicts: map[fsm.Verdict]int{}}}
	switch {
	case o.Events == nil:
		return b.count, ErrNoList
	case o.Reader == nil:
		return b.count, ErrNoReader
	}
	err := o.Events.Events(ctx, o.Span, func(e gateway.ListedEvent) error { return b.add(ctx, e) })
	if b.refused == nil { // else the same events would be refused again
		err = errors.Join(err, b.take(ctx))
	}
	return b.count, err
}

// add reads a listed event.
func (b *backfill) add(ctx context.Context, listed gateway.ListedEvent) error {
	if !b.Span.Has(listed.At) {
		return nil
	}
	now := b.Now()
	d := webhooks.Delivery{Method: http.MethodPost, Header: http.Header{}, Body: listed.Body, ReceivedAt: now}
	headers := map[string]string{payment.TakenHeader: payment.TakenListed}
	for _, e := range b.Reader.Read(d) {
		if e.ID == "" {
			return fmt.Errorf("%w: %q of %s", ErrNoID, e.Type, listed.At.UTC().Format(time.RFC3339))
		}
		if e.Kind == webhooks.KindQuestion { // nothing waits for its answer
			e.Kind, e.Money = webhooks.KindIgnored, nil
		}
		e.Listed = true
		b.batch = append(b.batch, payment.ReceivedEvent{Account: b.Account, Event: e, Headers: headers, Body: d.Body, At: now})
	}
	if b.bytes += len(d.Body); len(b.batch) >= batchEvents || b.bytes >= batchBytes {
		return b.take(ctx)
	}
	return nil
}

// take has the batch taken in.
func (b *backfill) take(ctx context.Context) error {
	if len(b.batch) == 0 {
		return nil
	}
	verdicts, err := b.Take(ctx, b.batch)
	for try := 1; err != nil && transient(err) && try < takeTries && wait(ctx); try++ {
		verdicts, err = b.Take(ctx, b.batch)
	}
	if b.refused = err; err != nil {
		return fmt.Errorf("store %d events: %w; run the command again: it skips the stored events", len(b.batch), err)
	}
	b.count.Events += len(verdicts)
	for _, v := range verdicts {
		b.count.Verdicts[v]++
	}
	b.batch, b.bytes = nil, 0
	b.Progress(b.count)
	return nil
}
