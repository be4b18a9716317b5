package e2e_test

import (
	"testing"

	"github.com/paylatch/paylatch/internal/dev/faults"
)

// place is where on its way a command to the provider is held.
type place string

const (
	nowhere   place = ""
	onTheWay  place = "on its way" // it arrives when it is let go
	lost      place = "lost"       // it never arrives
	onTheBack place = "answered"   // the provider has done it
)

// turnstile stands between services and the provider and holds all commands at once, while rig.hold holds one.
type turnstile struct {
	*faults.HTTP
	t    *testing.T
	held *faults.Hold
	// commands matches the requests to hold.
	commands func(*faults.Request) bool
}

func newTurnstile(t *testing.T, provider string) *turnstile {
	t.Helper()
	return &turnstile{faults.NewHTTP(t, provider), t, faults.NewHold(t), faults.Commands}
}

// hold holds every command from now on.
func (s *turnstile) hold(at place) {
	s.held = faults.NewHold(s.t)
	fault := s.held.Before
	switch at {
	case lost:
		fault = func(on faults.Way) faults.Way { return s.held.Before(faults.Drop(on)) }
	case onTheBack:
		fault = s.held.After
	case nowhere, onTheWay:
	}
	s.Break(faults.When(s.commands, fault))
}

// letGo lets the held requests go on, and holds no further command.
func (s *turnstile) letGo() {
	s.Mend()
	s.held.Free()
}
