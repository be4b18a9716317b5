package engine_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// errDied is the error of each step of a process that has died.
var errDied = errors.New("the process has died")

// actor is a sequence of steps that the explorer orders: a request, the delivery of a webhook, a round of the worker, or an event
// outside of paylatch.
type actor struct {
	name string
	// process is the number of its process; -1 for an event outside, which is a single step.
	process int
	// ready reports whether it may begin; nil for always.
	ready func() bool
	run   func(*actor) string

	stage  stage
	at     string // the step before which it waits
	inside bool   // it waits before the commit of an open transaction
	dead   atomic.Bool
	resume chan error
	gone   chan struct{}
	// past is a hash of all states that it has seen until its end, result its result then.
	past, result string
}

type stage string

const (
	idle    stage = "idle"
	running stage = "running"
	blocked stage = "blocked" // it waits for another's lock
	waiting stage = "waiting"
	ended   stage = "ended"
)

// arrival is an actor that waits before a step, or has ended.
type arrival struct {
	actor  *actor
	at     string
	result *string
}

// stop lets an actor wait before a step until the explorer chooses it. It returns errDied, or errUnheard if the response to the
// step is to be lost.
func (c *trial) stop(a *actor, at string) error {
	if a.dead.Load() {
		return errDied
	}
	select {
	case c.arrivals <- arrival{actor: a, at: at}:
	case <-c.over:
		return errDied
	}
	select {
	case err := <-a.resume:
		return err
	case <-c.over:
		return errDied
	}
}

// The verbs of choices.
const (
	goes  = "goes on"
	dies  = "dies"
	loses = "loses the response"
)

// choices are the steps that may be next.
func (c *trial) choices() []string {
	var all []string
	for _, a := range c.actors {
		switch {
		case a.stage == idle && (a.ready == nil || a.ready()):
			all = append(all, a.name+" "+goes)
		case a.stage == waiting:
			all = append(all, a.name+" "+goes)
			if c.faults > 0 {
				all = append(all, a.name+" "+dies)
			}
			if c.faults > 0 && a.at == atProvider {
				all = append(all, a.name+" "+loses)
			}
		}
	}
	return all
}

// take takes a choice and waits until everybody waits again.
func (c *trial) take(t *testing.T, choice string) {
	t.Helper()
	i := slices.IndexFunc(c.actors, func(a *actor) bool { return strings.HasPrefix(choice, a.name+" ") })
	a := c.actors[i]
	verb := strings.TrimPrefix(choice, a.name+" ")
	c.trace = append(c.trace, strings.TrimSpace(choice+": "+a.at))
	at := a.stage
	a.stage, a.at, a.inside = running, "", false
	if at == idle {
		go func() {
			defer close(a.gone)
			result := a.run(a)
			select {
			case c.arrivals <- arrival{actor: a, result: &result}:
			case <-c.over:
			}
		}()
		c.settle(t)
		return
	}
	var err error
	switch verb {
	case dies:
		c.faults--
		a.dead.Store(true)
		err = errDied
	case loses:
		c.faults--
		err = errUnheard
	}
	a.resume <- err
	c.settle(t)
}

// settle waits until each actor that is under way waits before a step, waits for a lock, or has ended.
func (c *trial) settle(t *testing.T) {
	t.Helper()
	limit := time.NewTimer(waitFor)
	defer limit.Stop()
	for {
		var under []*actor
		for _, a := range c.actors {
			if a.stage == running || a.stage == blocked {
				under = append(under, a)
			}
		}
		if len(under) == 0 {
			return
		}
		var poll <-chan time.Time
		if slices.ContainsFunc(c.actors, func(a *actor) bool { return a.inside }) {
			poll = time.After(time.Millisecond)
		}
		select {
		case e := <-c.arrivals:
			c.arrived(e)
		case <-poll:
			if c.allBlocked(t, under) {
				return
			}
		case <-limit.C:
			require.Fail(t, "no step", "after %s", c.trace)
		}
	}
}

func (c *trial) arrived(e arrival) {
	a := e.actor
	c.moved = append(c.moved, a)
	if e.result != nil {
		a.stage, a.at, a.result = ended, "", *e.result
		c.trace = append(c.trace, "    "+a.name+": "+a.result)
		return
	}
	a.stage, a.at, a.inside = waiting, e.at, e.at == atCommit
}

