package main

import (
	"context"
	"encoding/json"
	"fmt"
	"text/tabwriter"

	"github.com/paylatch/paylatch/internal/api/render"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/terminal"
)

type eventCmd struct {
	Show   eventShowCmd   `cmd:"" help:"Show a provider's event and the parts of its payload that are safe to show."`
	Replay eventReplayCmd `cmd:"" help:"Replay a stored event."`
}

type eventShowCmd struct {
	ID   string `arg:"" help:"The event's id."`
	JSON bool   `help:"Print the API's response."`
}

// Run shows an event.
func (c *eventShowCmd) Run(ctx context.Context, a *app) error {
	id, err := payment.ParseEventID(c.ID)
	if err != nil {
		return usageError{err}
	}
	return withDesk(ctx, a, func(d desk) error {
		e, err := d.Event(ctx, d.who, id)
		if err != nil {
			return err
		}
		page := render.SupportEvent(e)
		if c.JSON {
			return terminal.JSON(d.out, page)
		}
		payload, err := json.MarshalIndent(page.Payload, "", "  ")
		if err != nil {
			return fmt.Errorf("print: %w", err)
		}
		_, _ = fmt.Fprintf(d.out, "%s\n\n", terminal.Visible(page.Text))
		w := tabwriter.NewWriter(d.out, 0, 0, 2, ' ', 0)
		attempt := ""
		if page.PaymentAttemptID != nil {
			attempt = *page.PaymentAttemptID
		}
		for _, row := range [][2]string{
			{"event", page.EventID},
			{"at the provider", page.ProviderEventID},
			{"account", page.Account},
			{"type", page.Type},
			{"kind", page.Kind},
			{"verdict", page.Verdict},
			{"attempt", attempt},
			{"received", terminal.Time(e.ReceivedAt)},
		} {
			_, _ = fmt.Fprintf(w, "%s\t%s\n", row[0], terminal.Visible(row[1]))
		}
		if err := w.Flush(); err != nil {
			return fmt.Errorf("print: %w", err)
		}
		_, _ = fmt.Fprintf(d.out, "\n%s\n", payload)
		return nil
	})
}

type eventReplayCmd struct {
	ID     string `arg:"" help:"The event's id."`
	Reason string `required:"" help:"The reason, for the audit log."`
	DryRun bool   `help:"Print the effect without applying the event."`
	JSON   bool   `help:"Print the API's response."`
}

// Run applies an event again, or prints the effect that this would have.
func (c *eventReplayCmd) Run(ctx context.Context, a *app) error {
	id, err := payment.ParseEventID(c.ID)
	if err != nil {
		return usageError{err}
	}
	return withDesk(ctx, a, func(d desk) error {
		r, err := d.Replay(ctx, d.who, id, c.Reason, c.DryRun)
		if err != nil {
			return err
		}
		out := render.SupportReplayed(r, c.DryRun)
		if c.JSON {
			return terminal.JSON(d.out, out)
		}
		_, err = fmt.Fprintln(d.out, out.Text)
		return err //nolint:wrapcheck // the error is complete
	})
}
