package broker

import (
	"time"

	"github.com/paylatch/paylatch/internal/events/lease"
)

// Hasten shortens the lease and the pauses after a failure.
func (v *Service) Hasten(pause time.Duration) {
	for _, p := range v.publishers {
		p.times = lease.Times{Life: time.Minute, RenewEvery: 300 * time.Millisecond, AskEvery: 150 * time.Millisecond}
		p.firstPause = pause
	}
}

// Rounds exports rounds.
func Rounds(messages []Message) [][]int { return rounds(messages) }

// InRounds exports inRounds.
func InRounds(messages []Message, publish func(round []int) []error) (int, error) {
	return inRounds(messages, publish)
}

// Takes exports takes.
func Takes(subjects []string, subject string) bool { return takes(subjects, subject) }

// BatchSize is batchSize.
const BatchSize = batchSize
