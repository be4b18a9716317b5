package api_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/api"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/engine/intake"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/auth"
	"github.com/paylatch/paylatch/webhooks"
)

// The real ones fit.
var (
	_ api.Payments      = (*commands.Commands)(nil)
	_ api.WebhookIntake = (*intake.Inbox)(nil)
	_ api.Auth          = (*auth.Authenticator)(nil)
)

// payments returns the test's results and records the calls.
type payments struct {
	order   payment.Order
	views   []payment.View
	reply   commands.Reply
	view    payment.View
	result  idempotency.Result
	err     error
	refuses bool // stores err as the refusal of an executed command
	refund  commands.RefundReply
	dispute payment.Dispute
	// unknown makes every delivery's payment unknown; early records these deliveries.
	unknown bool
	early   []string
	intake  func(context.Context, []payment.ReceivedEvent) ([]fsm.Verdict, error)

	mu        sync.Mutex
	actor     authz.Actor
	request   idempotency.Request
	created   commands.CreateOrder
	amends    commands.AmendOrder
	body      []byte
	pays      commands.Pay
	externals commands.External
	reports   commands.Report
	completes commands.Complete
	confirms  commands.Confirm
	refunds   commands.CreateRefund
	named     string // the id that a call was about
	filter    payment.RequestID
	received  []payment.ReceivedEvent
	kept      idempotency.Response
	calls     int
}

func (p *payments) asked(actor authz.Actor, req idempotency.Request) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls++
	p.actor, p.request = actor, req
	if p.refuses {
		p.kept = req.Refusal(p.err)
	}
	return p.err
}

func (p *payments) CreateOrder(_ context.Context, actor authz.Actor, req idempotency.Request, cmd commands.CreateOrder) (payment.Order, idempotency.Result, error) {
	p.created = cmd
	return p.order, p.result, p.asked(actor, req)
}

func (p *payments) Order(_ context.Context, actor authz.Actor, _ payment.OrderID) (payment.Order, error) {
	return p.order, p.asked(actor, idempotency.Request{})
}

func (p *payments) Attempts(_ context.Context, actor authz.Actor, _ payment.OrderID, request payment.RequestID) ([]payment.View, error) {
	p.filter = request
	return p.views, p.asked(actor, idempotency.Request{})
}

func (p *payments) Pay(_ context.Context, actor authz.Actor, req idempotency.Request, cmd commands.Pay) (commands.Reply, error) {
	p.pays = cmd
	return p.reply, p.asked(actor, req)
}

func (p *payments) Attempt(_ context.Context, actor authz.Actor, _ payment.AttemptID) (payment.View, error) {
	err := p.asked(actor, idempotency.Request{})
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.view, err
}

// shows sets the view while the API is in use.
func (p *payments) shows(a payment.Attempt) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.view = payment.View{Attempt: a}
}

func (p *payments) AmendOrder(_ context.Context, actor authz.Actor, req idempotency.Request, cmd commands.AmendOrder) (commands.AmendedOrder, error) {
	p.amends = cmd
	return commands.AmendedOrder{Order: p.order, Body: p.body, Result: p.result}, p.asked(actor, req)
}

func (p *payments) CancelOrder(_ context.Context, actor authz.Actor, req idempotency.Request, id payment.OrderID) (payment.Order, idempotency.Result, error) {
	p.named = string(id)
	return p.order, p.result, p.asked(actor, req)
}

func (p *payments) Complete(_ context.Context, actor authz.Actor, req idempotency.Request, cmd commands.Complete) (commands.Reply, error) {
	p.completes = cmd
	return p.reply, p.asked(actor, req)
}

func (p *payments) Confirm(_ context.Context, actor authz.Actor, req idempotency.Request, cmd commands.Confirm) (commands.Reply, error) {
	p.confirms = cmd
	return p.reply, p.asked(actor, req)
}

func (p *payments) Register(_ context.Context, actor authz.Actor, req idempotency.Request, cmd commands.External) (commands.Reply, error) {
	p.externals = cmd
	return p.reply, p.asked(actor, req)
}

func (p *payments) Report(_ context.Context, actor authz.Actor, req idempotency.Request, cmd commands.Report) (commands.Reply, error) {
	p.reports = cmd
	return p.reply, p.asked(actor, req)
}

func (p *payments) Cancel(_ context.Context, actor authz.Actor, req idempotency.Request, id payment.AttemptID) (commands.Reply, error) {
	p.named = id.String()
	return p.reply, p.asked(actor, req)
}

func (p *payments) Check(_ context.Context, actor authz.Actor, id payment.AttemptID) (payment.View, error) {
	p.named = id.String()
	return p.view, p.asked(actor, idempotency.Request{})
}

func (p *payments) Refund(_ context.Context, actor authz.Actor, req idempotency.Request, cmd commands.CreateRefund) (commands.RefundReply, error) {
	p.refunds = cmd
	return p.refund, p.asked(actor, req)
}

func (p *payments) RefundStatus(_ context.Context, actor authz.Actor, id payment.RefundID) (payment.Refund, error) {
	p.named = id.String()
	return p.refund.Refund, p.asked(actor, idempotency.Request{})
}

