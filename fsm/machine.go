package fsm

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/looplab/fsm"
)

// ErrState is returned for a state that the machine does not have.
var ErrState = errors.New("unknown state")

// ErrEvent is returned for an event that the machine does not have.
var ErrEvent = errors.New("unknown event")

// move is that a report takes any of the states from to the state to.
type move[S ~string] struct {
	news Event
	from []S
	to   S
}

// still is the meaning of a report in a state that the report does not change.
type still[S ~string] struct {
	news    Event
	verdict Verdict
	in      []S
}

// machine runs one table on looplab's machine.
type machine[S ~string] struct {
	states   []S
	moves    []move[S]
	stills   []still[S]
	events   fsm.Events
	verdicts map[S]map[Event]Verdict
	idle     sync.Pool
}

func newMachine[S ~string](states []S, moves []move[S], stills []still[S]) *machine[S] {
	m := &machine[S]{states: states, moves: moves, stills: stills, verdicts: make(map[S]map[Event]Verdict, len(states))}
	for _, s := range states {
		m.verdicts[s] = make(map[Event]Verdict, len(Events()))
	}
	for _, mv := range moves {
		for _, from := range mv.from {
			m.events = append(m.events, fsm.EventDesc{Name: string(mv.news), Src: []string{string(from)}, Dst: string(mv.to)})
			m.verdicts[from][mv.news] = Applied
		}
	}
	for _, st := range stills {
		for _, s := range st.in {
			m.verdicts[s][st.news] = st.verdict
		}
	}
	m.idle.New = func() any { return fsm.NewFSM(string(states[0]), m.events, nil) }
	return m
}

// next is total over the table. A machine costs several times a step to build,
// so idle ones are kept; none is ever shared between goroutines.
func (m *machine[S]) next(from S, news Event) (S, Verdict, error) {
	row, ok := m.verdicts[from]
	if !ok {
		return from, "", fmt.Errorf("%w: %q", ErrState, from)
	}
	verdict, ok := row[news]
	if !ok {
		return from, "", fmt.Errorf("%w: %q", ErrEvent, news)
	}
	f, _ := m.idle.Get().(*fsm.FSM)
	defer m.idle.Put(f)
	f.SetState(string(from))
	if !f.Can(string(news)) {
		return from, verdict, nil
	}
	// A cancelled context would abort the move half-way: the report is a fact.
	if err := f.Event(context.Background(), string(news)); err != nil {
		return from, "", fmt.Errorf("apply %s in %s: %w", news, from, err)
	}
	return S(f.Current()), verdict, nil
}
