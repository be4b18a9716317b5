package gateway

import (
	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
)

// Sight is how a payment, or a refund, stands at its provider, looked up before its money is freed.
type Sight struct {
	// Silent is set where no lookup is possible, or where its result proves nothing.
	Silent bool
	// Unfound is set where the provider finds no payment by our reference. With Silent, the payment may still come.
	Unfound bool
	// Event is the furthest status that the provider reports. Without Silent, empty means that the provider has no such
	// payment, or refund.
	Event fsm.Event
	// ShowsRefunds is whether the response would contain refunds, and Cancels whether an open payment can be cancelled, by
	// the provider's capabilities.
	ShowsRefunds, Cancels bool
	// Foreign is set if the provider speaks of money in another currency than the attempt's.
	Foreign bool
	// Attempt is the attempt after the found reports were applied.
	Attempt payment.Attempt
}
