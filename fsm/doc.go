// Package fsm is the life of a payment attempt, of a refund, of an operation and of
// a dispute as pure functions: a state and an event give the next state and a
// verdict.
//
//	step, err := fsm.Next(fsm.Requested, fsm.NewsSucceeded)
//	// step.To == fsm.Succeeded, step.Verdict == fsm.Applied
//
// States have a rank and reports move them only upwards, so the order in which the reports of one
// payment arrive, and how often, does not matter: every order of a set that does not contradict
// itself ends in the same state. What comes late is Stale, what contains nothing new is a Repeat,
// and what contradicts a final state where money is concerned is a Conflict, which a person must
// see. Table lists all of it and Mermaid draws it.
//
// A set with both a success and a failure contradicts itself: the first of them
// decides, and a success that comes after the failure is the Conflict.
//
// The package has no clock, no input or output and no side effects. A step is
// applied with the attempt locked: the row, the log and the update for the merchant
// are written in one transaction.
package fsm
