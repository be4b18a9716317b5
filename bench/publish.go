package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
)

// The tables stand between these lines of the page.
const (
	beginMark = "<!-- bench:begin -->"
	endMark   = "<!-- bench:end -->"
)

var errMarks = errors.New("the page lacks the marks between which the tables go")

// publish prints the tables, and writes them into the page if there is one.
func (b *bench) publish(ctx context.Context, args []string) error {
	facts, err := b.facts(ctx, args)
	if err != nil {
		return err
	}
	text := strings.Join(append([]string{facts}, b.tables()...), "\n")
	b.say("\n%s", text)
	if b.opts.doc == "" {
		return nil
	}
	page, err := os.ReadFile(b.opts.doc)
	if err != nil {
		return fmt.Errorf("read the page: %w", err)
	}
	before, rest, begun := bytes.Cut(page, []byte(beginMark))
	_, after, ended := bytes.Cut(rest, []byte(endMark))
	if !begun || !ended {
		return fmt.Errorf("%s: %w", b.opts.doc, errMarks)
	}
	whole := string(before) + beginMark + "\n" + text + "\n" + endMark + string(after)
	if err := os.WriteFile(b.opts.doc, []byte(whole), 0o644); err != nil { //nolint:gosec // a page for everybody
		return fmt.Errorf("write the page: %w", err)
	}
	return nil
}

// table is a Markdown table in the making.
type table struct{ strings.Builder }

func newTable(title string, columns ...string) *table {
	t := &table{}
	t.WriteString(title + "\n\n")
	t.row(columns...)
	t.WriteString(strings.Repeat("|---", len(columns)) + "|\n")
	return t
}

func (t *table) row(cells ...string) { t.WriteString("| " + strings.Join(cells, " | ") + " |\n") }

// tables returns the tables of the parts that ran.
func (b *bench) tables() []string {
	var out []string
	add := func(part string, t *table) {
		if b.opts.runs(part) {
			out = append(out, t.String())
		}
	}
	add(partWebhooks, b.hooksTable())
	add(partWebhooks, b.costTable())
	add(partPays, b.paysTable())
	add(partInbox, b.inboxTable())
	add(partForeign, b.foreignTable())
	add(partTold, b.toldTable())
	add(partWaiters, b.waitersTable())
	return append(out, b.targetsTable().String())
}

func (b *bench) hooksTable() *table {
	f := b.figures
	t := newTable("**Webhooks a second**", "clients", pgTransaction, pgStatement, "paylatch", "× transaction", "× statement",
		"p50 ms", "p99 ms", "p99 ms, pgbench's transaction", "webhooks a commit")
	for _, c := range []int{1, 16, 64, 256} {
		t.row(strconv.Itoa(c), number(f.median(pgTransaction, c, rate)), number(f.median(pgStatement, c, rate)), number(f.median(ourHooks, c, rate)),
			number(f.ratio(ourHooks, c, pgTransaction, c)), number(f.ratio(ourHooks, c, pgStatement, c)),
			number(f.median(ourHooks, c, p50)), number(f.median(ourHooks, c, p99)), number(f.median(pgTransaction, c, p99)),
			number(f.median(ourHooks, c, perCommit)))
	}
	t.row("64, 30 % repeated", "–", "–", number(f.median(ourRepeats, 64, rate)), "–", "–",
		number(f.median(ourRepeats, 64, p50)), number(f.median(ourRepeats, 64, p99)), "–", number(f.median(ourRepeats, 64, perCommit)))
	if b.opts.runs(partOpen) {
		t.row(fmt.Sprintf("open loop, %s/s", thousands(int64(b.opts.open))), "–", "–", number(f.median(ourOpen, 0, rate)), "–", "–",
			number(f.median(ourOpen, 0, p50)), number(f.median(ourOpen, 0, p99)), "–", number(f.median(ourOpen, 0, perCommit)))
	}
	return t
}

func (b *bench) costTable() *table {
	t := newTable("**What a webhook costs, at 64 clients**", "", "processor, program µs", "processor, database µs", "WAL bytes", "allocations")
	for _, series := range []string{pgTransaction, pgStatement, ourHooks} {
		cells := []string{series}
		for _, what := range []string{serverCPU, databaseCPU, walBytes, allocations} {
			value := b.figures.median(series, 64, what)
			if series != ourHooks && (what == serverCPU || what == allocations) {
				cells = append(cells, "–")
				continue
			}
			cells = append(cells, number(value))
		}
		t.row(cells...)
	}
	return t
}

