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
	"time"

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

// pgbenchResult is the parsed result of pgbench.
type pgbenchResult struct {
	// done counts all its transactions, warm the transactions after its first second; rate and latency are of the latter.
	done, warm int64
	rate       float64
	// latency is of a share of them, in microseconds.
	latency *hdrhistogram.Histogram
}

// pgbenchTime is how long pgbench runs for a window, the time ahead of it included. pgbench may end before it has reported its
// last second, so the window has at least two.
func pgbenchTime(window time.Duration) time.Duration {
	return ahead + max(window.Truncate(time.Second), 2*time.Second)
}

// pgbenchOutput collects the output of pgbench. It calls warmed when the first second is over.
type pgbenchOutput struct {
	text   []byte
	warmed func() error
	since  time.Time
}

// Write implements io.Writer.
func (o *pgbenchOutput) Write(p []byte) (int, error) {
	o.text = append(o.text, p...)
	if !o.since.IsZero() || !bytes.Contains(o.text, []byte("progress: ")) {
		return len(p), nil
	}
	o.since = now()
	return len(p), o.warmed()
}

// pgbenchShare is the share of its transactions that pgbench logs: writing a line
// for each would slow it down.
const pgbenchShare = "0.2"

// pgbench runs a script for the window, with prepared statements, its fastest mode. It calls warmed when the measured time
// begins.
func (r *rig) pgbench(ctx context.Context, d *database, p pgbenchRun, warmed func() error) (pgbenchResult, error) {
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
		"-T", strconv.Itoa(int(pgbenchTime(r.opts.window).Seconds())), "-P", "1", "-f", r.script(p.script),
		"-l", "--sampling-rate="+pgbenchShare, "--log-prefix="+filepath.Join(logs, "log"),
		"-D", "n=-1", "-D", "clients="+strconv.Itoa(p.clients), "-D", "base="+strconv.Itoa(p.base), "-D", "span="+strconv.Itoa(p.span), d.url)
	said := &pgbenchOutput{warmed: warmed}
	cmd.Stdout, cmd.Stderr = said, said
	err = cmd.Run()
	if bytes.Contains(said.text, []byte("expected one row, got 0")) {
		return pgbenchResult{}, errRanOut
	}
	if err != nil {
		return pgbenchResult{}, fmt.Errorf("pgbench %s: %w: %s", p.script, err, said.text)
	}
	result, err := readPgbench(said.text)
	if err != nil {
		return result, err
	}
	result.latency, err = readPgbenchLogs(os.DirFS(logs), said.since)
	return result, err
}

var (
	errPgbench = errors.New("pgbench says something unexpected")
	// errRanOut is returned if a client has used up its prepared rows.
	errRanOut = errors.New("pgbench needs more rows")
)

// readPgbench reads the number of transactions of pgbench, and the rate per second after its first second.
func readPgbench(said []byte) (pgbenchResult, error) {
	done := regexp.MustCompile(`actually processed: (\d+)`).FindSubmatch(said)
	failed := regexp.MustCompile(`failed transactions: (\d+)`).FindSubmatch(said)
	seconds := regexp.MustCompile(`progress: ([0-9.]+) s, ([0-9.]+) tps`).FindAllSubmatch(said, -1)
	if done == nil || len(seconds) < 2 || failed != nil && string(failed[1]) != "0" {
		return pgbenchResult{}, fmt.Errorf("%w: %s", errPgbench, said)
	}
	n, err := strconv.ParseInt(string(done[1]), 10, 64)
	r := pgbenchResult{done: n, warm: n}
	var from, counted, took float64
	for i, second := range seconds {
		at, errAt := strconv.ParseFloat(string(second[1]), 64)
		tps, errTPS := strconv.ParseFloat(string(second[2]), 64)
		err = errors.Join(err, errAt, errTPS)
		if i == 0 {
			r.warm -= int64(tps * at)
		} else {
			counted, took = counted+tps*(at-from), took+at-from
		}
		from = at
	}
	r.rate = counted / took
	return r, err
}

// readPgbenchLogs reads the latencies of all threads' transactions that ended after some time. A line of a log has the client,
// the transaction's number, its duration in microseconds, the script, and its end in seconds since 1970 and microseconds.
// https://www.postgresql.org/docs/current/pgbench.html#PGBENCH-LOG-FORMAT
func readPgbenchLogs(dir fs.FS, after time.Time) (*hdrhistogram.Histogram, error) {
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
			var client, number, took, script, seconds, micros int64
			if _, err := fmt.Sscan(line, &client, &number, &took, &script, &seconds, &micros); err != nil {
				return fmt.Errorf("%w: %s: %q: %w", errPgbench, name, line, err)
			}
			if time.Unix(seconds, micros*1000).After(after) {
				_ = h.RecordValue(took)
			}
		}
		return nil
	})
	return h, err //nolint:wrapcheck // says all there is
}
