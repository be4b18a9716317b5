package notice

import (
	"time"

	"github.com/paylatch/paylatch/internal/events/lease"
)

// Hurry has a sender look, mail and try again sooner.
func (s *Sender) Hurry(mailEvery time.Duration) {
	s.times = times{
		lease: lease.Times{Life: time.Minute, RenewEvery: 500 * time.Millisecond, AskEvery: 50 * time.Millisecond}, mailEvery: mailEvery,
		lookEvery: 20 * time.Millisecond, first: 50 * time.Millisecond,
	}
}
