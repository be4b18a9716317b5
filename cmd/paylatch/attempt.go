package main

import (
	"context"
	"fmt"
	"text/tabwriter"

	"github.com/paylatch/paylatch/internal/api/render"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/terminal"
)

type attemptCmd struct {
	Show    attemptShowCmd    `cmd:"" help:"Show a payment attempt and its timeline."`
	Recheck attemptRecheckCmd `cmd:"" help:"Look up a payment attempt at its provider now, even if it is final."`
}

type attemptShowCmd struct {
	ID   string `arg:"" help:"The payment attempt's id."`
	JSON bool   `help:"Print the API's response."`
}

// Run shows an attempt: a summary to read to the customer, and the timeline.
func (c *attemptShowCmd) Run(ctx context.Context, a *app) error {
	id, err := payment.ParseAttemptID(c.ID)
	if err != nil {
		return usageError{err}
	}
	return withDesk(ctx, a, func(d desk) error {
		page, err := d.Attempt(ctx, d.who, id)
		if err != nil {
			return err
		}
		if c.JSON {
			return terminal.JSON(d.out, render.New(now, 0).SupportAttempt(page))
		}
		_, _ = fmt.Fprintf(d.out, "%s\n\n", terminal.Visible(page.Summary))
		w := tabwriter.NewWriter(d.out, 0, 0, 2, ' ', 0)
		for _, row := range [][2]string{
			{"attempt", page.ID.String()},
			{"order", string(page.OrderID)},
			{"user", string(page.UserID)},
			{"account", page.Account},
			{"at the provider", page.ProviderPaymentID},
			{"state", string(page.State)},
			{"amount", page.Money.String()},
		} {
			_, _ = fmt.Fprintf(w, "%s\t%s\n", row[0], terminal.Visible(row[1]))
		}
		_, _ = fmt.Fprintln(w, "\nAT (UTC)\tWHAT\tWHO\tTEXT")
		for _, e := range page.Timeline {
			_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", terminal.Time(e.At), e.Kind, terminal.Visible(e.Actor), terminal.Visible(e.Text))
		}
		return w.Flush()
	})
}

type attemptRecheckCmd struct {
	ID     string `arg:"" help:"The payment attempt's id."`
	Reason string `required:"" help:"The reason, for the audit log."`
}

// Run looks an attempt up and prints its state.
func (c *attemptRecheckCmd) Run(ctx context.Context, a *app) error {
	id, err := payment.ParseAttemptID(c.ID)
	if err != nil {
		return usageError{err}
	}
	return withDesk(ctx, a, func(d desk) error {
		v, err := d.Recheck(ctx, d.who, id, c.Reason)
		if err != nil {
			return err
		}
		_, _ = fmt.Fprintf(d.out, "Attempt %s of order %s is now %s.\n", v.ID, v.OrderID, v.State)
		return nil
	})
}
