package conformance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/paylatch/paylatch/internal/platform/server"
	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/standard"
)

// Ask is the options of the command line.
type Ask struct {
	URL           string        `name:"url" required:"" placeholder:"URL" help:"The provider's address, below which /v1 is: one that moves no real money for the tokens below."`
	APIKey        string        `name:"api-key" env:"PROVIDER_API_KEY" placeholder:"KEY" help:"What calls bear; without it no check of credentials runs."`
	Listen        string        `placeholder:"HOST:PORT" help:"Where the provider's webhooks are taken for as long as the checks run; without it none is checked."`
	WebhookSecret string        `env:"PROVIDER_WEBHOOK_SECRET" placeholder:"whsec_…" help:"What the webhooks are signed with."`
	TokenSuccess  string        `name:"token-success" default:"tok_success" help:"A payment method that pays (${default})."`
	TokenDecline  string        `name:"token-decline" default:"tok_decline" help:"One that is declined (${default}); empty: there is none."`
	TokenRedirect string        `name:"token-redirect" default:"tok_redirect" help:"One whose customer is led to a page (${default}); empty: there is none."`
	Currency      string        `default:"EUR" help:"That of the charges (${default})."`
	Wait          time.Duration `default:"30s" help:"How long a charge that is under way, and webhooks, are waited for (${default})."`
	JSON          bool          `name:"json" help:"Print one JSON object instead of lines."`
}

// callTimeout bounds each call of the checks.
const callTimeout = 10 * time.Second

// Print runs the checks and prints each as it ends. It returns an error if one has failed.
func (c *Ask) Print(ctx context.Context, o Options, out io.Writer) error {
	p := &Printer{Out: out, JSON: c.JSON}
	if err := Run(ctx, o, p.Print); err != nil {
		return err
	}
	if err := p.Sum(); err != nil {
		return err
	}
	if n := p.Failed(); n > 0 {
		return fmt.Errorf("%d checks have failed", n)
	}
	return nil
}

// Options returns the options of the checks; its errors are usage errors.
func (c *Ask) Options(ctx context.Context, client *http.Client, now func() time.Time) (Options, error) {
	o := Options{
		URL: c.URL, APIKey: c.APIKey, Currency: c.Currency, Timeout: callTimeout, Wait: c.Wait, Client: client, Now: now,
		Tokens: Tokens{Success: c.TokenSuccess, Decline: c.TokenDecline, Redirect: c.TokenRedirect},
	}
	if u, err := url.Parse(c.URL); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return o, errors.New("--url must be an http or https address")
	}
	if c.Listen == "" {
		return o, nil
	}
	var err error
	if o.Verifier, err = standard.New(webhooks.Config{Secrets: []string{c.WebhookSecret}}); err != nil {
		return o, fmt.Errorf("--webhook-secret: %w", err)
	}
	if err := server.CheckAddress(c.Listen); err != nil {
		return o, fmt.Errorf("--listen: %w", err)
	}
	o.Listener, err = server.Listen(ctx, c.Listen)
	return o, err
}
