package main

import (
	"context"
	"net/http"

	"github.com/paylatch/paylatch/internal/api"
	"github.com/paylatch/paylatch/internal/backoffice/finder"
	"github.com/paylatch/paylatch/internal/backoffice/lists"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/console"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/auth"
	"github.com/paylatch/paylatch/internal/setup/cells"
	"github.com/paylatch/paylatch/internal/setup/config"
)

// providerFacts returns the facts about an account's provider that people ask for.
func providerFacts(cfg *config.Config) func(account string) support.Provider {
	return func(account string) support.Provider {
		refunds, reasons := cfg.SupportFacts(account)
		return support.Provider{RefundTime: refunds.Words, RefundSource: refunds.Source, Reasons: reasons}
	}
}

// newConsole makes the pages for support. In dev a token signs a person in, and on
// an address of this machine the browser sends its cookie without TLS.
func (in *instance) newConsole(d cells.BackOffice, found *finder.Service, label string, dev bool) http.Handler {
	all := lists.New(in.of.lists(in.store))
	o := console.Options{Support: d.Support, Finder: found, Jobs: d.Jobs, Worklist: d.Worklist, Overview: d.Overview, Requests: d.Requests, Payments: d.Payments, Endpoints: d.Endpoints, Disputes: all, Lists: all, Books: all, Months: in.of.months(in.store), Customers: all, Dashboard: in.of.cfg.PaymentPage, Provider: providerFacts(in.of.cfg), Clocks: support.Clocks{Zone: in.cfg.Zone()}, SignIn: console.EntranceOptions{
		AuditLog: d.Support, Store: in.of.stores[payment.OnlyCell].Sessions(), Cells: in.of.cfg.Choice(), Cell: label, Log: in.log, Now: now,
		Refused: in.refused, SignedOut: in.access.SignedOut, Seen: api.SubjectSeen,
		Waiting:     func(ctx context.Context, chosen string) (int64, error) { return in.of.desks.Waiting(ctx, chosen) },
		DeadLetters: func(ctx context.Context, chosen string) (int64, error) { return in.of.desks.DeadLetters(ctx, chosen) },
		Plain:       plainCookies(in.cfg, dev),
	}}
	if dev {
		o.SignIn.Tokens = in.auth
	}
	if c := in.cfg.Console.OIDC; c.Issuer != "" {
		o.SignIn.OpenID = auth.NewOpenID(auth.OpenIDOptions{
			Issuer: c.Issuer, ClientID: c.ClientID, ClientSecret: string(c.ClientSecret), RedirectURL: c.RedirectURL,
			Scopes: c.Scopes, RolesClaim: c.RolesClaim, SubjectClaim: c.SubjectClaim,
		})
	}
	return console.New(o)
}
