package api

import (
	"context"
	"net/http"
	"net/netip"
	"time"

	"github.com/google/uuid"
	"github.com/rs/zerolog"

	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/api/waiting"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/backoffice/apikey"
	"github.com/paylatch/paylatch/internal/backoffice/bulk"
	"github.com/paylatch/paylatch/internal/backoffice/finder"
	"github.com/paylatch/paylatch/internal/backoffice/overview"
	"github.com/paylatch/paylatch/internal/backoffice/refundrequest"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/backoffice/worklist"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/engine/intake"
	"github.com/paylatch/paylatch/internal/events/endpoint"
	"github.com/paylatch/paylatch/internal/events/outbox"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/current"
	"github.com/paylatch/paylatch/internal/platform/metrics"
	"github.com/paylatch/paylatch/webhooks"
)

// Payments is the commands of the API's callers; activity.Commands in the real program.
type Payments interface {
	CreateOrder(ctx context.Context, actor authz.Actor, req idempotency.Request, cmd commands.CreateOrder) (payment.Order, idempotency.Result, error)
	AmendOrder(ctx context.Context, actor authz.Actor, req idempotency.Request, cmd commands.AmendOrder) (commands.AmendedOrder, error)
	Pay(ctx context.Context, actor authz.Actor, req idempotency.Request, cmd commands.Pay) (commands.Reply, error)
	Register(ctx context.Context, actor authz.Actor, req idempotency.Request, cmd commands.External) (commands.Reply, error)
	Report(ctx context.Context, actor authz.Actor, req idempotency.Request, cmd commands.Report) (commands.Reply, error)
	CancelOrder(ctx context.Context, actor authz.Actor, req idempotency.Request, id payment.OrderID) (payment.Order, idempotency.Result, error)
	Complete(ctx context.Context, actor authz.Actor, req idempotency.Request, cmd commands.Complete) (commands.Reply, error)
	Confirm(ctx context.Context, actor authz.Actor, req idempotency.Request, cmd commands.Confirm) (commands.Reply, error)
	Cancel(ctx context.Context, actor authz.Actor, req idempotency.Request, id payment.AttemptID) (commands.Reply, error)
	Check(ctx context.Context, actor authz.Actor, id payment.AttemptID) (payment.View, error)
	Refund(ctx context.Context, actor authz.Actor, req idempotency.Request, cmd commands.CreateRefund) (commands.RefundReply, error)
}

// Reads is the read-only use cases of orders, payment attempts, refunds and disputes.
type Reads interface {
	Order(ctx context.Context, actor authz.Actor, id payment.OrderID) (payment.Order, error)
	Attempts(ctx context.Context, actor authz.Actor, order payment.OrderID, request payment.RequestID) ([]payment.View, error)
	Attempt(ctx context.Context, actor authz.Actor, id payment.AttemptID) (payment.View, error)
	RefundStatus(ctx context.Context, actor authz.Actor, id payment.RefundID) (payment.Refund, error)
	Dispute(ctx context.Context, actor authz.Actor, id payment.DisputeID) (payment.Dispute, error)
}

// Events is the feed; *outbox.Feed in the real program.
type Events interface {
	Read(ctx context.Context, after outbox.Cursor, types []string, limit int, wait time.Duration) (outbox.Page, error)
}

// Endpoints are where events are delivered.
type Endpoints interface {
	List(ctx context.Context) ([]endpoint.Status, error)
	Attempts(ctx context.Context, name string, before int64, failed bool, limit int) ([]endpoint.Attempt, error)
	Test(ctx context.Context, name string) (endpoint.Attempt, error)
	RedeliverAfter(ctx context.Context, name string, cursor outbox.Cursor) error
	RedeliverEvents(ctx context.Context, name string, ids []uuid.UUID) error
}

// Finder is the search of staff; *finder.Service in the real program.
type Finder interface {
	Search(ctx context.Context, who support.Staff, q finder.Query) (finder.Found, error)
}

