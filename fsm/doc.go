// Package fsm is the life of a payment attempt, and of a refund, as a pure
// function: a state and a piece of news give the next state and a verdict.
//
//	step, err := fsm.Next(fsm.Requested, fsm.NewsSucceeded)
//	// step.To == fsm.Succeeded, step.Verdict == fsm.Applied
//
// States have a rank and news moves them only upwards, so the order in which
// the news of one payment arrives, and how often, does not matter: every order
// of a set that does not contradict itself ends in the same state. What comes
// late is Stale, what says nothing new is a Repeat, and what contradicts a final
// state where money is concerned is a Conflict, which a person must see. Table
// lists all of it and Mermaid draws it.
//
// A set with both a success and a failure contradicts itself: the first of them
// decides, and a success that comes after the failure is the Conflict.
//
// The package has no clock, no input or output and no side effects. Who applies
// a step holds the attempt locked and writes the row, the log and the news of it
// in one transaction.
package fsm
