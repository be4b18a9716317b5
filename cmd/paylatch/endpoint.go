package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/google/uuid"
	"github.com/rs/zerolog"

	"github.com/paylatch/paylatch/internal/api/render"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/events/endpoint"
	"github.com/paylatch/paylatch/internal/events/outbox"
	"github.com/paylatch/paylatch/internal/platform/terminal"
)

type endpointCmd struct {
	List      endpointListCmd      `cmd:"" help:"List the endpoints and the state of their deliveries."`
	Test      endpointTestCmd      `cmd:"" help:"Send a test event from this machine. Exit code 1 if the endpoint does not accept it."`
	Redeliver endpointRedeliverCmd `cmd:"" help:"Deliver events again."`
}

// withEndpoints calls do with the endpoints of the configuration, written into the audit log as an action on one of them.
func withEndpoints(ctx context.Context, a *app, action support.Action, name string, do func(d desk, e *endpoint.Service) error) error {
	return withDesk(ctx, a, func(d desk) error {
		head := &outbox.Head{}
		e, err := newEndpoints(d.cfg, d.store, outbox.NewFeed(d.store, head), head, func(string, int64) {}, now, zerolog.Nop())
		if err != nil {
			return err
		}
		return d.Watch(ctx, d.who, action, "endpoint", name, func() error { return do(d, e) })
	})
}

type endpointListCmd struct {
	JSON bool `help:"Print the API's response."`
}

// Run lists the endpoints.
func (c *endpointListCmd) Run(ctx context.Context, a *app) error {
	return withEndpoints(ctx, a, support.ViewedEndpoints, "", func(d desk, e *endpoint.Service) error {
		return c.print(ctx, d, e)
	})
}

func (c *endpointListCmd) print(ctx context.Context, d desk, e *endpoint.Service) error {
	list, err := e.List(ctx)
	if err != nil {
		return err
	}
	if c.JSON {
		return terminal.JSON(d.out, render.Endpoints(list))
	}
	if len(list) == 0 {
		_, err := fmt.Fprintln(d.out, "No endpoint is configured, or the service has not run with an endpoint yet.")
		return err //nolint:wrapcheck // the error is complete
	}
	w := tabwriter.NewWriter(d.out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "ENDPOINT\tHOST\tSTATE\tBEHIND\tRETRIES\tDEAD\tOLDEST UNDELIVERED (UTC)\tLAST SUCCESS (UTC)\tLAST FAILURE (UTC)\tWHY")
	for _, s := range list {
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%d\t%d\t%s\t%s\t%s\t%s\n", s.Name, terminal.Visible(s.Host), s.State, s.Behind, s.Retries, s.Dead,
			stampOrNone(&s.Oldest), stampOrNone(s.LastSuccess), stampOrNone(s.LastFailure), terminal.Visible(s.LastError))
	}
	return w.Flush() //nolint:wrapcheck // the error is complete
}

func stampOrNone(t *time.Time) string {
	if t == nil || t.IsZero() {
		return "-"
	}
	return terminal.Time(*t)
}

type endpointTestCmd struct {
	Name string `arg:"" help:"The endpoint's name."`
	JSON bool   `help:"Print the API's response."`
}

var errNotDelivered = errors.New("the endpoint did not accept the test event")

// Run sends a test event.
func (c *endpointTestCmd) Run(ctx context.Context, a *app) error {
	return withEndpoints(ctx, a, support.TestedEndpoint, c.Name, func(d desk, e *endpoint.Service) error {
		attempt, err := e.Test(ctx, c.Name)
		if err != nil {
			return err
		}
		what := "accepted with " + strconv.Itoa(attempt.Status)
		if attempt.Error != "" {
			what = terminal.Visible(attempt.Error)
		}
		if c.JSON {
			err = terminal.JSON(d.out, render.Delivery(attempt))
		} else {
			_, err = fmt.Fprintf(d.out, "Event %s, after %s: %s\n", attempt.EventID, attempt.Took.Round(time.Millisecond), what)
		}
		if err == nil && attempt.Error != "" {
			err = errNotDelivered
		}
		return err
	})
}

type endpointRedeliverCmd struct {
	Name  string      `arg:"" help:"The endpoint's name."`
	After *string     `xor:"what" required:"" placeholder:"CURSOR" help:"Redeliver all events after this cursor of the feed; \"\" for all stored events."`
	ID    []uuid.UUID `xor:"what" required:"" help:"Redeliver the events with these ids, separated by commas. paylatch must have sent these events to the endpoint before."`
	JSON  bool        `help:"Print the API's response."`
}

// Run has events delivered again.
func (c *endpointRedeliverCmd) Run(ctx context.Context, a *app) error {
	return withEndpoints(ctx, a, support.Redelivered, c.Name, func(d desk, e *endpoint.Service) error {
		if err := c.redeliver(ctx, e); err != nil {
			return err
		}
		return (&endpointListCmd{JSON: c.JSON}).print(ctx, d, e)
	})
}

func (c *endpointRedeliverCmd) redeliver(ctx context.Context, e *endpoint.Service) error {
	if c.After == nil {
		return e.RedeliverEvents(ctx, c.Name, c.ID)
	}
	cursor, err := outbox.ParseCursor(*c.After)
	if err != nil {
		return usageError{err}
	}
	return e.RedeliverAfter(ctx, c.Name, cursor)
}
