package engine_test

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestEveryInterleaving: the use cases keep every promise in all orders of their steps. A step is a transaction, a call that arrives
// at the provider, a read that a decision follows, or an event outside. In the scenarios named "commits" the steps of a transaction
// are two, its reads under locks and its commit, so that transactions overlap. Each request, webhook and worker has a process of its
// own.
//
// A state is the rows of the order, the provider's payments, and for each actor its step and all states that it has seen. The
// schedules are taken depth first and cut at known states, so each possible step of each state is taken once.
func TestEveryInterleaving(t *testing.T) {
	t.Parallel()
	large := os.Getenv("PAYLATCH_LARGE") != ""
	if !large {
		t.Log("small bounds; larger ones with PAYLATCH_LARGE=1")
	}
	for _, s := range scenarios() {
		if s.large && !large {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			play(t, s)
		})
	}
}

// scenario is a few actors, and how many processes may die or lose a response.
type scenario struct {
	name   string
	actors func(c *trial)
	faults int
	// fine scenarios stop inside of transactions.
	fine  bool
	large bool
}

func play(t *testing.T, s scenario) {
	t.Helper()
	begun := time.Now()
	counted := &trial{p: &scripted{}}
	s.actors(counted)
	th := newTheatre(t, len(counted.actors), s.fine)
	x := &explorer{begin: func(t *testing.T) *trial {
		t.Helper()
		c := th.trial(t)
		c.faults = s.faults
		s.actors(c)
		return c
	}}
	v := x.explore(t)
	t.Logf("%s: %d schedules, %d states, %d ends, %d steps, %.1f s, %d repeated", s.name, x.schedules, len(x.seen), x.ends, x.steps, time.Since(begun).Seconds(), x.spoiled)
	if v != nil {
		require.Fail(t, "a promise is broken", "%s", v)
	}
}

func scenarios() []scenario {
	return []scenario{
		{name: "two_clients", actors: func(c *trial) {
			c.client("client 1", "1", isPaid)
			c.client("client 2", "2", isPaid)
		}},
		{name: "two_clients_commits", fine: true, actors: func(c *trial) {
			c.client("client 1", "1", isPaid)
			c.client("client 2", "2", isPaid)
		}},
		{name: "one_key_twice_commits", fine: true, actors: func(c *trial) {
			c.client("client 1", "1", isPaid)
			c.client("client 2", "1", isPaid)
		}},
		{name: "webhook_twice", actors: webhookTwice},
		{name: "webhook_twice_commits", fine: true, large: true, actors: webhookTwice},
		{name: "crash", large: true, faults: 1, actors: func(c *trial) {
			c.client("client", "1", isPaid)
			c.webhook("webhook", "A1 succeeded")
			c.leases()
			c.worker()
		}},
		{name: "two_payments", actors: func(c *trial) {
			c.p.pages = true
			c.client("client", "1", wantsCustomer)
			c.customer("first tab", "A1", false)
			c.customer("second tab", "A1", true)
			c.webhook("first webhook", "A1 succeeded")
			c.webhook("second webhook", "A1 succeeded #2")
		}},
		{name: "late_money", large: true, actors: func(c *trial) {
			c.client("client 1", "1", isDeclined)
			c.client("client 2", "2", isPaid)
			c.lateMoney("A1")
			c.webhook("webhook", "A1 succeeded")
		}},
		{name: "crash_commits", fine: true, large: true, faults: 1, actors: func(c *trial) {
			c.client("client", "1", isPaid)
			c.webhook("webhook", "A1 succeeded")
			c.leases()
			c.worker()
		}},
		{name: "all", large: true, faults: 1, actors: func(c *trial) {
			c.client("client 1", "1", isDeclined)
			c.client("client 2", "2", isPaid)
			c.lateMoney("A1")
			c.webhook("webhook", "A1 succeeded")
			c.leases()
			c.worker()
		}},
	}
}

func webhookTwice(c *trial) {
	c.client("client", "1", isPaid)
	c.webhook("webhook", "A1 succeeded")
	c.webhook("its repeat", "A1 succeeded")
}