// Support is the use cases of staff; *support.Service in the real program.
type Support interface {
	Attempt(ctx context.Context, who support.Staff, id payment.AttemptID) (support.Attempt, error)
	Recheck(ctx context.Context, who support.Staff, id payment.AttemptID, reason string) (payment.View, error)
	Event(ctx context.Context, who support.Staff, id payment.EventID) (support.ShownEvent, error)
	Reveal(ctx context.Context, who support.Staff, id payment.EventID, reason string) (support.Event, error)
	Replay(ctx context.Context, who support.Staff, id payment.EventID, reason string, dry bool) (intake.Replayed, error)
	Audit(ctx context.Context, who support.Staff, f support.AuditFilter, p support.Page) ([]support.AuditEntry, string, error)
	// Watch runs act and audits it. Refuse audits a refusal that came before the action began, and returns the
	// reason why.
	Watch(ctx context.Context, who support.Staff, action support.Action, targetType, target string, act func() error) error
	Refuse(ctx context.Context, who support.Staff, action support.Action, targetType, target string, why error) error
}

// Overview is the business in numbers; *overview.Service in the real program.
type Overview interface {
	Overview(ctx context.Context, who support.Staff) (overview.Overview, error)
}

// Worklist is the use cases of open discrepancies; *worklist.Service in the real program.
type Worklist interface {
	List(ctx context.Context, who support.Staff, f worklist.Filter, p support.Page) ([]worklist.Entry, string, error)
	Entry(ctx context.Context, who support.Staff, id payment.DiscrepancyID) (worklist.Entry, error)
	Assign(ctx context.Context, who support.Staff, cmd worklist.Assign) (worklist.Entry, error)
	Comment(ctx context.Context, who support.Staff, cmd worklist.AddComment) (worklist.Entry, idempotency.Result, error)
	Resolve(ctx context.Context, who support.Staff, cmd worklist.Resolve) (worklist.Entry, error)
}

// Jobs are the acts of staff on many events or discrepancies; *bulk.Service in the real program.
type Jobs interface {
	Try(ctx context.Context, who support.Staff, o bulk.Order) (bulk.Counts, error)
	Begin(ctx context.Context, who support.Staff, o bulk.Order) (bulk.Job, error)
	Job(ctx context.Context, who support.Staff, id uuid.UUID) (bulk.Job, error)
	Jobs(ctx context.Context, who support.Staff, p support.Page) ([]bulk.Job, string, error)
	Stop(ctx context.Context, who support.Staff, id uuid.UUID, reason string) (bulk.Job, error)
}

// RefundRequests is the use cases of refund requests; *refundrequest.Service in the program.
type RefundRequests interface {
	Create(ctx context.Context, who support.Staff, cmd refundrequest.Create) (r refundrequest.Request, made bool, err error)
	Request(ctx context.Context, who support.Staff, id uuid.UUID) (refundrequest.Request, error)
	Requests(ctx context.Context, who support.Staff, state refundrequest.State, p support.Page) ([]refundrequest.Request, string, error)
	Approve(ctx context.Context, who support.Staff, id uuid.UUID, reason string) (refundrequest.Request, error)
	Decline(ctx context.Context, who support.Staff, id uuid.UUID, reason string) (refundrequest.Request, error)
}

// Keys is the use cases of API keys; *apikey.Service in the program.
type Keys interface {
	Create(ctx context.Context, who support.Staff, cmd apikey.Create) (k authz.Key, text string, err error)
	Keys(ctx context.Context, who support.Staff, p support.Page) ([]authz.Key, string, error)
	Revoke(ctx context.Context, who support.Staff, id uuid.UUID) (authz.Key, error)
}

// Auth turns credentials into an actor. An error that is not in the table of problems (package render) is answered 500.
type Auth interface {
	Authenticate(ctx context.Context, bearer, onBehalfOf string) (authz.Actor, error)
	// StatusToken makes the bearer token that reads one attempt until a time.
	StatusToken(id payment.AttemptID, until time.Time) string
}

// Check is one condition of being ready.
type Check struct {
	Name string
	Run  func(ctx context.Context) error
}

