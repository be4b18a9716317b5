package accounts

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/paylatch/paylatch/internal/api"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider"
	"github.com/paylatch/paylatch/internal/provider/kit"
	"github.com/paylatch/paylatch/internal/setup/config"
	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/all"
)

// builder builds accounts.
type builder struct {
	client  *http.Client
	watch   Watch
	fetched *Certificates
}

func newBuilder(client *http.Client, w Watch) builder {
	return builder{client, w, NewCertificates(client, w.Now)}
}

// built is an account's adapter and verifier.
type built struct {
	charged gateway.Account
	// receiving has no verifier if the account can't take webhooks.
	receiving api.WebhookAccount
}

// account builds an account. It calls no provider.
func (b builder) account(a config.Account) (built, error) {
	charged, err := b.charged(a)
	if err != nil {
		return built{}, fmt.Errorf("account %s: %w", a.Name, err)
	}
	if !a.TakesWebhooks() {
		return built{charged: charged}, nil
	}
	v, err := b.verifier(a)
	if err != nil {
		return built{}, fmt.Errorf("account %s: %w", a.Name, err)
	}
	return built{charged, api.WebhookAccount{Verifier: v, PublicURL: a.PublicURL, Senders: a.AllowedIPs, Paused: !a.Listens()}}, nil
}

func (b builder) charged(a config.Account) (gateway.Account, error) {
	out := gateway.Account{
		Offered: a.Offered, HoldPaidForReview: a.HoldPaid, Merchant: a.Merchant,
		Live: a.Live(), Hears: a.TakesWebhooks() && a.Listens(), Paused: !a.Pays(),
		Lives: payment.MaxAge(a.Expiry), Foreign: gateway.Foreign{After: a.ForeignAfter, Review: a.ReviewsForeign()},
	}
	if a.LateSuccess == "auto_refund" {
		out.LateMoney = gateway.LateMoneyRefunded
	}
	if a.AcceptMore {
		out.Excess = payment.ExcessAccepted
	}
	if a.SecondHold == "review" {
		out.SecondHold = gateway.SecondHoldReviewed
	}
	adapter := provider.Adapters()[a.Kind]
	out.Further, out.WebReturns = adapter.Further, adapter.WebReturns()
	if adapter.Payees != nil {
		out.Payees = adapter.Payees(a.Credentials())
	}
	if !a.CanCharge() {
		return out, nil
	}
	kept, err := provider.NewRecords(a.Kind, settings(a, b.client, b.watch.Now))
	if err != nil {
		return gateway.Account{}, err
	}
	out.Books, out.Events, out.Statement, out.BooksMarks = kept.Books, kept.Events, kept.Statement, kept.Marks
	out.BooksLag, out.BooksOverlap = kept.Lag, kept.Overlap
	out.Provider, err = Provider(a, b.client, b.watch.Now)
	return out, err
}

func (b builder) verifier(a config.Account) (webhooks.Verifier, error) {
	c, err := a.Webhooks()
	if err != nil {
		return nil, err
	}
	c.Certificate = func(ctx context.Context, url string) ([]byte, error) { return b.fetched.Fetch(ctx, a.Name, url) }
	return all.New(a.Kind, c)
}

// Provider is the bare adapter of an account; nil for a kind without one.
func Provider(a config.Account, client *http.Client, now func() time.Time) (gateway.Provider, error) {
	p, err := provider.New(a.Kind, settings(a, client, now))
	if errors.Is(err, provider.ErrNoAdapter) {
		return nil, nil //nolint:nilnil // some kinds have none
	}
	return p, err
}

// Build returns an account as the service has it, but without the limits of its calls, and its verifier; nil if it can't take webhooks. It
// calls no provider.
func Build(a config.Account, client *http.Client, now func() time.Time) (gateway.Account, webhooks.Verifier, error) {
	b, err := newBuilder(client, Watch{Now: now}).account(a)
	return b.charged, b.receiving.Verifier, err
}

func settings(a config.Account, client *http.Client, now func() time.Time) kit.Settings {
	return kit.Settings{BaseURL: a.BaseURL, Params: a.Credentials(), Client: client, Now: now, AwaitsCustomer: a.Expiry.AwaitingCustomer}
}

// Begun lists the accounts that begin payments here, paused ones included. Nothing can be paid twice through the other accounts.
func Begun(cfg *config.Config) (names []string) {
	adapters := provider.Adapters()
	for _, a := range cfg.Accounts {
		if a.CanCharge() && adapters[a.Kind].New != nil {
			names = append(names, a.Name)
		}
	}
	return names
}
