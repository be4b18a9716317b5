package fsm

import (
	"fmt"
	"slices"
)

// DisputeState is where a dispute stands at the provider.
type DisputeState string

// The states of a dispute. Closed ones may still change: a lost dispute can be won
// later, and the reverse.
const (
	// DisputeWarning disputes are inquiries: no money has moved.
	DisputeWarning DisputeState = "warning"
	// DisputeOpen disputes wait for the merchant's evidence.
	DisputeOpen DisputeState = "open"
	// DisputeUnderReview disputes have their evidence.
	DisputeUnderReview DisputeState = "under_review"
	// DisputeWon disputes were decided for the merchant.
	DisputeWon DisputeState = "won"
	// DisputeLost disputes were decided for the cardholder.
	DisputeLost DisputeState = "lost"
	// DisputeAccepted disputes were not defended.
	DisputeAccepted DisputeState = "accepted"
)

// DisputeStates lists the states of a dispute.
func DisputeStates() []DisputeState {
	return []DisputeState{DisputeWarning, DisputeOpen, DisputeUnderReview, DisputeWon, DisputeLost, DisputeAccepted}
}

// Closed reports whether the provider has decided.
func (s DisputeState) Closed() bool {
	switch s {
	case DisputeWon, DisputeLost, DisputeAccepted:
		return true
	case DisputeWarning, DisputeOpen, DisputeUnderReview:
	}
	return false
}

// DisputeStep is the effect of a report on a dispute.
type DisputeStep struct {
	From, To DisputeState
	Verdict  Verdict
}

// Moved reports whether the state changed.
func (s DisputeStep) Moved() bool { return s.From != s.To }

// NextDispute returns the effect of a reported state on a dispute. With dated the report
// has the provider's time, which is not before the time of the state from. Such a report
// always counts. Without dated a closed dispute is never opened again, and an open
// dispute never becomes a warning. Any other state is ErrState.
func NextDispute(from, reported DisputeState, dated bool) (DisputeStep, error) {
	if _, known := disputes.verdicts[reported]; !known {
		return DisputeStep{From: from, To: from}, fmt.Errorf("%w: %q", ErrState, reported)
	}
	news := Event(reported)
	if dated {
		news = datedPrefix + news
	}
	to, verdict, err := disputes.next(from, news)
	return DisputeStep{From: from, To: to, Verdict: verdict}, err
}

const datedPrefix Event = "dated "

var disputes = newDisputes()

func newDisputes() *machine[DisputeState] {
	var moves []move[DisputeState]
	var stills []still[DisputeState]
	for _, from := range DisputeStates() {
		for _, to := range DisputeStates() {
			undated, dated, at := Event(to), datedPrefix+Event(to), []DisputeState{from}
			if from == to {
				stills = append(stills, still[DisputeState]{undated, Repeat, at}, still[DisputeState]{dated, Repeat, at})
				continue
			}
			moves = append(moves, move[DisputeState]{dated, at, to})
			if to.rank() >= from.rank() {
				moves = append(moves, move[DisputeState]{undated, at, to})
			} else {
				stills = append(stills, still[DisputeState]{undated, Stale, at})
			}
		}
	}
	return newMachine(DisputeStates(), moves, stills)
}

// rank orders the states; closed ones are equal.
func (s DisputeState) rank() int {
	return min(slices.Index(DisputeStates(), s), slices.Index(DisputeStates(), DisputeWon))
}
