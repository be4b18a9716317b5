package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/ledger/reconcile"
	"github.com/paylatch/paylatch/internal/setup/config"
)

type reconcileCmd struct {
	Account  string `required:"" placeholder:"NAME" help:"The configured account."`
	From     string `required:"" placeholder:"TIME" help:"The start: a date (in UTC) or an RFC 3339 time."`
	To       string `required:"" placeholder:"TIME" help:"The end, in the same form; the end itself is not part of the period."`
	File     string `placeholder:"FILE" help:"Read the provider's statement from this file instead of calling its API."`
	Compared string `placeholder:"REASON" help:"Compare nothing. Record that a person has compared the period, and how. This ends the wait of an account after a restore."`
	JSON     bool   `name:"json" help:"Print one JSON object instead of lines."`
}

// Run reconciles a span. Findings and the sum go to the output, the progress to the errors.
func (c *reconcileCmd) Run(ctx context.Context, a *app) error {
	span, err := reconcile.ParseSpan(c.From, c.To, now())
	if err != nil {
		return usageError{err}
	}
	return withRooms(ctx, a, func(b beside) error {
		if !slices.ContainsFunc(b.cfg.Accounts, func(a config.Account) bool { return a.Name == c.Account }) {
			return usageError{fmt.Errorf("--account: %q is not configured", c.Account)}
		}
		p := &reconcile.Printer{Out: a.stdout, Err: a.stderr, JSON: c.JSON, Now: now}
		q := reconcile.Request{Account: c.Account, Span: span, By: support.Operator().Subject, Progress: p.Progress, Found: p.Found}
		r := b.useCases.reconciler(b.store)
		if c.Compared != "" {
			return r.Compared(ctx, q, c.Compared)
		}
		if c.File != "" {
			file, err := os.Open(c.File)
			if err != nil {
				return usageError{err}
			}
			defer func() { _ = file.Close() }()
			q.File = file
		}
		if err := r.Check(q); err != nil {
			return usageError{err}
		}
		if q.Span, err = r.Readable(q); err != nil {
			return err
		}
		if q.Span.To.Before(span.To) {
			_, _ = fmt.Fprintf(a.stderr, "The books may lack entries after %s: the run ends there. Run the command again later for the rest.\n", q.Span.To.UTC().Format(time.RFC3339))
		}
		count, err := r.Run(ctx, q)
		return errors.Join(p.Sum(count), err)
	})
}
