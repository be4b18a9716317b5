package conformance

import (
	"cmp"
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
	URL           string        `name:"url" xor:"provider" required:"" placeholder:"URL" help:"The address of a provider of the kind standard, without /v1. The provider must move no real money for the tokens below."`
	APIKey        string        `name:"api-key" env:"PROVIDER_API_KEY" placeholder:"KEY" help:"The key that calls have; without it no check of credentials runs."`
	Listen        string        `placeholder:"HOST:PORT" help:"The address that receives the provider's webhooks while the checks run; without it no webhook is checked. With --account and --webhook-wait, the default is the service's address."`
	WebhookSecret string        `env:"PROVIDER_WEBHOOK_SECRET" placeholder:"whsec_…" help:"The secret that signs the webhooks."`
	TokenSuccess  string        `name:"token-success" placeholder:"TOKEN" help:"A payment method that pays. Default: tok_success; with --account the method that the provider publishes for tests, or its page."`
	TokenDecline  *string       `name:"token-decline" placeholder:"TOKEN" help:"A payment method that is declined; empty: there is none. Default: tok_decline; with --account the method that the provider publishes."`
	TokenRedirect *string       `name:"token-redirect" placeholder:"TOKEN" help:"A payment method whose customer is led to a page; empty: there is none. Default: tok_redirect; with --account the method that the provider publishes."`
	Currency      string        `placeholder:"CODE" help:"The currency of the charges. Default: EUR; with --account a currency that the provider supports."`
	Wait          time.Duration `help:"How long a charge that is under way, and webhooks, are waited for. Default: 30s; with --account 5m, also for what a person does on a page."`
	JSON          bool          `name:"json" help:"Print one JSON object instead of lines."`
}

const (
	// callTimeout bounds each call of the checks.
	callTimeout = 10 * time.Second
	defaultWait = 30 * time.Second
)

// given is the value of a flag that may be empty on purpose.
func given(flag *string, other string) string {
	if flag == nil {
		return other
	}
	return *flag
}

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
		URL: c.URL, APIKey: c.APIKey, Currency: cmp.Or(c.Currency, "EUR"), Timeout: callTimeout, Wait: cmp.Or(c.Wait, defaultWait), Client: client, Now: now,
		Tokens: Tokens{Success: cmp.Or(c.TokenSuccess, "tok_success"), Decline: given(c.TokenDecline, "tok_decline"), Redirect: given(c.TokenRedirect, "tok_redirect")},
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
