package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/client"
	"github.com/paylatch/paylatch/internal/outbox"
	"github.com/paylatch/paylatch/internal/outbox/endpoint"
	"github.com/paylatch/paylatch/internal/payment"
)

type listenCmd struct {
	ForwardTo string   `required:"" placeholder:"URL" help:"Where each event is posted."`
	API       string   `name:"api" placeholder:"URL" help:"Where paylatch is. By default listen of the configuration, by http."`
	Token     string   `env:"PAYLATCH_TOKEN" placeholder:"TOKEN" help:"A token of the role service. By default one is made with the configuration's key."`
	Secret    string   `placeholder:"WHSEC" help:"What the deliveries are signed with (whsec_…). By default a new one, which is printed."`
	After     string   `placeholder:"CURSOR" help:"Begin behind this cursor of the feed. By default with what happens from now on."`
	Types     []string `placeholder:"TYPE" help:"Only events of these types, separated by commas."`
}

// listenTokenLife is how long the token that is made here reads the feed.
const listenTokenLife = 24 * time.Hour

// Run forwards events until it is interrupted. What is not accepted is not sent again.
func (c *listenCmd) Run(ctx context.Context, a *app) error {
	if err := c.complete(a); err != nil {
		return err
	}
	feed, err := client.New(c.API, c.Token, client.Options{})
	if err != nil {
		return usageError{err}
	}
	// The laptop's own addresses are private ones.
	forward, err := endpoint.NewClient(endpoint.Endpoint{Name: "listen", URL: c.ForwardTo, Secrets: []string{c.Secret}, AllowPrivate: true},
		endpoint.Options{Encode: encodeEvent, Now: time.Now})
	if err != nil {
		return usageError{fmt.Errorf("--secret: %w", err)}
	}
	defer forward.Close()
	if c.After == "" {
		if c.After, err = last(ctx, feed); err != nil {
			return err
		}
	}
	_, _ = fmt.Fprintf(a.stdout, "Events of %s go to %s, signed with %s. Stop with Ctrl-C.\n", c.API, c.ForwardTo, c.Secret)
	for e, err := range feed.Events(ctx, c.After, client.Feed{Types: c.Types}) {
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		}
		told, err := event(e.Event)
		if err != nil {
			return err
		}
		sent, _ := forward.Send(ctx, told)
		_, _ = fmt.Fprintf(a.stdout, "%s  %s  %s  version %d  → %s, %d ms\n", e.CreatedAt.Format(time.TimeOnly), e.Type, visible(e.Subject), e.Version,
			came(sent), sent.Took.Milliseconds())
	}
	return nil
}

// complete fills in what was left out, by the configuration.
func (c *listenCmd) complete(a *app) error {
	if c.Secret == "" {
		key := make([]byte, 24) // what Standard Webhooks asks for at least
		_, _ = rand.Read(key)
		c.Secret = "whsec_" + base64.StdEncoding.EncodeToString(key)
	}
	if c.API != "" && c.Token != "" {
		return nil
	}
	cfg, err := a.read()
	if err != nil {
		return err
	}
	if c.API == "" {
		c.API = "http://" + cfg.Listen
	}
	if c.Token == "" {
		c.Token, err = mint(cfg, "paylatch-listen", []payment.Role{payment.RoleService}, listenTokenLife)
	}
	return err
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
		return outbox.Event{}, fmt.Errorf("event %s: %w", visible(e.ID), err)
	}
	return outbox.Event{ID: id, Type: e.Type, Subject: e.Subject, Version: e.Version, Payload: e.Data, CreatedAt: e.CreatedAt}, nil
}

// came says what came of an attempt.
func came(a endpoint.Attempt) string {
	if a.Error != "" {
		return visible(a.Error)
	}
	return strconv.Itoa(a.Status)
}
