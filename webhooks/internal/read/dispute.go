package read

import "github.com/paylatch/paylatch/webhooks"

// WithDispute adds a dispute to an event, unless the dispute has no id or an unfamiliar status. A dispute without an amount
// gets the event's amount. If the dispute is over and the event moves no money, the event becomes a KindDisputeClosed.
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
