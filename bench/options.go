package main

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"time"
)

// The parts of a run, in their order.
const (
	partWebhooks = "webhooks"
	partOpen     = "open"
	partPays     = "pays"
	partInbox    = "inbox"
	partForeign  = "foreign"
	partTold     = "told"
	partWaiters  = "waiters"
	// partCells runs only if the flag names it.
	partCells = "cells"
)

type options struct {
	rounds  int
	window  time.Duration
	quick   bool
	inbox   int
	open    int
	waiters int
	foreign int
	clients int
	dir     string
	doc     string
	profile string
	path    string
	pgo     string
	sizing  bool
	set     string
	disk    time.Duration
	ids     naming
	parts   []string
}

func parse(args []string) (options, error) {
	var o options
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	seconds := f.Float64("seconds", 5, "how long each stage is measured")
	parts := f.String("only", strings.Join([]string{partWebhooks, partOpen, partPays, partInbox, partForeign, partTold, partWaiters}, ","), "the parts to run; cells as well compares two cells with one")
	f.IntVar(&o.rounds, "rounds", 5, "how often each stage is measured")
	f.BoolVar(&o.quick, "quick", false, "one round of one second a stage, a small inbox, nothing written")
	f.IntVar(&o.inbox, "inbox", 1_000_000, "how many events the inbox holds at last (up to 10 million)")
	f.IntVar(&o.open, "open", 5000, "webhooks a second in the open loop")
	f.IntVar(&o.waiters, "waiters", 10_000, "how many wait at once (up to 15,000)")
	f.IntVar(&o.foreign, "foreign", 100_000, "how many events of payments that are not ours come in ten minutes (up to 1 million)")
	f.IntVar(&o.clients, "clients", 0, "of the webhooks only those from 1, 16 or 64 clients; writes nothing")
	f.StringVar(&o.dir, "dir", ".paylatch", "where the databases of the run live meanwhile")
	f.StringVar(&o.doc, "doc", "docs/explanation/performance.md", "the page whose tables are written; empty: none")
	f.StringVar(&o.profile, "profile", "", "write profiles of the webhooks' way into this directory, and measure nothing else")
	f.StringVar(&o.pgo, "pgo", "", "write the CPU profile of all paths into this file, for the compiler, and measure nothing else")
	f.BoolVar(&o.sizing, "sizing", false, "measure what a pay and a webhook leave on the disk, and nothing else; writes nothing")
	f.StringVar(&o.path, "path", partWebhooks, "what is profiled: webhooks, pays, replays or reads")
	f.StringVar(&o.set, "set", "", "a PostgreSQL setting, NAME=VALUE, to try out on the program's sessions; writes nothing")
	f.DurationVar(&o.disk, "disk", 0, "a disk that takes so much longer to confirm a write, up to 100ms; writes nothing")
	ids := f.String("ids", string(atRandom), "providers' event ids: random or ordered")
	if err := f.Parse(args); err != nil {
		return o, fmt.Errorf("options: %w", err)
	}
	o.window = time.Duration(*seconds * float64(time.Second))
	o.parts, o.ids = strings.Split(*parts, ","), naming(*ids)
	if o.pgo != "" {
		o.profile = o.dir // the server is prepared for profiles
	}
	if o.quick {
		o.rounds, o.window, o.doc, o.inbox = 1, time.Second, "", min(o.inbox, 200_000)
		o.waiters, o.foreign = min(o.waiters, 1000), min(o.foreign, 10_000)
	}
	if o.set != "" || o.disk > 0 || o.clients > 0 || o.runs(partCells) {
		o.doc = ""
	}
	if o.rounds < 1 || o.disk < 0 || o.disk > 100*time.Millisecond || o.window <= 0 || o.inbox < 0 || o.inbox > 10_000_000 || o.open < 1 ||
		o.foreign < 1 || o.foreign > 1_000_000 ||
		o.waiters < 5 || o.waiters > 15_000 || o.clients != 0 && !slices.Contains(clientCounts(), o.clients) || o.ids != atRandom && o.ids != inOrder {
		return o, fmt.Errorf("options: out of range: %v", args)
	}
	return o, nil
}

func (o options) runs(part string) bool { return slices.Contains(o.parts, part) }
