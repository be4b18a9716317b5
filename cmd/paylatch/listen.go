package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/paylatch/paylatch/client"
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

const (
	// forwardTime bounds one delivery.
	forwardTime = 15 * time.Second
	// listenTokenLife is how long the token that is made here reads the feed.
	listenTokenLife = 24 * time.Hour
)

// Run forwards events until it is interrupted. What is not accepted is not sent again.
func (c *listenCmd) Run(ctx context.Context, a *app) error {
	if err := c.complete(a); err != nil {
		return err
	}
	feed, err := client.New(c.API, c.Token, client.Options{})
	if err != nil {
		return usageError{err}
	}
	signer, err := standardwebhooks.NewWebhook(c.Secret)
	if err != nil {
		return usageError{fmt.Errorf("--secret: %w", err)}
	}
	if c.After == "" {
		if c.After, err = last(ctx, feed); err != nil {
			return err
		}
	}
	_, _ = fmt.Fprintf(a.stdout, "Events of %s go to %s, signed with %s. Stop with Ctrl-C.\n", c.API, c.ForwardTo, c.Secret)
	forward := &http.Client{Timeout: forwardTime, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for e, err := range feed.Events(ctx, c.After, client.Feed{Types: c.Types}) {
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		}
		began := time.Now()
		result := c.forward(ctx, forward, signer, e.Event)
		_, _ = fmt.Fprintf(a.stdout, "%s  %s  %s  version %d  → %s, %d ms\n", e.CreatedAt.Format(time.TimeOnly), e.Type, visible(e.Subject), e.Version,
			result, time.Since(began).Milliseconds())
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

// forward posts an event as an endpoint gets it, and returns what came of it.
func (c *listenCmd) forward(ctx context.Context, forward *http.Client, signer *standardwebhooks.Webhook, e client.Event) string {
	body, err := json.Marshal(e)
	if err != nil {
		return err.Error()
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.ForwardTo, bytes.NewReader(body))
	if err != nil {
		return err.Error()
	}
	now := time.Now()
	signature, err := signer.Sign(e.ID, now, body)
	if err != nil {
		return err.Error()
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set(standardwebhooks.HeaderWebhookID, e.ID)
	r.Header.Set(standardwebhooks.HeaderWebhookTimestamp, strconv.FormatInt(now.Unix(), 10))
	r.Header.Set(standardwebhooks.HeaderWebhookSignature, signature)
	res, err := forward.Do(r)
	if err != nil {
		return visible(err.Error())
	}
	_ = res.Body.Close()
	return res.Status
}