func (b *bench) paysTable() *table {
	f := b.figures
	t := newTable("**Pays, replays and status reads a second**", "", "clients", "pgbench", "paylatch", "ratio", "p50 ms", "p99 ms")
	line := func(name, ours, theirs string, clients int) {
		t.row(name, strconv.Itoa(clients), number(f.median(theirs, clients, rate)), number(f.median(ours, clients, rate)),
			number(f.ratio(ours, clients, theirs, clients)), number(f.median(ours, clients, p50)), number(f.median(ours, clients, p99)))
	}
	for _, clients := range clientCounts() {
		line("pay: two commits, the provider between them", ourPays, pgPay, clients)
	}
	line("replay of a pay; pgbench: SELECT by key", ourReplays, pgKey, 64)
	line("status read; pgbench: SELECT by id", ourReads, pgAttempt, 64)
	for _, l := range [][2]string{{"pay, nobody else", ourIdle}, {"pay, while 1,000 duplicates of another wait", ourCrowd}} {
		t.row(l[0], strconv.Itoa(besideClients), "–", number(f.median(l[1], besideClients, rate)), "–",
			number(f.median(l[1], besideClients, p50)), number(f.median(l[1], besideClients, p99)))
	}
	return t
}

func (b *bench) inboxTable() *table {
	f := b.figures
	t := newTable("**While the inbox grows, at 64 clients**", "events there", "webhooks/s", "with an empty inbox", "ratio", "p99 ms", "database µs", "WAL bytes")
	for _, size := range b.opts.sizes() {
		t.row(thousands(int64(size)), number(f.median(ourInbox, size, rate)), number(f.median(ourEmpty, size, rate)),
			number(f.ratio(ourInbox, size, ourEmpty, size)), number(f.median(ourInbox, size, p99)),
			number(f.median(ourInbox, size, databaseCPU)), number(f.median(ourInbox, size, walBytes)))
	}
	return t
}

func (b *bench) targetsTable() *table {
	f := b.figures
	t := newTable("**Targets**", "target", "at least", "measured", "met")
	least := func(name string, want, got float64) {
		met := "no"
		if got >= want {
			met = "yes"
		}
		if !math.IsNaN(got) {
			t.row(name, number(want), number(got), met)
		}
	}
	least("64 clients: × pgbench's transaction", 3, f.ratio(ourHooks, 64, pgTransaction, 64))
	least("64 clients: × pgbench's single statement", 1.3, f.ratio(ourHooks, 64, pgStatement, 64))
	least("1 client: × pgbench's transaction", 0.9, f.ratio(ourHooks, 1, pgTransaction, 1))
	least("64 clients: 25 ms / p99", 1, 25/f.median(ourHooks, 64, p99))
	least("open loop: share answered within a second", 0.99, f.median(ourOpen, 0, held))
	least("30 % repeated: × none repeated", 1, f.ratio(ourRepeats, 64, ourHooks, 64))
	least("pays, 64 clients: × pgbench's two transactions", 2, f.ratio(ourPays, 64, pgPay, 64))
	least("pays of others: p99 idle × 2 / p99 beside 1,000 duplicates", 1,
		2*f.median(ourIdle, besideClients, p99)/f.median(ourCrowd, besideClients, p99))
	least("replays: × pgbench's SELECT by key", 0.5, f.ratio(ourReplays, 64, pgKey, 64))
	least("inbox of "+thousands(int64(b.opts.inbox))+" events: × an empty one", 0.9, f.ratio(ourInbox, b.opts.inbox, ourEmpty, b.opts.inbox))
	least("beside foreign events, 64 clients: × our webhooks alone", 0.9, f.ratio(ourForeignArriving, 64, ourForeignNone, 64))
	least("beside foreign events: p99 of our webhooks alone / p99", 0.9, median(f.ratios(figure{ourForeignNone, 0, p99}, figure{ourForeignArriving, 0, p99})))
	least(fmt.Sprintf("beside foreign events, %d clients: × our pays alone", foreignPayers), 0.9, f.ratio(ourForeignArriving, foreignPayers, ourForeignNone, foreignPayers))
	least("events delivered and read, 64 clients: × webhooks alone", 0.9, f.ratio(ourTold, 64, ourUntold, 64))
	least("waiting: 20 KiB / memory for each", 1, 20<<10/f.median(ourWaiters, 0, waiterBytes))
	least("waiting: 1 / connections that listen", 1, 1/f.median(ourWaiters, 0, connections))
	least("waiting: 2 × p99 of the acknowledgements / p99 until told", 1, 2*f.median(ourWaiters, 0, p99)/f.median(ourWakes, 0, p99))
	least("waiting: 150 ms / all told who wait for one attempt", 1, 150/f.median(ourWaiters, 0, allTold))
	return t
}
