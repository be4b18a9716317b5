package intake

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// readAgain reads the stored bytes of an unreadable event by this version, without their signature, which was valid on
// arrival. It returns false if the event has no bytes or its account no reader.
func (in *Inbox) readAgain(e payment.StoredEvent) (payment.StoredEvent, bool) {
	reader := in.Readers.Get(e.Account)
	if e.Event.Kind != webhooks.KindUnreadable || reader == nil || len(e.Body) == 0 {
		return e, false
	}
	d := webhooks.Delivery{Method: http.MethodPost, Topic: e.Event.Type, Header: http.Header{}, Body: e.Body, ReceivedAt: e.At}
	for name, value := range e.Headers {
		d.Header.Set(name, value)
	}
	was := e.Event
	events := reader.Read(d)
	at := slices.IndexFunc(events, func(n webhooks.Event) bool { return n.ID == was.ID })
	if at < 0 && was.IDSource == webhooks.Derived && was.Place < len(events) {
		at = was.Place
	}
	if at < 0 || events[at].Kind == webhooks.KindUnreadable {
		return e, false
	}
	now := events[at]
	now.ID, now.IDSource, now.SecretIndex, now.DeliveryID = was.ID, was.IDSource, was.SecretIndex, was.DeliveryID
	now.Mode = cmp.Or(now.Mode, was.Mode)
	if now.Kind == webhooks.KindQuestion {
		now.Kind, now.Money = webhooks.KindIgnored, nil // it was refused when it came
	}
	r := payment.StorableEvent(payment.ReceivedEvent{Account: e.Account, Event: now, Headers: e.Headers, Body: e.Body, At: e.At})
	e.ReceivedEvent, e.Digest = r, digest(r.Event)
	return e, true
}

// ReadAgain replays unreadable events that this version of the program has not tried yet, at most limit
// of them, the oldest first, and returns how many there were.
func (in *Inbox) ReadAgain(ctx context.Context, version string, limit int) (int, error) {
	ids, err := in.Store.EventsUnreadable(ctx, version, limit)
	if err != nil {
		return 0, err
	}
	for _, id := range ids {
		_, err := in.Replay(ctx, Replay{ID: id})
		switch {
		case errors.Is(err, payment.ErrBusy), errors.Is(err, payment.ErrSealed):
			continue // a later turn finds it again
		case errors.Is(err, payment.ErrUnavailable), ctx.Err() != nil:
			return 0, err
		}
		if err := errors.Join(err, in.Store.EventReadBy(ctx, id, version)); err != nil {
			return 0, err
		}
	}
	return len(ids), nil
}

// unreadable is the discrepancy of a genuine event that can't be read: one an account, type and hour,
// because a provider that has changed its form sends many.
func unreadable(e *payment.StoredEvent) payment.Discrepancy {
	name := e.Event.Type
	if name == "" {
		name = "of no known type"
	}
	return payment.Discrepancy{
		Kind: payment.UnreadableEvent, Event: payment.EventKey{Account: e.Account},
		AboutID: e.At.UTC().Truncate(time.Hour).Format("2006-01-02T15") + " " + payment.StorableName(e.Event.Type),
		Text: "Genuine events (" + name + ") can't be read by this version and are kept unchanged: " + payment.StorableText(e.Event.Unreadable) + ". " +
			"Find their payments in the provider's dashboard, and correct them there or here by hand. A version that can read " +
			"the events applies them automatically. After a change of the account's settings, replay them.",
	}
}
