package console

import (
	"context"
	"embed"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/alexedwards/scs/v2"
	"github.com/rs/zerolog"

	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/auth"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/cardnumber"
	"github.com/paylatch/paylatch/internal/commands"
	"github.com/paylatch/paylatch/internal/console/page"
	"github.com/paylatch/paylatch/internal/intake"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/support"
	"github.com/paylatch/paylatch/internal/throttle"
)

//go:embed assets
var assets embed.FS

// Support is the use cases of staff; *support.Service in the program.
type Support interface {
	Search(ctx context.Context, who support.Staff, text string, p support.Page) ([]support.Hit, string, error)
	Attempt(ctx context.Context, who support.Staff, id payment.AttemptID) (support.Attempt, error)
	Recheck(ctx context.Context, who support.Staff, id payment.AttemptID, reason string) (payment.View, error)
	Event(ctx context.Context, who support.Staff, id payment.EventID) (support.ShownEvent, error)
	Reveal(ctx context.Context, who support.Staff, id payment.EventID, reason string) (support.Event, error)
	Replay(ctx context.Context, who support.Staff, id payment.EventID, reason string, dry bool) (intake.Replayed, error)
	Discrepancies(ctx context.Context, who support.Staff, status, kind string, p support.Page) ([]support.Discrepancy, string, error)
	Discrepancy(ctx context.Context, who support.Staff, id payment.DiscrepancyID) (support.Discrepancy, error)
	Resolve(ctx context.Context, who support.Staff, cmd commands.Resolve) (support.Discrepancy, error)
	Audit(ctx context.Context, who support.Staff, f support.AuditFilter, p support.Page) ([]support.AuditEntry, string, error)
}

// AuditLog audits what staff does by use cases that are not those of Support;
// *support.Service in the program.
type AuditLog interface {
	// Watch and Act audit an action and run it; Refuse audits a refusal before an action
	// began, and returns it.
	Watch(ctx context.Context, who support.Staff, action support.Action, targetType, target string, act func() error) error
	Act(ctx context.Context, who support.Staff, action support.Action, targetType, target, reason string, act func() error) error
	Refuse(ctx context.Context, who support.Staff, action support.Action, targetType, target string, why error) error
	// SignIn audits a sign-in before it takes effect.
	SignIn(ctx context.Context, who support.Staff, by string) error
}

// Payments is the use cases that pages need.
type Payments interface {
	Order(ctx context.Context, actor authz.Actor, id payment.OrderID) (payment.Order, error)
	Refund(ctx context.Context, actor authz.Actor, req idempotency.Request, cmd commands.CreateRefund) (commands.RefundReply, error)
	// Stale lists the accounts without recent webhooks.
	Stale(ctx context.Context) ([]intake.StaleAccount, error)
	// ForeignLastDay counts the foreign events of the last day by account.
	ForeignLastDay(ctx context.Context) (map[string]int64, error)
}

// OpenID signs people in at an OpenID provider; *auth.OpenID in the program.
type OpenID interface {
	Begin(ctx context.Context) (address string, p auth.PendingSignIn, err error)
	Finish(ctx context.Context, p auth.PendingSignIn, state, code string) (authz.Actor, error)
}

// Tokens authenticates a token; *auth.Authenticator in the program.
type Tokens interface {
	Authenticate(ctx context.Context, bearer, onBehalfOf string) (authz.Actor, error)
}

// Options configure the console. Support, AuditLog, Payments, Endpoints, Sessions and Now
// are required.
type Options struct {
	Support   Support
	AuditLog  AuditLog
	Payments  Payments
	Endpoints Endpoints
	// Sessions keeps the sessions.
	Sessions scs.CtxStore
	// OpenID is the way to sign in; nil for none.
	OpenID OpenID
	// Tokens allows to sign in with a token; nil for no token. It is for a machine that
	// takes no real payments.
	Tokens Tokens
	// Refused takes each refused sign-in, SignedOut each sign-out; nil drops them. They
	// must not wait.
	Refused   func(support.Refusal)
	SignedOut func(support.Staff)
	// Seen takes the subject of a request, for the log; nil drops it.
	Seen func(ctx context.Context, subject string)
	// Plain sends the session's cookie over plain HTTP, too.
	Plain bool
	// Idle and Life end a session that is not used, and any; 0 means 30 minutes and
	// 10 hours.
	Idle, Life time.Duration
	Log        zerolog.Logger
	Now        func() time.Time
}

const (
	// searchesEach a second, and as many at once, are more than a person types.
	searchesEach   = 5
	searchesAtOnce = 50
	// How many sign-ins are tried from one address in a second, and at once; an office
	// may have one. Pages that are only visited don't count.
	signInsEach   = 1
	signInsAtOnce = 60
	// How many are sent to the OpenID provider.
	beginsEach   = 5
	beginsAtOnce = 300
)

