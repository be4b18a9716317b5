package payment

import (
	"sync"
	"time"
)

// answerWithin bounds how long an answer waits for the next batch, so that a
// storage that stands still holds nothing back. Most wait for half of that.
const answerWithin = 2 * time.Millisecond

// answers are those to arrivals that are on disk. They are given when the next batch
// is on its way there, or when there is none: given before, they would set off as many
// handlers at once, and who reads that batch would wait behind those each time that the
// storage has answered.
type answers struct {
	mu    sync.Mutex
	known []*arrival
	late  *time.Timer
}

// keep takes answers that are to be given soon.
func (a *answers) keep(known []*arrival) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.known = append(a.known, known...)
	if a.late == nil {
		a.late = time.AfterFunc(answerWithin, a.give)
	} else {
		a.late.Reset(answerWithin)
	}
}

// give gives what was kept.
func (a *answers) give() {
	a.mu.Lock()
	known := a.known
	a.known = nil
	if a.late != nil {
		a.late.Stop()
	}
	a.mu.Unlock()
	for _, arrival := range known {
		close(arrival.done)
	}
}
