package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"

	"github.com/HdrHistogram/hdrhistogram-go"
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
	// latency is of a share of its transactions, in microseconds.
	latency *hdrhistogram.Histogram
}

// pgbenchShare is the share of its transactions that pgbench logs: writing a line
// for each would slow it down.
const pgbenchShare = "0.2"

// pgbench runs a script for the window, with prepared statements: its best.
func (r *rig) pgbench(ctx context.Context, d *database, p pgbenchRun) (pgbenchResult, error) {
	bin, err := r.tool("pgbench")
	if err != nil {
		return pgbenchResult{}, err
	}
	logs, err := os.MkdirTemp(r.dir, "pgbench-")
	if err != nil {
		return pgbenchResult{}, fmt.Errorf("directory for logs: %w", err)
	}
	defer func() { _ = os.RemoveAll(logs) }()
	cmd := exec.CommandContext(ctx, bin, "-n", "-M", "prepared", //nolint:gosec // our own arguments
		"-c", strconv.Itoa(p.clients), "-j", strconv.Itoa(min(p.clients, runtime.NumCPU())),
		"-T", strconv.Itoa(max(1, int(r.opts.window.Seconds()))), "-f", r.script(p.script),
		"-l", "--sampling-rate="+pgbenchShare, "--log-prefix="+filepath.Join(logs, "log"),
		"-D", "n=-1", "-D", "clients="+strconv.Itoa(p.clients), "-D", "base="+strconv.Itoa(p.base), "-D", "span="+strconv.Itoa(p.span), d.url)
	said, err := cmd.CombinedOutput()
	if bytes.Contains(said, []byte("expected one row, got 0")) {
		return pgbenchResult{}, errRanOut
	}
	if err != nil {
		return pgbenchResult{}, fmt.Errorf("pgbench %s: %w: %s", p.script, err, said)
	}
	result, err := readPgbench(said)
	if err != nil {
		return result, err
	}
	result.latency, err = readPgbenchLogs(os.DirFS(logs))
	return result, err
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
	return pgbenchResult{rate: tps, done: n}, errors.Join(errN, errTPS)
}

// readPgbenchLogs reads what each thread logged: of each transaction the client,
// its number, the time that it took in microseconds, and more.
// https://www.postgresql.org/docs/current/pgbench.html#PGBENCH-LOG-FORMAT
func readPgbenchLogs(dir fs.FS) (*hdrhistogram.Histogram, error) {
	h := newHistogram()
	err := fs.WalkDir(dir, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(dir, name)
		if err != nil {
			return fmt.Errorf("read pgbench's log: %w", err)
		}
		for line := range strings.Lines(string(text)) {
			var client, number, took int64
			if _, err := fmt.Sscan(line, &client, &number, &took); err != nil {
				return fmt.Errorf("%w: %s: %q: %w", errPgbench, name, line, err)
			}
			_ = h.RecordValue(took)
		}
		return nil
	})
	return h, err //nolint:wrapcheck // says all there is
}