type console struct {
	Options
	sessions *scs.SessionManager
	searches *throttle.KeyedLimiter
	signIns  *throttle.KeyedLimiter
	begins   *throttle.KeyedLimiter
}

// New returns the console, to be mounted at /support and /support/.
func New(o Options) http.Handler {
	if o.Refused == nil {
		o.Refused = func(support.Refusal) {}
	}
	if o.SignedOut == nil {
		o.SignedOut = func(support.Staff) {}
	}
	if o.Seen == nil {
		o.Seen = func(context.Context, string) {}
	}
	c := &console{
		Options: o, searches: throttle.New(searchesEach, searchesAtOnce), signIns: throttle.New(signInsEach, signInsAtOnce),
		begins: throttle.New(beginsEach, beginsAtOnce),
	}
	c.sessions = c.newSessions()
	pages := http.NewServeMux()
	c.routeSignIn(pages)
	for path, show := range map[string]handler{
		"/support":                            (*visit).showSearch,
		"/support/attempts/{id}":              (*visit).showAttempt,
		"/support/attempts/{id}/recheck":      (*visit).askRecheck,
		"/support/attempts/{id}/refund":       (*visit).askRefund,
		"/support/orders":                     (*visit).showOrder,
		"/support/events/{id}":                (*visit).showEvent,
		"/support/events/{id}/reveal":         (*visit).askReveal,
		"/support/events/{id}/replay":         (*visit).askReplay,
		"/support/discrepancies":              (*visit).showWorklist,
		"/support/discrepancies/{id}/resolve": (*visit).askResolve,
		"/support/endpoints":                  (*visit).showEndpoints,
		"/support/endpoints/{name}":           (*visit).showEndpoint,
		"/support/endpoints/{name}/test":      (*visit).askTest,
		"/support/endpoints/{name}/redeliver": (*visit).askRedeliver,
		"/support/audit":                      (*visit).showAudit,
		"/support/":                           (*visit).showNothing,
	} {
		pages.Handle("GET "+path, c.staff(show))
	}
	for path, do := range map[string]handler{
		"/support/attempts/{id}/recheck":      (*visit).recheck,
		"/support/attempts/{id}/refund":       (*visit).refund,
		"/support/events/{id}/reveal":         (*visit).reveal,
		"/support/events/{id}/replay":         (*visit).replay,
		"/support/discrepancies/{id}/resolve": (*visit).resolve,
		"/support/endpoints/{name}/test":      (*visit).test,
		"/support/endpoints/{name}/redeliver": (*visit).redeliver,
	} {
		pages.Handle("POST "+path, c.staff(do))
	}
	all := http.NewServeMux()
	all.Handle("GET /support/assets/", http.StripPrefix("/support/assets", page.Files(assets)))
	all.Handle("/", c.refuseTokens(c.sameOrigin(c.bounded(c.inSession(pages)))))
	return page.Secured(all)
}

// sameOrigin refuses a POST that another site made a browser send. The browser
// itself sends the origin of a request (Sec-Fetch-Site, or Origin), so no form
// needs a token that could leak or go stale; the cookie is SameSite=Lax beside it.
func (c *console) sameOrigin(next http.Handler) http.Handler {
	guard := http.NewCrossOriginProtection()
	guard.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.fail(w, r, nil, errOtherSite)
	}))
	return guard.Handler(next)
}

// refuseTokens refuses a request with a token of the API, whatever its role.
func (c *console) refuseTokens(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		if r.Header.Get("Authorization") != "" {
			c.fail(w, r, nil, errToken)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// maxForm bounds what a form may send, in bytes.
const maxForm = 64 << 10

// bounded refuses a form that is too long, a field of which would read as empty, and one
// with a card number.
func (c *console) bounded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
		if err := r.ParseForm(); errors.As(err, new(*http.MaxBytesError)) {
			c.fail(w, r, nil, err)
			return
		}
		if holdsCardNumber(r) {
			c.fail(w, r, nil, errCardNumber)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// holdsCardNumber reports whether something that was typed, or stands in the address,
// would be written into the audit log as a card number in clear. Where a provider's id
// is expected not every number of that length counts.
func holdsCardNumber(r *http.Request) bool {
	for name, values := range r.Form {
		in := cardnumber.In
		if name == "q" || name == "provider_payment_id" {
			in = cardnumber.InID
		}
		if slices.ContainsFunc(values, in) {
			return true
		}
	}
	return cardnumber.In(r.URL.Path)
}
