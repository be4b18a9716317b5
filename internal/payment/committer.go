package payment

import (
	"context"
	"errors"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/webhooks"
)

const (
	// queueLength bounds how many webhooks may wait for the disk.
	queueLength = 4096
	// batchLength bounds one transaction.
	batchLength = 128
	// lockedPause is how long an event waits for an attempt that somebody else
	// has locked before it is tried again, lockedTries how often.
	lockedPause = 5 * time.Millisecond
	lockedTries = 400
)

// arrival is an event on its way to the disk.
type arrival struct {
	Received
	digest  [32]byte
	verdict fsm.Verdict
	// odd events are stored and not applied.
	odd   bool
	err   error
	tries int
	done  chan struct{}
}

func (a *arrival) key() EventKey { return EventKey{a.Account, a.Event.ID} }

func (a *arrival) answer(err error) {
	a.err = err
	close(a.done)
}

// committer gathers the webhooks that arrive while a commit is on its way to the
// disk, and commits them together. A lone one waits for nobody.
type committer struct {
	takeIn  takeIn
	queue   chan *arrival
	locked  []*arrival
	answers answers
	stopped chan struct{}
}

// takeIn commits arrivals; see Service.takeIn.
type takeIn func(ctx context.Context, arrivals []*arrival, park bool, meanwhile func()) error

func newCommitter(take takeIn) *committer {
	return &committer{takeIn: take, queue: make(chan *arrival, queueLength), stopped: make(chan struct{})}
}

// submit queues arrivals, or refuses with ErrOverloaded.
func (c *committer) submit(arrivals []*arrival) error {
	for _, a := range arrivals {
		select {
		case <-c.stopped:
			return ErrUnavailable
		case c.queue <- a:
		default:
			return ErrOverloaded
		}
	}
	return nil
}

// run commits until ctx ends and the queue is empty. No request's context
// reaches a batch: one client's going away must not undo the others.
func (c *committer) run(ctx context.Context) error {
	defer close(c.stopped)
	work := context.WithoutCancel(ctx)
	for {
		batch, ok := c.gather(ctx)
		if !ok {
			return nil
		}
		c.commit(work, batch)
	}
}

// gather waits for a first arrival and takes whatever else is there.
func (c *committer) gather(ctx context.Context) ([]*arrival, bool) {
	batch := c.locked
	c.locked = nil
	if len(batch) == 0 {
		select {
		case a := <-c.queue:
			batch = append(batch, a)
		default:
			c.answers.give()
			select {
			case a := <-c.queue:
				batch = append(batch, a)
			case <-ctx.Done():
				return nil, false
			}
		}
	}
	for len(batch) < batchLength {
		select {
		case a := <-c.queue:
			batch = append(batch, a)
		default:
			return batch, true
		}
	}
	return batch, true
}

func (c *committer) commit(ctx context.Context, batch []*arrival) {
	err := c.takeIn(ctx, batch, false, c.answers.give)
	if rejected(err) {
		for _, a := range batch {
			c.single(ctx, a)
		}
		return
	}
	known := make([]*arrival, 0, len(batch))
	for _, a := range batch {
		if err == nil && a.verdict == "" {
			c.later(ctx, a)
			continue
		}
		a.err = err
		known = append(known, a)
	}
	c.answers.keep(known)
	if len(c.locked) == len(batch) {
		pause := time.NewTimer(lockedPause)
		<-pause.C
	}
}

// single commits one event of a batch that failed. The odd one out is set aside,
// with nothing but its id and bytes if what it says can't be stored, so that it
// is neither lost nor in the way.
func (c *committer) single(ctx context.Context, a *arrival) {
	err := c.takeIn(ctx, []*arrival{a}, true, nil)
	if rejected(err) {
		a.odd = true
		err = c.takeIn(ctx, []*arrival{a}, true, nil)
	}
	if rejected(err) {
		a.Event = webhooks.Event{ID: a.Event.ID, IDSource: a.Event.IDSource, Kind: webhooks.KindNotice, SecretIndex: a.Event.SecretIndex}
		a.news = nil
		err = c.takeIn(ctx, []*arrival{a}, true, nil)
	}
	a.answer(err)
}

// rejected says that the storage is there but does not take what it was given.
func rejected(err error) bool { return err != nil && !errors.Is(err, ErrUnavailable) }

// later keeps an event whose attempt is locked for the next batch, for a while.
func (c *committer) later(ctx context.Context, a *arrival) {
	if a.tries++; a.tries < lockedTries {
		c.locked = append(c.locked, a)
		return
	}
	a.answer(c.takeIn(ctx, []*arrival{a}, true, nil))
}
