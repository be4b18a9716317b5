package api

import (
	"runtime"
	"sync"
)

// crew looks after lines: as many goroutines as there are processors, for however
// many lines, and none while nothing happens. Thousands may wait for one change,
// and a goroutine with a stack of its own for each costs more than what it writes.
// Who has to wait for a peer gives its place to another.
type crew struct {
	mu sync.Mutex
	// called are lines with something to do; ended is what remains to be done of
	// those that are over, once all who were called have had their turn.
	called []*line
	ended  []func()
	busy   int
}

// call has a line looked after. It does not wait for that.
func (c *crew) call(l *line) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.called = append(c.called, l)
	c.hire()
}

// afterwards has something done when nothing is more urgent.
func (c *crew) afterwards(do func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = append(c.ended, do)
	c.hire()
}

// hire needs the lock.
func (c *crew) hire() {
	if c.busy < runtime.GOMAXPROCS(0) {
		c.busy++
		go c.work()
	}
}

// stepAside is called by a worker that is about to wait: it is none from then on.
func (c *crew) stepAside() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.busy--
	if len(c.called)+len(c.ended) > 0 {
		c.hire()
	}
}

func (c *crew) work() {
	for {
		l, end := c.next()
		switch {
		case l != nil:
			if aside := l.run(); aside {
				return
			}
		case end != nil:
			end()
		default:
			return
		}
	}
}

// next is what comes next; where there is nothing the worker is none any more.
func (c *crew) next() (*line, func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.called) > 0 {
		l := c.called[0]
		if c.called = c.called[1:]; len(c.called) == 0 {
			c.called = nil
		}
		return l, nil
	}
	if len(c.ended) > 0 {
		end := c.ended[0]
		if c.ended = c.ended[1:]; len(c.ended) == 0 {
			c.ended = nil
		}
		return nil, end
	}
	c.busy--
	return nil, nil
}
