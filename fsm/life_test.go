package fsm_test

import (
	"slices"

	"github.com/paylatch/paylatch/fsm"
)

// life is one of the machines, by plain names of its events.
type life[S ~string] struct {
	states []S
	events []string
	next   func(from S, event string) (S, fsm.Verdict, error)
	// never are the (state, event) that are errors.
	never func(from S, event string) bool
	// forward reports whether a move goes the right way.
	forward func(from, to S) bool
}

func attemptLife() life[fsm.State] {
	return life[fsm.State]{
		states: fsm.States(), events: plain(fsm.AttemptEvents()),
		next: func(from fsm.State, event string) (fsm.State, fsm.Verdict, error) {
			step, err := fsm.Next(from, fsm.Event(event))
			return step.To, step.Verdict, err
		},
		never: func(fsm.State, string) bool { return false },
		forward: func(from, to fsm.State) bool {
			rose := slices.Index(fsm.States(), to) > slices.Index(fsm.States(), from)
			back := to == fsm.Processing || to == fsm.AwaitingCustomer // another payment of the attempt goes on
			return (rose || back) && !from.Final() && from.Status() == fsm.StatusPending && to.Final() == (to.Status() != fsm.StatusPending)
		},
	}
}

func paymentLife() life[fsm.PaymentState] {
	return life[fsm.PaymentState]{
		states: fsm.PaymentStates(), events: plain(fsm.Events()),
		next: func(from fsm.PaymentState, event string) (fsm.PaymentState, fsm.Verdict, error) {
			step, err := fsm.NextPayment(from, fsm.Event(event))
			return step.To, step.Verdict, err
		},
		never: func(fsm.PaymentState, string) bool { return false },
		forward: func(from, to fsm.PaymentState) bool {
			money := to == fsm.PaymentAuthorized || to == fsm.PaymentCaptured
			return from != fsm.PaymentCaptured && to != fsm.PaymentNamed && (from != fsm.PaymentFailed || money)
		},
	}
}

func refundLife() life[fsm.RefundState] {
	ofPayments := []fsm.Event{fsm.EventAuthorized, fsm.EventSoftFailed, fsm.EventMoney, fsm.EventDisputed}
	return life[fsm.RefundState]{
		states: fsm.RefundStates(), events: plain(fsm.Events()),
		next: func(from fsm.RefundState, event string) (fsm.RefundState, fsm.Verdict, error) {
			step, err := fsm.NextRefund(from, fsm.Event(event))
			return step.To, step.Verdict, err
		},
		never:   func(_ fsm.RefundState, event string) bool { return slices.Contains(ofPayments, fsm.Event(event)) },
		forward: func(from, to fsm.RefundState) bool { return from == fsm.RefundPending && to.Final() },
	}
}

func operationLife() life[fsm.OperationState] {
	neverSent := []fsm.OperationEvent{fsm.OperationLose, fsm.OperationAccept, fsm.OperationMiss}
	return life[fsm.OperationState]{
		states: fsm.OperationStates(), events: plain(fsm.OperationEvents()),
		next: func(from fsm.OperationState, event string) (fsm.OperationState, fsm.Verdict, error) {
			step, err := fsm.NextOperation(from, fsm.OperationEvent(event))
			return step.To, step.Verdict, err
		},
		never: func(from fsm.OperationState, event string) bool {
			e := fsm.OperationEvent(event)
			switch from {
			case fsm.OperationWanted:
				return slices.Contains(neverSent, e)
			case fsm.OperationSent:
				return e == fsm.OperationWithdraw
			case fsm.OperationUnknown, fsm.OperationAccepted:
				return e == fsm.OperationWithdraw || e == fsm.OperationRestore
			case fsm.OperationDone, fsm.OperationRefused, fsm.OperationNotSent, fsm.OperationWithdrawn:
			}
			return false
		},
		forward: func(from, _ fsm.OperationState) bool { return from.Open() },
	}
}

// dated marks an event of a dispute with the provider's time.
const dated = ", dated"

func disputeLife() life[fsm.DisputeState] {
	events := plain(fsm.DisputeStates())
	for _, s := range fsm.DisputeStates() {
		events = append(events, string(s)+dated)
	}
	return life[fsm.DisputeState]{
		states: fsm.DisputeStates(), events: events,
		next: func(from fsm.DisputeState, event string) (fsm.DisputeState, fsm.Verdict, error) {
			reported, withTime := cutDated(event)
			step, err := fsm.NextDispute(from, fsm.DisputeState(reported), withTime)
			return step.To, step.Verdict, err
		},
		never:   func(fsm.DisputeState, string) bool { return false },
		forward: func(fsm.DisputeState, fsm.DisputeState) bool { return true },
	}
}

func cutDated(event string) (reported string, withTime bool) {
	n := len(event) - len(dated)
	if n >= 0 && event[n:] == dated {
		return event[:n], true
	}
	return event, false
}

func plain[S ~string](names []S) []string {
	all := make([]string, len(names))
	for i, n := range names {
		all[i] = string(n)
	}
	return all
}
