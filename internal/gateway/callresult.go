package gateway

import (
	"slices"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
)

// CallOutcome is the outcome of one call to a provider.
type CallOutcome string

// The outcomes of a call.
const (
	// CallUnknown calls may or may not have reached the provider.
	CallUnknown CallOutcome = "unknown"
	// CallAccepted calls are with the provider.
	CallAccepted CallOutcome = "accepted"
	// CallRefused calls got a definitive no. An earlier call may have been accepted.
	CallRefused CallOutcome = "refused"
	// CallUnsupported calls are never sent to this provider, however often they are tried.
	CallUnsupported CallOutcome = "unfit"
	// CallNotSent calls did not send a byte.
	CallNotSent CallOutcome = "not_sent"
	// CallThrottled calls were not made in order to spare the provider.
	CallThrottled CallOutcome = "held_back"
	// CallAsked is a lookup instead of the call, which was not made.
	CallAsked CallOutcome = "asked"
)

// CallResult is the result of one call. Its reports always count; the rest counts only while the operation's fence holds.
type CallResult struct {
	Outcome CallOutcome
	// ProviderRef is the provider's id of this very call, empty if not stated. A later refusal of the call names it.
	ProviderRef string
	Failure     *payment.Failure
	Reports     []payment.Report
	// Cancelled is the result of the cancel that followed a decline under the same lease; nil
	// without one.
	Cancelled *CallResult
	// Inference is the conclusion from the result; nil if there is none.
	Inference *Inference
}

// Conclusion is the content of an inference.
type Conclusion string

// The conclusions.
const (
	// NeverArrived concludes that the provider never got the operation. A consistent lookup does not find it, long after
	// its last possible send.
	NeverArrived Conclusion = "never_arrived"
	// NeverPaid concludes that nobody can pay what a charge with a lost response may have made. Nobody has seen its page,
	// or the page has expired. See Provider.Unseen.
	NeverPaid Conclusion = "never_paid"
	// NotCaptured concludes that a capture was never made. The payment is still authorized, long after the capture's
	// last possible send.
	NotCaptured Conclusion = "not_captured"
	// AllEnded concludes that an external attempt is over. A lookup shows that no payment of it may take
	// money any more, and the attempt was to end.
	AllEnded Conclusion = "all_ended"
)

// Inference is a conclusion of this program, not a provider's report: it counts only while the
// operation's fence holds.
type Inference struct {
	Concludes Conclusion
	Cause     payment.Cause
}

// Event is the status of the payment by the last report; empty if there is no report.
func (r CallResult) Event() fsm.Event {
	for _, v := range slices.Backward(r.Reports) {
		if v.Refund == nil {
			return v.Event
		}
	}
	return ""
}
