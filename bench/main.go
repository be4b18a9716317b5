// Command bench measures paylatch beside pgbench. Both do the same durable work, on the same tables, in the same
// server, in turns.
//
// It starts a private PostgreSQL with default settings, migrates it, and runs the real program, `paylatch serve`, as a process
// of its own, with its log in a file and its metrics on. Each round begins with empty databases: one for paylatch, one for
// pgbench. A figure is the median of the rounds, a ratio the median of the ratios within a round, so that other load of the
// machine affects both sides. After each stage the rows are counted: every acknowledged webhook must be on disk and applied, and
// every pay charged once. A figure without this proof is not reported.
//
//	make bench ARGS='-rounds 5 -seconds 5'    everything; writes the tables of docs/explanation/performance.md
//	make bench ARGS=-quick                    a smoke run, about a minute; writes nothing
//	make bench ARGS='-profile DIR'            where the time goes: pprof files, statements, WAL by table
//	make profile                              the profile by which the compiler optimizes the program, cmd/paylatch/default.pgo
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	// SIGPIPE is among them so that `make bench | head` leaves no server behind.
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGPIPE)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) (err error) {
	opts, err := parse(args)
	if err != nil {
		return err
	}
	r, err := newRig(ctx, opts, out)
	if err != nil {
		return err
	}
	defer func() {
		if closed := r.close(); err == nil {
			err = closed
		}
	}()
	if opts.pgo != "" {
		return r.pgo(ctx)
	}
	if opts.profile != "" {
		return r.profile(ctx)
	}
	if opts.sizing {
		return r.sizing(ctx)
	}
	b := &bench{rig: r, figures: figures{}}
	if err := b.measure(ctx); err != nil {
		return err
	}
	return b.publish(ctx, args)
}