func (c *trial) allBlocked(t *testing.T, under []*actor) bool {
	t.Helper()
	names := make([]string, len(under))
	for i, a := range under {
		names[i] = processName(a.process)
	}
	var n int
	require.NoError(t, c.db.QueryRow(t.Context(), `SELECT count(*) FROM pg_stat_activity
		WHERE application_name = ANY($1) AND datname = current_database() AND cardinality(pg_blocking_pids(pid)) > 0`, names).Scan(&n))
	if n < len(under) {
		return false
	}
	for _, a := range under {
		a.stage = blocked
	}
	return true
}

// violation is a schedule that breaks a promise.
type violation struct {
	text  string
	trace []string
}

func (v violation) String() string { return v.text + "\n" + strings.Join(v.trace, "\n") }

// explorer takes all schedules of a scenario, depth first. A schedule that reaches a known state is cut: all that may follow was,
// or will be, taken from there.
type explorer struct {
	begin func(t *testing.T) *trial

	seen                            map[string]bool
	path                            []branch
	schedules, ends, steps, spoiled int
}

// branch is a state on the path of the present schedule, with the choice that is taken there.
type branch struct {
	choices []string
	taken   int
	state   state
}

// explore takes all schedules, and returns the first violation.
func (x *explorer) explore(t *testing.T) *violation {
	t.Helper()
	x.seen = map[string]bool{}
	for tries := 0; ; {
		v, again := x.schedule(t)
		if again {
			// A machine that is stalled for seconds makes the program give up waits.
			x.spoiled++
			if tries++; tries > 20 {
				require.Fail(t, "the same choices have other effects", "%v", v)
			}
			continue
		}
		tries = 0
		if v != nil {
			return v
		}
		for len(x.path) > 0 && x.path[len(x.path)-1].taken == len(x.path[len(x.path)-1].choices)-1 {
			x.path = x.path[:len(x.path)-1]
		}
		if len(x.path) == 0 {
			return nil
		}
		x.path[len(x.path)-1].taken++
	}
}

// schedule takes the choices of the path, and then the first choice of each new state. It returns true if the choices of
// the path were not possible.
func (x *explorer) schedule(t *testing.T) (v *violation, again bool) {
	t.Helper()
	c := x.begin(t)
	defer c.close()
	x.schedules++
	known := len(x.path)
	var before state
	for depth := 0; ; depth++ {
		choices := c.choices()
		if depth >= known {
			v, over := x.arrive(t, c, before, choices)
			if over {
				return v, false
			}
		} else if !slices.Equal(choices, x.path[depth].choices) {
			return &violation{fmt.Sprintf("%q instead of %q", choices, x.path[depth].choices), c.trace}, true
		}
		b := x.path[depth]
		if depth < known {
			c.remember(before.hash, b.state.hash)
		}
		before, c.moved = b.state, nil
		c.take(t, b.choices[b.taken])
		if c.spoiled {
			return &violation{"the database was not available", c.trace}, true
		}
		x.steps++
	}
}

// arrive checks the state that a step led to, and adds it to the path. It returns true if the schedule is over there: a promise is
// broken, it is an end, or the state is known.
func (x *explorer) arrive(t *testing.T, c *trial, before state, choices []string) (v *violation, over bool) {
	t.Helper()
	now := c.state(t)
	c.remember(before.hash, now.hash)
	if broken := c.broken(before, now); broken != "" {
		return &violation{broken, c.trace}, true
	}
	key := c.key(now)
	if len(choices) == 0 {
		return x.end(t, c, key), true
	}
	if x.seen[key] {
		return nil, true
	}
	x.seen[key] = true
	x.path = append(x.path, branch{choices: choices, state: now})
	return nil, false
}

// end checks the end of a schedule, if it is a new one.
func (x *explorer) end(t *testing.T, c *trial, key string) *violation {
	t.Helper()
	for _, a := range c.actors {
		if a.stage == blocked {
			return &violation{a.name + " waits for a lock that nobody gives up", c.trace}
		}
	}
	if x.seen[key] {
		return nil
	}
	x.seen[key] = true
	x.ends++
	if broken := c.finish(t); broken != "" {
		return &violation{broken, c.trace}
	}
	return nil
}
