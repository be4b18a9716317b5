package console

import (
	"context"

	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/backoffice/finder"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/engine/intake"
	"github.com/paylatch/paylatch/internal/payment"
)

// Support is the use cases of staff; *support.Service in the program.
type Support interface {
	Attempt(ctx context.Context, who support.Staff, id payment.AttemptID) (support.Attempt, error)
	OrderRequests(ctx context.Context, who support.Staff, o payment.Order) ([]support.Entry, error)
	Recheck(ctx context.Context, who support.Staff, id payment.AttemptID, reason string) (payment.View, error)
	Event(ctx context.Context, who support.Staff, id payment.EventID) (support.ShownEvent, error)
	Reveal(ctx context.Context, who support.Staff, id payment.EventID, reason string) (support.Event, error)
	Replay(ctx context.Context, who support.Staff, id payment.EventID, reason string, dry bool) (intake.Replayed, error)
	Audit(ctx context.Context, who support.Staff, f support.AuditFilter, p support.Page) ([]support.AuditEntry, string, error)
}

// Finder is the search; *finder.Service in the program.
type Finder interface {
	Search(ctx context.Context, who support.Staff, q finder.Query) (finder.Found, error)
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

// Options configure the console. All are required.
type Options struct {
	Support   Support
	Overview  Overview
	Finder    Finder
	Jobs      Jobs
	Worklist  Worklist
	Requests  RefundRequests
	Customers CustomerLists
	Payments  Payments
	Endpoints Endpoints
	Disputes  Disputes
	// Dashboard returns the address of a payment in its provider's dashboard, by the provider's ids of the payment and of its
	// first capture; empty if there is none.
	Dashboard func(account, payment, capture string) string
	// Provider returns facts about an account's provider, and Clocks has the shop's time zone.
	Provider func(account string) support.Provider
	Clocks   support.Clocks
	Lists    ListReader
	Months   Months
	Books    Books
	// SignIn configures how staff signs in.
	SignIn EntranceOptions
}
