package payment

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/webhooks"
)

const (
	// writers is how many batches may be under way at once, each on a session of its
	// own.
	writers = 4
	// lockedPause is how long an event waits for an attempt that somebody else
	// has locked before it is tried again, lockedTries how often.
	lockedPause = 5 * time.Millisecond
	lockedTries = 400
)

// arrival is an event on its way to the disk.
type arrival struct {
	Received
	digest   [32]byte
	subjects []subject
	verdict  fsm.Verdict
	// odd events are stored and not applied.
	odd   bool
	err   error
	tries int
	done  chan struct{}
}

func newArrival(r Received) *arrival {
	subjects := append(make([]subject, 0, 1+len(r.Event.References)), subject{Reference{r.Account, r.Event.ID}, true})
	for _, name := range r.Event.References {
		subjects = append(subjects, subject{Reference{r.Account, name}, false})
	}
	return &arrival{Received: r, digest: digest(r.Event), subjects: subjects, done: make(chan struct{})}
}

func (a *arrival) key() EventKey { return EventKey{a.Account, a.Event.ID} }

func (a *arrival) answer(err error) {
	a.err = err
	close(a.done)
}

// committer gathers the webhooks that arrive while a commit is on its way to the
// disk, and commits them together. A lone one waits for nobody. When many wait, or
// when the disk is slow, a batch is read and sent while others are on their way.
type committer struct {
	takeIn  takeIn
	queue   *queue
	answers answers
	stopped chan struct{}
}

// takeIn commits arrivals; see Service.takeIn.
type takeIn func(ctx context.Context, arrivals []*arrival, park bool, meanwhile func()) error

func newCommitter(take takeIn) *committer {
	return &committer{takeIn: take, queue: newQueue(), stopped: make(chan struct{})}
}

// submit queues arrivals, or refuses with ErrOverloaded.
func (c *committer) submit(arrivals []*arrival) error {
	select {
	case <-c.stopped:
		return ErrUnavailable
	default:
	}
	if !c.queue.put(arrivals) {
		return ErrOverloaded
	}
	return nil
}

// run commits until ctx ends and the queue is empty. No request's context
// reaches a batch: one client's going away must not undo the others.
func (c *committer) run(ctx context.Context) error {
	defer close(c.stopped)
	defer context.AfterFunc(ctx, c.queue.close)()
	work := context.WithoutCancel(ctx)
	var group sync.WaitGroup
	for range writers {
		group.Go(func() { c.write(work) })
	}
	group.Wait()
	c.answers.give()
	return nil
}

func (c *committer) write(ctx context.Context) {
	for {
		batch, ok := c.queue.take(c.answers.give)
		if !ok {
			return
		}
		c.queue.done(batch, c.commit(ctx, batch))
	}
}

// commit commits a batch and returns those of it that are to be tried again.
func (c *committer) commit(ctx context.Context, batch []*arrival) (again []*arrival) {
	sent := sync.OnceFunc(func() {
		c.queue.sent()
		c.answers.give()
	})
	err := c.takeIn(ctx, batch, false, sent)
	sent()
	if rejected(err) {
		for _, a := range batch {
			c.single(ctx, a)
		}
		return nil
	}
	known := make([]*arrival, 0, len(batch))
	for _, a := range batch {
		if err != nil || a.verdict != "" {
			a.err = err
			known = append(known, a)
		} else if c.later(ctx, a) {
			again = append(again, a)
		}
	}
	c.answers.keep(known)
	if len(again) == len(batch) {
		pause := time.NewTimer(lockedPause)
		<-pause.C
	}
	return again
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

// later says that an event whose attempt is locked is to be tried again. After a
// while it is stored without having been applied.
func (c *committer) later(ctx context.Context, a *arrival) bool {
	if a.tries++; a.tries < lockedTries {
		return true
	}
	a.answer(c.takeIn(ctx, []*arrival{a}, true, nil))
	return false
}
