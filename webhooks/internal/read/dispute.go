package read

import "github.com/paylatch/paylatch/webhooks"

// WithDispute adds to an event what it contains of a dispute, unless that has no id, or a status of an unfamiliar name.
// Without an amount of its own it is of the event's. Where the dispute is over and the event moves no money, that is
// its kind.
func WithDispute(e webhooks.Event, d webhooks.Dispute) webhooks.Event {
	if e.Kind == webhooks.KindDisputed && d.Status.Closed() {
		e.Kind = webhooks.KindDisputeClosed
	}
	if d.ID == "" || d.Status == "" {
		return e
	}
	if d.Money == nil {
		d.Money = e.Money
	}
	e.Dispute = &d
	return e
}
