package main

import (
	"context"
	"fmt"

	"github.com/paylatch/paylatch/internal/ledger/backfill"
)

type backfillCmd struct {
	Account string `required:"" placeholder:"NAME" help:"The configured account to import events for."`
	Since   string `required:"" placeholder:"AGO" help:"The start: an age such as 2d or 36h, a date (in UTC), or a time such as 2026-03-01T09:30:00Z."`
	Until   string `placeholder:"AGO" help:"The end, in the same form. Default: now."`
}

// Run imports the payments that the provider lists. Progress goes to stderr, the totals to stdout.
func (c *backfillCmd) Run(ctx context.Context, a *app) error {
	span, err := backfill.ParseSpan(c.Since, c.Until, now())
	if err != nil {
		return usageError{err}
	}
	return withRooms(ctx, a, func(b beside) error {
		account, configured := b.used.Charged.Find(c.Account)
		if !configured {
			return usageError{fmt.Errorf("--account: %q is not configured", c.Account)}
		}
		count, err := backfill.Run(ctx, backfill.Options{
			Account: c.Account, Span: span, Events: account.Events, Reader: b.used.Readers.Get(c.Account), Now: now,
			Take:     b.useCases.Inbox.Inbox.Intake, // without notes: a listed event is no delivery that came again
			Progress: backfill.Reporter(now, func(line string) { _, _ = fmt.Fprintln(a.stderr, line) }),
		})
		_, _ = fmt.Fprintln(a.stdout, count)
		if err != nil {
			return fmt.Errorf("account %s: %w", c.Account, err)
		}
		return nil
	})
}