func (p *payments) Dispute(_ context.Context, actor authz.Actor, id payment.DisputeID) (payment.Dispute, error) {
	p.named = id.String()
	return p.dispute, p.asked(actor, idempotency.Request{})
}

func (p *payments) Intake(ctx context.Context, received []payment.ReceivedEvent) ([]fsm.Verdict, error) {
	p.mu.Lock()
	p.received = received
	p.mu.Unlock()
	if p.intake != nil {
		return p.intake(ctx, received)
	}
	return []fsm.Verdict{fsm.Applied}, p.err
}

func (p *payments) Known(context.Context, []payment.ReceivedEvent) (bool, error) {
	return !p.unknown, nil
}

func (p *payments) Early(sender string, received []payment.ReceivedEvent) error {
	p.early = append(p.early, sender+": "+received[0].Event.ID)
	return p.err
}

var errToken = errors.New("bad token")

// tokens takes the bearer for the user's name. A name with "service" in it is a service's; "support" and "admin" are
// roles; "panic" panics; "status." and an id is a status token; "key." with a role, and perhaps a dot and a scope (with ~ for its colon), is an API key.
type tokens struct{}

func (tokens) Authenticate(_ context.Context, bearer, onBehalfOf string) (authz.Actor, error) {
	switch {
	case bearer == "panic":
		panic("secret text")
	case bearer == "broken":
		return authz.Actor{}, errToken
	case bearer == "nobody":
		return authz.Actor{}, fmt.Errorf("%w: no", &authz.RoleError{Needed: []payment.Role{payment.RoleService}, Or: "leave out On-Behalf-Of"})
	case strings.HasPrefix(bearer, "key."):
		role, scope, narrow := strings.Cut(strings.TrimPrefix(bearer, "key."), ".")
		k := authz.Key{ID: uuid.UUID(attemptID), Roles: []payment.Role{payment.Role(role)}, CreatedBy: "admin"}
		if narrow {
			k.Scopes = []authz.Scope{authz.Scope(strings.ReplaceAll(scope, "~", ":"))}
		}
		actor := k.Actor()
		actor.OnBehalfOf = payment.UserID(onBehalfOf)
		return actor, nil
	case bearer == "support", bearer == "admin":
		return authz.Actor{Subject: bearer, Roles: []payment.Role{payment.Role(bearer)}}, nil
	case strings.HasPrefix(bearer, "status."):
		id, err := payment.ParseAttemptID(strings.TrimPrefix(bearer, "status."))
		return authz.Actor{OnlyAttempt: &id}, err
	case strings.Contains(bearer, "service"):
		return authz.Actor{Subject: bearer, Roles: []payment.Role{payment.RoleService}, OnBehalfOf: payment.UserID(onBehalfOf)}, nil
	}
	return authz.Actor{Subject: bearer, Roles: []payment.Role{payment.RoleCustomer}}, nil
}

func (tokens) StatusToken(id payment.AttemptID, until time.Time) string {
	return "status." + id.String() + "." + until.Format(time.RFC3339)
}

var attemptID = payment.AttemptID(uuid.MustParse("01980d3e-7f2a-7cc1-9d2b-3f0e5a6b7c8d"))

func pending() payment.Attempt {
	return payment.Attempt{
		ID: attemptID, OrderID: "A-1", UserID: "u1", RequestID: "key-00000001", Account: "sandbox",
		State: fsm.AwaitingCustomer, Money: payment.Money{Minor: 1999, Currency: "EUR"}, Capture: payment.CaptureAutomatic,
		NextAction: payment.Redirect("https://pay.example/?a=1&b=<2>"), Version: 2, CreatedAt: now.Add(-time.Second), UpdatedAt: now,
	}
}

func succeeded() payment.Attempt {
	a := pending()
	end := now.Add(1500 * time.Nanosecond)
	a.State, a.Version, a.FinalizedAt, a.ProviderPaymentID = fsm.Succeeded, 3, &end, "ch_1"
	a.Captured, a.Refunded = 1999, 500
	return a
}

var refundID = payment.RefundID(uuid.MustParse("01980d3e-9a10-7b55-8f0a-5d6c1e2f3a4b"))

func pendingRefund() payment.Refund {
	return payment.Refund{
		ID: refundID, OrderID: "A-1", AttemptID: attemptID, Origin: payment.RefundByRequest, UserID: "service-1", RequestID: "key-00000001",
		Account: "sandbox", State: fsm.RefundPending, Money: payment.Money{Minor: 500, Currency: "EUR"}, Reason: "One ticket <returned>",
		Version: 1, CreatedAt: now, UpdatedAt: now,
	}
}

func order(attempts ...payment.Attempt) payment.Order {
	return payment.Order{
		ID: "A-1", UserID: "u1", CreatedBy: payment.RoleService, RequestID: "key-00000001", Money: payment.Money{Minor: 1999, Currency: "EUR"},
		CreatedAt: now, UpdatedAt: now, Revision: 1, Attempts: attempts,
	}
}

func (p *payments) Question(_ context.Context, _ string, e webhooks.Event) (webhooks.Answer, error) {
	if e.Money != nil && e.Money.Minor == 1 {
		return webhooks.AnswerAmount, nil
	}
	return webhooks.AnswerAccept, nil
}
