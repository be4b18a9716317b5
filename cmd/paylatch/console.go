package main

import (
	"net"
	"net/http"
	"net/netip"

	"github.com/paylatch/paylatch/internal/api/access"
	"github.com/paylatch/paylatch/internal/auth"
	"github.com/paylatch/paylatch/internal/bulk"
	"github.com/paylatch/paylatch/internal/console"
	"github.com/paylatch/paylatch/internal/console/session"
	"github.com/paylatch/paylatch/internal/finder"
	"github.com/paylatch/paylatch/internal/lists"
	"github.com/paylatch/paylatch/internal/refundrequest"
	"github.com/paylatch/paylatch/internal/support"
	"github.com/paylatch/paylatch/internal/worklist"
)

// newConsole makes the pages for support. In dev a token signs a person in, and on
// an address of this machine the browser sends its cookie without TLS.
func (in *instance) newConsole(desk *support.Service, found *finder.Service, jobs *bulk.Service, open *worklist.Service, asked *refundrequest.Service, dev bool) http.Handler {
	all := lists.New(in.of.lists(in.store))
	o := console.Options{Support: desk, Finder: found, Jobs: jobs, Worklist: open, Overview: in.today, Requests: asked, Payments: in.rooms, Endpoints: in.events.Endpoints, Disputes: all, Lists: all, Customers: all, Dashboard: in.cfg.PaymentPage, SignIn: session.Options{
		AuditLog: desk, Store: in.of.sessions(), Cells: in.of.choice(), Cell: in.of.label(in.cfg.Cell), Log: in.log, Now: now,
		Refused: in.access.Refused, SignedOut: in.access.SignedOut, Seen: access.Seen, Waiting: open.Waiting,
		Plain: dev && onlyHere(in.cfg.Listen),
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

// onlyHere reports whether only this machine can reach an address.
func onlyHere(listen string) bool {
	host, _, _ := net.SplitHostPort(listen)
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}
