package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/client"
	"github.com/paylatch/paylatch/internal/events/endpoint"
	"github.com/paylatch/paylatch/internal/events/outbox"
	"github.com/paylatch/paylatch/internal/platform/terminal"
)

// forwardEvents posts the events of a merchant's feed to a program on this machine, as deliveries to an endpoint.

// forwardOptions are what is forwarded, and where to.
type forwardOptions struct {
	Feed *client.Client
	To   *endpoint.Client
	// After is the cursor behind which it begins; empty for what happens from now on.
	After string
	// Types are those of the events that are forwarded; none means all.
	Types []string
	// Out gets a line for each event.
	Out io.Writer
	// Begun is called before the first event.
	Begun func()
}

// forwardEvents forwards events until ctx ends. What is not accepted is not sent again.
func forwardEvents(ctx context.Context, o forwardOptions) (err error) {
	if o.After == "" {
		if o.After, err = last(ctx, o.Feed); err != nil {
			return err
		}
	}
	o.Begun()
	for e, err := range o.Feed.Events(ctx, o.After, client.Feed{Types: o.Types}) {
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		}
		delivery, err := event(e.Event)
		if err != nil {
			return err
		}
		sent, _ := o.To.Send(ctx, delivery)
		_, _ = fmt.Fprintf(o.Out, "%s  %s  %s  version %d  → %s, %d ms\n", e.CreatedAt.Format(time.TimeOnly), e.Type, terminal.Visible(e.Subject), e.Version,
			result(sent), sent.Took.Milliseconds())
	}
	return nil
}

// last is the cursor behind all that has happened.
func last(ctx context.Context, feed *client.Client) (cursor string, err error) {
	for e, err := range feed.Events(ctx, "", client.Feed{Limit: 1000, Wait: -1}) {
		if err != nil {
			return "", err
		}
		cursor = e.Cursor
	}
	return cursor, nil
}

// event is an event of the feed as an endpoint's client takes it.
func event(e client.Event) (outbox.Event, error) {
	id, err := uuid.Parse(e.ID)
	if err != nil {
		return outbox.Event{}, fmt.Errorf("event %s: %w", terminal.Visible(e.ID), err)
	}
	return outbox.Event{ID: id, Type: e.Type, Subject: e.Subject, Version: e.Version, Payload: e.Data, CreatedAt: e.CreatedAt}, nil
}

// result is the status of a response, or the error.
func result(a endpoint.Attempt) string {
	if a.Error != "" {
		return terminal.Visible(a.Error)
	}
	return strconv.Itoa(a.Status)
}
