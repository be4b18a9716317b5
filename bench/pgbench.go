package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
)

// pgbenchRun is one run of one script.
type pgbenchRun struct {
	script  string
	clients int
	// base is the number of the first attempt or order that the script may touch,
	// span how many there are for scripts that choose among them.
	base, span int
}

// pgbenchResult is what pgbench says.
type pgbenchResult struct {
	rate float64
	done int64
}

// pgbench runs a script for the window, with prepared statements: its best.
func (r *rig) pgbench(ctx context.Context, d *database, p pgbenchRun) (pgbenchResult, error) {
	bin, err := r.tool("pgbench")
	if err != nil {
		return pgbenchResult{}, err
	}
	cmd := exec.CommandContext(ctx, bin, "-n", "-M", "prepared", //nolint:gosec // our own arguments
		"-c", strconv.Itoa(p.clients), "-j", strconv.Itoa(min(p.clients, runtime.NumCPU())),
		"-T", strconv.Itoa(max(1, int(r.opts.window.Seconds()))), "-f", r.script(p.script),
		"-D", "n=-1", "-D", "clients="+strconv.Itoa(p.clients), "-D", "base="+strconv.Itoa(p.base), "-D", "span="+strconv.Itoa(p.span), d.url)
	said, err := cmd.CombinedOutput()
	if bytes.Contains(said, []byte("expected one row, got 0")) {
		return pgbenchResult{}, errRanOut
	}
	if err != nil {
		return pgbenchResult{}, fmt.Errorf("pgbench %s: %w: %s", p.script, err, said)
	}
	return readPgbench(said)
}

var (
	errPgbench = errors.New("pgbench says something unexpected")
	// errRanOut says that a client has used all that was prepared for it.
	errRanOut = errors.New("pgbench needs more rows")
)

func readPgbench(said []byte) (pgbenchResult, error) {
	done := regexp.MustCompile(`actually processed: (\d+)`).FindSubmatch(said)
	failed := regexp.MustCompile(`failed transactions: (\d+)`).FindSubmatch(said)
	rate := regexp.MustCompile(`tps = ([0-9.]+)`).FindSubmatch(said)
	if done == nil || rate == nil || failed != nil && string(failed[1]) != "0" {
		return pgbenchResult{}, fmt.Errorf("%w: %s", errPgbench, said)
	}
	n, errN := strconv.ParseInt(string(done[1]), 10, 64)
	tps, errTPS := strconv.ParseFloat(string(rate[1]), 64)
	return pgbenchResult{tps, n}, errors.Join(errN, errTPS)
}
