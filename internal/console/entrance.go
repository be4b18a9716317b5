package console

import (
	"context"
	"net/http"
	"time"

	"github.com/alexedwards/scs/v2"
	"github.com/rs/zerolog"

	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/platform/auth"
	"github.com/paylatch/paylatch/internal/platform/throttle"
)

// An Entrance handles the people in the console: their sign-in, their session, and each of their requests.
//
//	a request ─► Guard: no token, same origin, bounded ─► session ─► Staff ─► a page
//	                                                        └─ signed out: 303 to /support/sign-in

// AuditLog audits actions of staff whose use cases do not audit themselves;
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

// OpenID signs people in at an OpenID provider; *auth.OpenID in the program.
type OpenID interface {
	Begin(ctx context.Context) (address string, p auth.PendingSignIn, err error)
	Finish(ctx context.Context, p auth.PendingSignIn, state, code string) (authz.Actor, error)
}

// Tokens authenticates a token; *auth.Authenticator in the program.
type Tokens interface {
	Authenticate(ctx context.Context, bearer, onBehalfOf string) (authz.Actor, error)
}

// EntranceOptions configure the sign-in. Store, AuditLog and Now are required.
type EntranceOptions struct {
	// Store keeps the sessions.
	Store    scs.CtxStore
	AuditLog AuditLog
	// OpenID is the sign-in by OpenID; nil if it is not configured.
	OpenID OpenID
	// Tokens allows people to sign in with a token; nil if they may not. It is for a machine that
	// takes no real payments.
	Tokens Tokens
	// Refused takes each refused sign-in, SignedOut each sign-out; nil drops them. They
	// must not wait.
	Refused   func(support.Refusal)
	SignedOut func(support.Staff)
	// Seen takes the subject of a request, for the log; nil drops it.
	Seen func(ctx context.Context, subject string)
	// Waiting counts the open discrepancies of a cell, empty for all cells, for the menu; nil leaves the count out.
	Waiting func(ctx context.Context, cell string) (int64, error)
	// DeadLetters counts the dead letters of all endpoints, as Waiting does.
	DeadLetters func(ctx context.Context, cell string) (int64, error)
	// Polled are the addresses that a page requests by script every few seconds. They read the session without keeping it alive: without
	// a session the response is 401.
	Polled []string
	// Cells are the numbers of the cells that a person chooses among; empty with a single cell. Cell is the cell of this console, empty for
	// all cells.
	Cells []string
	Cell  string
	// Plain sends the cookies over plain HTTP, too, and without the prefix that demands TLS.
	Plain bool
	// Idle ends a session that is not used; Life ends every session. 0 means 30 minutes and
	// 10 hours.
	Idle, Life time.Duration
	Log        zerolog.Logger
	Now        func() time.Time
}

const (
	// How many sign-ins are tried from one address in a second, and at once; an office
	// may have one. Pages that are only visited don't count.
	signInsEach   = 1
	signInsAtOnce = 60
	// How many are sent to the OpenID provider.
	beginsEach   = 5
	beginsAtOnce = 300
)

// Entrance lets staff in.
type Entrance struct {
	EntranceOptions
	sessions *scs.SessionManager
	signIns  *throttle.KeyedLimiter
	begins   *throttle.KeyedLimiter
}

// NewEntrance returns an entrance.
func NewEntrance(o EntranceOptions) *Entrance {
	if o.Refused == nil {
		o.Refused = func(support.Refusal) {}
	}
	if o.SignedOut == nil {
		o.SignedOut = func(support.Staff) {}
	}
	if o.Seen == nil {
		o.Seen = func(context.Context, string) {}
	}
	e := &Entrance{EntranceOptions: o, signIns: throttle.New(signInsEach, signInsAtOnce), begins: throttle.New(beginsEach, beginsAtOnce)}
	e.sessions = e.newSessions()
	return e
}

// Fail shows an error as a page, where there is no visit.
func (e *Entrance) Fail(w http.ResponseWriter, r *http.Request, err error) {
	FailPage(w, r, e.Log, Frame{}, err)
}
