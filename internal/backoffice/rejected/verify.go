package rejected

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// A portion is the number of deliveries that are verified, and so in memory, at a time.
const (
	portion      = 32
	portionBytes = 4 << 20
)

// VerifyAgain verifies a portion of the deliveries that were not tried with the current configuration of their account, and
// takes the genuine ones in. The others stay for the rest of their day. Ages count as at the arrival. It reports whether there
// is more. A delivery that can't be decided on now is tried again after all others.
func (d *Deliveries) VerifyAgain(ctx context.Context) (more bool, err error) {
	accounts := d.Accounts.All() // deliveries are tried, and noted as tried, with one configuration
	fingerprints := make(map[string][]byte, len(accounts))
	for name, account := range accounts {
		fingerprints[name] = account.Fingerprint
	}
	list, err := d.Store.RejectedUntried(ctx, fingerprints, d.after, portion, portionBytes)
	if err != nil || len(list) == 0 {
		d.after = uuid.Nil
		return false, err
	}
	errs, states := make([]error, len(list)), make([]state, len(list))
	for i := range list { // one after the other: of two with one id of a delivery the first that came counts
		states[i], errs[i] = d.one(ctx, accounts[list[i].Account], list[i])
	}
	d.after = list[len(list)-1].ID
	if err := d.settle(ctx, fingerprints, list, states); err != nil {
		return false, err
	}
	return true, errors.Join(errs...)
}

// state is the result of verifying a delivery.
type state int

const (
	undecided state = iota
	refused
	taken
)

// one verifies a delivery and takes it in. It refuses a delivery that causes a panic.
func (d *Deliveries) one(ctx context.Context, account Account, s Sealed) (is state, err error) {
	defer func() {
		if thrown := recover(); thrown != nil {
			is, err = refused, &payment.PanicError{Value: thrown, Stack: debug.Stack()}
		}
	}()
	delivery, err := open(d.Box, s.Account, s.ID, s.Text)
	if err != nil {
		return refused, nil // it was sealed under a key that is gone
	}
	delivery.URL = payment.WebhookAddress(account.PublicURL, delivery.Topic, delivery.URL)
	events, err := genuine(ctx, account, delivery)
	switch {
	case errors.Is(err, webhooks.ErrUnavailable):
		return undecided, fmt.Errorf("verify delivery %s of account %s: %w", s.ID, s.Account, err)
	case err != nil:
		return refused, nil
	}
	list := payment.DeliveredEvents(s.Account, account.Verifier, delivery, events)
	for i := range list {
		list[i].Headers = maps.Clone(list[i].Headers)
		list[i].Headers[payment.TakenHeader] = payment.TakenLater
	}
	switch _, err := d.Take(ctx, list); {
	case errors.Is(err, payment.ErrDeliveryReplayed):
		return refused, nil
	case err != nil:
		return undecided, fmt.Errorf("take delivery %s of account %s in: %w", s.ID, s.Account, err)
	}
	d.Recovered(s.Account)
	return taken, nil
}

var errUnsigned = errors.New("unsigned")

// genuine returns the events of a delivery that the account's configuration proves. Unproven events are limited at their
// arrival, and are left out here.
func genuine(ctx context.Context, account Account, d webhooks.Delivery) ([]webhooks.Event, error) {
	if err := account.Senders.Check(d.RemoteAddr); err != nil {
		return nil, err
	}
	events, err := account.Verifier.Verify(ctx, d)
	if err != nil {
		return nil, err
	}
	for i := range events {
		if events[i].SecretIndex < 0 {
			return nil, errUnsigned
		}
		if events[i].Kind == webhooks.KindQuestion { // it was refused when it came
			events[i].Kind, events[i].Money = webhooks.KindIgnored, nil
		}
	}
	return events, nil
}

// settle records the results of deliveries. A delivery that was taken in and is not deleted is taken in again, as a duplicate.
func (d *Deliveries) settle(ctx context.Context, fingerprints map[string][]byte, list []Sealed, states []state) error {
	var tried []Sealed
	var done []uuid.UUID
	for i, s := range list {
		switch states[i] {
		case undecided:
		case refused:
			s.Fingerprint = fingerprints[s.Account]
			tried = append(tried, s)
		case taken:
			done = append(done, s.ID)
		}
	}
	if len(tried) > 0 {
		if err := d.Store.RejectedTried(ctx, tried); err != nil {
			return err
		}
	}
	if len(done) > 0 {
		return d.Store.RejectedErase(ctx, done)
	}
	return nil
}
