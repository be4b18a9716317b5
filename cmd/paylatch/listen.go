package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"time"

	"github.com/paylatch/paylatch/client"
	"github.com/paylatch/paylatch/internal/events/endpoint"
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

// Run forwards events until it is interrupted.
func (c *listenCmd) Run(ctx context.Context, a *app) error {
	if err := c.complete(a); err != nil {
		return err
	}
	feed, err := client.New(c.API, c.Token, client.Options{})
	if err != nil {
		return usageError{err}
	}
	// The laptop's own addresses are private ones.
	to, err := endpoint.NewClient(endpoint.Endpoint{Name: "listen", URL: c.ForwardTo, Secrets: []string{c.Secret}, AllowPrivate: true},
		endpoint.Options{Encode: encodeEvent, Now: now})
	if err != nil {
		return usageError{fmt.Errorf("--secret: %w", err)}
	}
	defer to.Close()
	return forwardEvents(ctx, forwardOptions{
		Feed: feed, To: to, After: c.After, Types: c.Types, Out: a.stdout,
		Begun: func() {
			_, _ = fmt.Fprintf(a.stdout, "Events of %s go to %s, signed with %s. Stop with Ctrl-C.\n", c.API, c.ForwardTo, c.Secret)
		},
	})
}

// complete fills in missing flags from the configuration.
func (c *listenCmd) complete(a *app) error {
	if c.Secret == "" {
		key := make([]byte, 24) // the minimum of Standard Webhooks
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