// Options configure the API. Payments, Reads, Events, Endpoints, Lists, Deliveries and Auth are required.
type Options struct {
	Payments   Payments
	Reads      Reads
	Deliveries WebhookIntake
	Auth       Auth
	// Events is the event feed.
	Events Events
	// FeedRead gets each read of the feed: the reader, which is the token's subject, the cursor up to which it has acted on events,
	// and when the read began. It must not block; may be nil.
	FeedRead func(reader string, after outbox.Position, began time.Time)
	// Endpoints are where events are delivered.
	Endpoints Endpoints
	// Lists serves the lists of the API.
	Lists Lists
	// Support serves staff. With nil the support operations do not exist, and staff's use of other operations is not audited.
	Support Support
	// Finder, Jobs, Worklist, RefundRequests, Overview and Keys serve staff beside Support; required with it.
	Finder         Finder
	Keys           Keys
	Jobs           Jobs
	Worklist       Worklist
	RefundRequests RefundRequests
	Overview       Overview
	// Refused gets each refused token, and each call for staff that was refused to others. It must not block; may be nil.
	Refused func(support.Refusal)
	// Console serves the addresses under /support. It gets the caller's address as RemoteAddr and the request's id as
	// X-Request-Id. With nil the console does not exist.
	Console http.Handler
	// Demo links the demo checkout from the start page.
	Demo     bool
	Accounts *current.Map[WebhookAccount]
	// Rejected is ReceiverOptions.Rejected.
	Rejected func(account string, fingerprint []byte, d webhooks.Delivery)
	// CustomersMay are the rights that customers have in addition to the contract's.
	CustomersMay []authz.Right
	// Quota limits the invalid commands of one user in this process. The user's quota of new idempotency keys is counted apart.
	// The zero value sets no limit.
	Quota idempotency.Quota
	// ReusedStatus is the status of the response to a reused key; 0 for 409.
	ReusedStatus int
	// Hub wakes the waiters of an attempt. It must be running; without a hub all reads return at once.
	Hub *waiting.Hub
	// Origins are the origins of pages that may read an attempt with its status token,
	// as browsers write them: scheme://host[:port].
	Origins []string
	// Ready are the checks of /readyz, in the order in which they are made.
	Ready []Check
	Log   zerolog.Logger
	// Refusals is that of AccessLog.
	Refusals *zerolog.Logger
	// Metrics serves /metrics; nil leaves it out.
	Metrics http.Handler
	// OperationsApart leaves out the operations of NewOperations.
	OperationsApart bool
	// Observe is called once for each request; may be nil.
	Observe func(metrics.Request)
	// Commands is called once, before Observe, with the operations that take an idempotency key; may be nil.
	Commands func(operations []string)
	Version  string
	// TrustedProxies are the peers whose X-Forwarded-For and X-Forwarded-Proto count.
	TrustedProxies []netip.Prefix
	// PollAfter is when a pending attempt should first be read again; it grows to five times that with the attempt's
	// age. 0 means a second.
	PollAfter time.Duration
	// Reference returns the reference for the provider of a payment that is created outside of paylatch: a text, empty if there is none,
	// and metadata. nil means the attempt's id.
	Reference func(account, attempt string) (text string, metadata map[string]string)
	// StatusTokenLife is how long a status token reads its attempt. 0 means a day.
	StatusTokenLife time.Duration
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

func (o Options) withDefaults() Options {
	if o.Reference == nil {
		o.Reference = func(_, attempt string) (string, map[string]string) { return attempt, nil }
	}
	if o.StatusTokenLife == 0 {
		o.StatusTokenLife = 24 * time.Hour
	}
	if o.Now == nil {
		o.Now = time.Now //nolint:forbidigo // the one place where no clock was given
	}
	if o.Observe == nil {
		o.Observe = func(metrics.Request) {}
	}
	if o.FeedRead == nil {
		o.FeedRead = func(string, outbox.Position, time.Time) {}
	}
	if o.Refused == nil {
		o.Refused = func(support.Refusal) {}
	}
	return o
}
