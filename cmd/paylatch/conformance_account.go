package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/paylatch/paylatch/internal/dev"
	"github.com/paylatch/paylatch/internal/dev/conformance/account"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/server"
	"github.com/paylatch/paylatch/internal/platform/terminal"
	"github.com/paylatch/paylatch/internal/provider"
	"github.com/paylatch/paylatch/internal/setup/accounts"
	"github.com/paylatch/paylatch/internal/setup/begin"
	"github.com/paylatch/paylatch/internal/setup/config"
)

// accountAsk are the flags for an account of the configuration.
type accountAsk struct {
	Account     string        `xor:"provider" required:"" placeholder:"NAME" help:"A configured account in its provider's test mode. paylatch makes test charges and refunds through the account's adapter. It refuses an account that may move real money."`
	Customer    string        `placeholder:"ID" help:"With --account: the provider's customer who owns a stored payment method in --token-success."`
	NoBrowser   bool          `help:"With --account: skip each case that needs a person on a page of the provider."`
	WebhookWait time.Duration `placeholder:"DURATION" help:"With --account: receive the account's webhooks at --listen, and wait for a webhook for this time. The provider must reach this address, for example through a tunnel. Default: skip the case."`
	Out         string        `placeholder:"DIR" help:"With --account: write the report into this directory, as conformance.html and conformance.json. It contains no secret."`
}

const (
	// accountCall bounds a call of the adapter, accountWait the time until a result shows, accountPause the time between two lookups.
	accountCall, accountWait, accountPause = 30 * time.Second, 5 * time.Minute, time.Second
	closeTimeout                           = 5 * time.Second
)

// checkAccount runs the conformance cases against a configured account.
func (c *conformanceCmd) checkAccount(ctx context.Context, a *app) error {
	cfg, of, err := c.configured(a)
	if err != nil {
		return err
	}
	o, err := c.accountOptions(a, of)
	if err != nil {
		return err
	}
	if c.Out != "" { // before anything is charged
		if err := os.MkdirAll(c.Out, 0o750); err != nil {
			return usageError{fmt.Errorf("--out: %w", err)}
		}
	}
	stop, err := c.listen(ctx, &o, cfg, of)
	if err != nil {
		return err
	}
	defer stop()
	out := c.progress(a)
	_, _ = fmt.Fprintf(out, "account %s at %s, in test mode: payments of %s, which paylatch cancels or refunds at the end\n", of.Name, of.Kind, o.Money)
	report, err := account.Run(ctx, o, func(r account.Result) { _, _ = fmt.Fprintln(out, r.Line()) })
	if err != nil {
		return usageError{err}
	}
	return c.finish(a, out, report)
}

// progress is where lines for a person go.
func (c *conformanceCmd) progress(a *app) io.Writer {
	if c.JSON {
		return a.stderr
	}
	return a.stdout
}

// configured returns the account, unless it may be one of real money.
func (c *conformanceCmd) configured(a *app) (*config.Config, config.Account, error) {
	environ, err := begin.Environ(a.environ, begin.EnvironmentFile((&initCmd{}).file(a)))
	if err != nil {
		return nil, config.Account{}, err
	}
	cfg, err := config.Read(a.configFile, environ, dev.Beside)
	if err != nil {
		return nil, config.Account{}, err
	}
	i := slices.IndexFunc(cfg.Accounts, func(one config.Account) bool { return one.Name == c.Account })
	if i < 0 {
		return nil, config.Account{}, usageError{fmt.Errorf("--account: %q is not configured", c.Account)}
	}
	const why = "the conformance cases charge, capture and refund, so they run only on test accounts"
	of, declared := cfg.Accounts[i], cfg.Environment == config.Test || cfg.Environment == config.Dev
	if !declared && (cfg.Environment == config.Live || of.Kind != "sandbox") { // beside paylatch dev there may be no configuration
		return nil, of, usageError{fmt.Errorf("environment must be test or dev, but it is live: %s", why)}
	}
	if err := of.CheckForTests(); err != nil {
		return nil, of, usageError{fmt.Errorf("%w: %s", err, why)}
	}
	return cfg, of, nil
}

func (c *conformanceCmd) accountOptions(a *app, of config.Account) (account.Options, error) {
	adapter := provider.Kinds()[of.Kind].Adapter
	trial := adapter.Trial
	o := account.Options{
		Name: of.Name, Kind: of.Kind, Version: version, Absent: adapter.Absent, Client: provider.NewHTTPClient(), Open: c.open(c.progress(a), trial.ByHand), Unannounced: trial.Unannounced && c.TokenSuccess == "",
		Build: func(client *http.Client) (gateway.Account, error) {
			built, _, err := accounts.Build(of, client, now)
			return built, err
		},
		Customer: c.Customer, Tokens: account.Tokens{
			Success: cmp.Or(c.TokenSuccess, trial.Token, trial.Page), Decline: trial.Decline, Redirect: trial.Challenge, Page: c.TokenSuccess == "" && trial.Page != "",
		},
		Money:   payment.Money{Minor: testAmount, Currency: payment.Currency(cmp.Or(c.Currency, string(of.Fields["currency"]), string(of.Fields["store_currency"]), trial.Currency, "EUR"))},
		Timeout: accountCall, Wait: cmp.Or(c.Wait, accountWait), WebhookWait: c.WebhookWait, Pause: accountPause, Now: now,
	}
	o.Secrets = append(secretsOf(of), c.TokenSuccess)
	for _, of := range []struct{ flag, token *string }{{c.TokenDecline, &o.Tokens.Decline}, {c.TokenRedirect, &o.Tokens.Redirect}} {
		if of.flag != nil {
			*of.token = *of.flag
			o.Secrets = append(o.Secrets, *of.flag)
		}
	}
	if o.Tokens.Success == "" {
		return o, usageError{fmt.Errorf("--token-success is missing: the provider publishes no token that pays by itself: %s", trial.ByHand)}
	}
	return o, nil
}

