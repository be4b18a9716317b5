package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// figures holds the values of each round, by figure.
type figures map[figure][]float64

// figure names a value: the measured series, the number of clients, and the unit.
type figure struct {
	series  string
	clients int
	what    string
}

// The series.
const (
	pgTransaction      = "pgbench, one transaction"
	pgStatement        = "pgbench, one statement"
	pgPay              = "pgbench, two transactions"
	pgKey              = "pgbench, SELECT of a key"
	pgAttempt          = "pgbench, SELECT of an attempt"
	ourHooks           = "paylatch, webhooks"
	ourRepeats         = "paylatch, 30 % repeated"
	ourOpen            = "paylatch, open loop"
	ourPays            = "paylatch, pays"
	ourReplays         = "paylatch, replays"
	ourReads           = "paylatch, status reads"
	ourInbox           = "paylatch, inbox of"
	ourEmpty           = "paylatch, beside"
	ourForeignNone     = "our webhooks alone"
	ourForeignStored   = "foreign ones stored"
	ourForeignArriving = "foreign ones tried and arriving"
	ourUntold          = "webhooks, their events read by nobody"
	ourTold            = "webhooks, their events delivered and read"
	ourIdle            = "paylatch, pays of others, idle"
	ourCrowd           = "paylatch, pays of others, crowd"
	ourWaiters         = "paylatch, waiters"
	ourWakes           = "paylatch, waiters told"
)

// The values of a series.
const (
	rate        = "/s"
	p50         = "p50 ms"
	p99         = "p99 ms"
	held        = "held"
	serverCPU   = "server µs"
	databaseCPU = "database µs"
	walBytes    = "WAL bytes"
	allocations = "allocations"
	perCommit   = "a commit"
	waiterBytes = "bytes a waiter"
	connections = "connections"
	allTold     = "all told ms"
)

func (f figures) add(series string, clients int, what string, value float64) {
	k := figure{series, clients, what}
	f[k] = append(f[k], value)
}

// usage adds the resources used for n pieces of work.
func (f figures) usage(series string, clients int, u usage, n int64) {
	per := 1 / float64(max(n, 1))
	f.add(series, clients, serverCPU, float64(u.server.Microseconds())*per)
	f.add(series, clients, databaseCPU, float64(u.database.Microseconds())*per)
	f.add(series, clients, walBytes, float64(u.wal)*per)
	f.add(series, clients, allocations, u.mallocs*per)
}

// median returns NaN for a figure that was not measured.
func (f figures) median(series string, clients int, what string) float64 {
	return median(f[figure{series, clients, what}])
}

func median(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

// ratio is the median of the ratios of two series' rates, round by round.
func (f figures) ratio(series string, clients int, to string, toClients int) float64 {
	return median(f.ratios(figure{series, clients, rate}, figure{to, toClients, rate}))
}

// ratios returns the ratios of two figures, round by round.
func (f figures) ratios(of, to figure) (ratios []float64) {
	a, b := f[of], f[to]
	for i := range min(len(a), len(b)) {
		ratios = append(ratios, a[i]/b[i])
	}
	return ratios
}

// spread is the least and the largest of some values.
func spread(values []float64) string {
	if len(values) == 0 {
		return "–"
	}
	return number(slices.Min(values)) + "–" + number(slices.Max(values))
}

// number writes at least three digits, and a dash for an unknown value.
func number(v float64) string {
	switch {
	case math.IsNaN(v):
		return "–"
	case math.Abs(v) >= 1000:
		return thousands(int64(math.Round(v)))
	case math.Abs(v) >= 100:
		return fmt.Sprintf("%.0f", v)
	case math.Abs(v) >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

func thousands(n int64) string {
	if n < 1000 {
		return strconv.FormatInt(n, 10)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}
