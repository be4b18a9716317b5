package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"net/http"
	"time"

	"github.com/paylatch/paylatch/client"
	"github.com/paylatch/paylatch/internal/events/endpoint"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/server"
)

type listenCmd struct {
	ForwardTo string   `required:"" placeholder:"URL" help:"Post each event to this URL."`
	API       string   `name:"api" placeholder:"URL" help:"The address of paylatch. Default: the configured listen on this machine, by https if tls is configured."`
	Token     string   `env:"PAYLATCH_TOKEN" placeholder:"TOKEN" help:"A token with the role service. Default: a new token, made with the configured key."`
	Secret    string   `placeholder:"WHSEC" help:"The secret that signs the deliveries (whsec_…). Default: a new secret, which is printed."`
	After     string   `placeholder:"CURSOR" help:"Start after this cursor of the feed. Default: start with new events."`
	Types     []string `placeholder:"TYPE" help:"Forward only events of these types, separated by commas."`
}

// listenTokenLife is how long the token that is made here reads the feed.
const listenTokenLife = 24 * time.Hour

// Run forwards events until it is interrupted.
func (c *listenCmd) Run(ctx context.Context, a *app) error {
	own, err := c.complete(a)
	if err != nil {
		return err
	}
	feed, err := client.New(c.API, c.Token, client.Options{HTTP: own})
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

// complete fills in missing flags from the configuration. It returns the HTTP client of the configured service, or nil for the default.
func (c *listenCmd) complete(a *app) (own *http.Client, err error) {
	if c.Secret == "" {
		key := make([]byte, 24) // the minimum of Standard Webhooks
		_, _ = rand.Read(key)
		c.Secret = "whsec_" + base64.StdEncoding.EncodeToString(key)
	}
	if c.API != "" && c.Token != "" {
		return nil, nil //nolint:nilnil // nil is the default
	}
	cfg, err := a.read()
	if err != nil {
		return nil, err
	}
	if c.API == "" {
		c.API = server.At(cfg.Listen, cfg.TLS.Set())
		if own, err = server.Pinned(cfg.TLS.CertFile); err != nil {
			return nil, err
		}
	}
	if c.Token == "" {
		c.Token, err = mint(cfg, "paylatch-listen", []payment.Role{payment.RoleService}, listenTokenLife)
	}
	return own, err
}