// secretsOf returns the values of the account's secret keys.
func secretsOf(of config.Account) (secrets []string) {
	k := provider.Kinds()[of.Kind]
	for _, key := range slices.Concat(k.About.Keys, k.Adapter.Keys) {
		if key.Secret {
			secrets = append(secrets, string(of.Fields[key.Name]))
		}
	}
	for _, secret := range of.WebhookSecrets {
		secrets = append(secrets, string(secret), strings.TrimPrefix(string(secret), "whsec_"))
	}
	return secrets
}

// open shows a step of the customer to a person.
func (c *conformanceCmd) open(out io.Writer, byHand string) func(context.Context, account.Step) (json.RawMessage, error) {
	return func(_ context.Context, s account.Step) (json.RawMessage, error) {
		switch {
		case s.Action.Type != payment.ActionRedirect:
			return nil, account.SkipError(fmt.Sprintf("the step has the type %s, which needs a page of the shop", s.Action.Type))
		case c.NoBrowser:
			return nil, account.SkipError("the case needs a person on a page of the provider, and --no-browser is set")
		}
		_, _ = fmt.Fprintf(out, "\n             %s: open this page, and %s:\n\n               %s\n\n", s.Case, cmp.Or(byHand, "confirm the payment"), s.Action.URL)
		return nil, nil
	}
}

// listen takes the account's webhooks, if they are to be awaited. The returned function ends that.
func (c *conformanceCmd) listen(ctx context.Context, o *account.Options, cfg *config.Config, of config.Account) (stop func(), err error) {
	stop = func() {}
	switch {
	case c.WebhookWait <= 0:
		o.NoReceiver = "--webhook-wait is not set; this case needs an address that the provider can reach, such as a tunnel's address"
		return stop, nil
	case !of.TakesWebhooks():
		o.NoReceiver = "the account lacks the keys that verify its webhooks"
		return stop, nil
	}
	_, verifier, err := accounts.Build(of, o.Client, now)
	if err != nil {
		return stop, err
	}
	address := cmp.Or(c.Listen, cfg.Listen)
	if err := server.CheckAddress(address); err != nil {
		return stop, usageError{fmt.Errorf("--listen: %w", err)}
	}
	l, err := server.Listen(ctx, address)
	if err != nil {
		return stop, usageError{fmt.Errorf("--listen: %w; stop the service at this address, or choose another address", err)}
	}
	o.Receiver = account.NewReceiver(verifier, of.PublicURL, "/webhooks/"+of.Name, now)
	s := &http.Server{Handler: o.Receiver, ReadTimeout: accountCall, ReadHeaderTimeout: accountCall, WriteTimeout: accountCall}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = s.Serve(l)
	}()
	return func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
		defer cancel()
		_ = s.Shutdown(ctx)
		<-ended
	}, nil
}

// finish writes the report, and returns an error unless everything held.
func (c *conformanceCmd) finish(a *app, out io.Writer, report account.Report) error {
	n := report.Counts
	_, _ = fmt.Fprintf(out, "%d cases: %d held, %d failed, %d skipped, %d not offered\n",
		len(report.Cases), n[account.Held], n[account.Failed], n[account.Skipped], n[account.NotOffered])
	if c.JSON {
		if err := terminal.JSON(a.stdout, report); err != nil {
			return err
		}
	}
	if c.Out != "" {
		for name, write := range map[string]func(io.Writer) error{
			"conformance.html": report.HTML, "conformance.json": func(w io.Writer) error { return terminal.JSON(w, report) },
		} {
			if err := writeFile(filepath.Join(c.Out, name), write); err != nil {
				return err
			}
		}
		_, _ = fmt.Fprintf(out, "wrote conformance.html and conformance.json in %s\n", c.Out)
	}
	switch {
	case n[account.Failed] > 0:
		return fmt.Errorf("%d cases have failed", n[account.Failed])
	case report.Stopped:
		return usageError{errors.New("interrupted; the started payments were cleaned up")}
	}
	return nil
}

func writeFile(path string, write func(io.Writer) error) error {
	f, err := os.Create(path) //nolint:gosec // the operator names it
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return errors.Join(write(f), f.Close())
}
