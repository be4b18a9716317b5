package requests

import (
	"context"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/internal/console/layout"
	"github.com/paylatch/paylatch/internal/console/session"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/refundrequest"
	"github.com/paylatch/paylatch/internal/support"
)

// UseCases is the use cases of refund requests; *refundrequest.Service in the program.
type UseCases interface {
	Create(ctx context.Context, who support.Staff, cmd refundrequest.Create) (r refundrequest.Request, made bool, err error)
	Request(ctx context.Context, who support.Staff, id uuid.UUID) (refundrequest.Request, error)
	Requests(ctx context.Context, who support.Staff, state refundrequest.State, p support.Page) ([]refundrequest.Request, string, error)
	Approve(ctx context.Context, who support.Staff, id uuid.UUID, reason string) (refundrequest.Request, error)
	Decline(ctx context.Context, who support.Staff, id uuid.UUID, reason string) (refundrequest.Request, error)
}

// Attempt reads the page of a payment.
type Attempt func(ctx context.Context, who support.Staff, id payment.AttemptID) (support.Attempt, error)

// pages are the handlers.
type pages struct {
	UseCases
	attempt Attempt
}

// visit is one request in a session.
type visit struct {
	*session.Visit
	*pages
}

// Routes returns the pages by their method and address.
func Routes(cases UseCases, attempt Attempt) map[string]session.Handler {
	p := &pages{cases, attempt}
	routes := map[string]session.Handler{}
	for pattern, show := range map[string]func(v visit) error{
		"GET " + listPath:                        visit.list,
		"GET " + listPath + "/{id}/approve":      visit.askApprove,
		"POST " + listPath + "/{id}/approve":     visit.approve,
		"GET " + listPath + "/{id}/decline":      visit.askDecline,
		"POST " + listPath + "/{id}/decline":     visit.decline,
		"GET /support/attempts/{id}/ask-refund":  visit.showCreate,
		"POST /support/attempts/{id}/ask-refund": visit.create,
	} {
		routes[pattern] = func(v *session.Visit) error { return show(visit{v, p}) }
	}
	return routes
}

const listPath = "/support/refund-requests"

func approvePath(id uuid.UUID) string { return listPath + "/" + id.String() + "/approve" }

func declinePath(id uuid.UUID) string { return listPath + "/" + id.String() + "/decline" }

// listView is the content of the list.
type listView struct {
	layout.Frame
	Who     support.Staff
	Status  refundrequest.State
	List    []refundrequest.Request
	Further string
}

func (v visit) list() error {
	p, err := v.Page()
	if err != nil {
		return err
	}
	status := refundrequest.State(v.Query("status"))
	if status == "" {
		status = refundrequest.Open
	}
	list, next, err := v.Requests(v.R.Context(), v.Who, status, p)
	if err = v.Left(err); err != nil {
		return err
	}
	return v.Show(listPage(listView{v.Frame("Refund requests"), v.Who, status, list, v.Further(next)}))
}

// stateWords is a state in words, and in those of the one that withdrew it.
func stateWords(r refundrequest.Request) string {
	if r.Withdrawn() {
		return "withdrawn"
	}
	return string(r.State)
}

// declineTitle is the title of declining: a person withdraws an own request.
func declineTitle(r refundrequest.Request, who support.Staff) string {
	if r.By == who.Person() {
		return "Withdraw"
	}
	return "Decline"
}
