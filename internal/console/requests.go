package console

import (
	"context"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/internal/backoffice/refundrequest"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/payment"
)

// The pages of refund requests are the form on a payment's page by which support requests a refund, the list,
// and the forms by which an admin approves or declines. Permissions and the audit log are matters of the use cases.

// RefundRequests is the use cases of refund requests; *refundrequest.Service in the program.
type RefundRequests interface {
	Create(ctx context.Context, who support.Staff, cmd refundrequest.Create) (r refundrequest.Request, made bool, err error)
	Request(ctx context.Context, who support.Staff, id uuid.UUID) (refundrequest.Request, error)
	Requests(ctx context.Context, who support.Staff, state refundrequest.State, p support.Page) ([]refundrequest.Request, string, error)
	Approve(ctx context.Context, who support.Staff, id uuid.UUID, reason string) (refundrequest.Request, error)
	Decline(ctx context.Context, who support.Staff, id uuid.UUID, reason string) (refundrequest.Request, error)
}

// RequestedAttempt reads the page of a payment.
type RequestedAttempt func(ctx context.Context, who support.Staff, id payment.AttemptID) (support.Attempt, error)

// pages are the handlers.
type pages struct {
	RefundRequests
	attempt RequestedAttempt
}

// requestsVisit is one request in a session.
type requestsVisit struct {
	*Visit
	*pages
}

// requestRoutes returns the pages by their method and address.
func requestRoutes(cases RefundRequests, attempt RequestedAttempt) map[string]Handler {
	p := &pages{cases, attempt}
	routes := map[string]Handler{}
	for pattern, show := range map[string]func(v requestsVisit) error{
		"GET " + listPath:                        requestsVisit.list,
		"GET " + listPath + "/{id}/approve":      requestsVisit.askApprove,
		"POST " + listPath + "/{id}/approve":     requestsVisit.approve,
		"GET " + listPath + "/{id}/decline":      requestsVisit.askDecline,
		"POST " + listPath + "/{id}/decline":     requestsVisit.decline,
		"GET /support/attempts/{id}/ask-refund":  requestsVisit.showCreate,
		"POST /support/attempts/{id}/ask-refund": requestsVisit.create,
	} {
		routes[pattern] = func(v *Visit) error { return show(requestsVisit{v, p}) }
	}
	return routes
}

const listPath = "/support/refund-requests"

func approvePath(id uuid.UUID) string { return listPath + "/" + id.String() + "/approve" }

func declinePath(id uuid.UUID) string { return listPath + "/" + id.String() + "/decline" }

// listView is the content of the list.
type listView struct {
	Frame
	Who     support.Staff
	Status  refundrequest.State
	List    []refundrequest.Request
	Further string
}

func (v requestsVisit) list() error {
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

// requestsStateWords is the state of a request in words.
func requestsStateWords(r refundrequest.Request) string {
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
