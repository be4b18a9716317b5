// Package fsm has the state machines of a payment attempt, a refund, an operation and a dispute as pure functions. A state and
// an event give the next state and a verdict:
//
//	step, err := fsm.Next(fsm.Requested, fsm.EventSucceeded)
//	// step.To == fsm.Succeeded, step.Verdict == fsm.Applied
//
// States have a rank, and events move them only upwards. So every order of the same events, with any number of repetitions, ends in
// the same state, unless the events contradict each other. A late event is Stale, an event without a change is a Repeat, and an
// event that contradicts a final state where money is concerned is a Conflict, which a person must see.
//
// A success and a failure contradict each other: the first one decides. A success after the failure is the Conflict.
//
// Table lists all transitions, and Mermaid draws them. The package has no clock, no input or output, and no side effects.
// Apply a step with the attempt locked, and write the row, the log and the event for the merchant in one transaction.
package fsm
