package render

import (
	"cmp"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/api/gen"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/backoffice/bulk"
	"github.com/paylatch/paylatch/internal/events/outbox"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/auth"
)

// A Catalogue makes the RFC 9457 documents of error responses. One table maps errors to codes; each code has its status,
// its title and the next step for the caller.

// Catalogue is all problems that the API has.
type Catalogue struct {
	rows     []row
	kinds    []kind
	byCode   map[string]kind
	renderer Renderer
}

// NewCatalogue returns the catalogue. Attempts in problems are rendered by r. reused is the status of a reused key; 0 for the
// code's own, 409.
func NewCatalogue(r Renderer, reused int) *Catalogue {
	c := &Catalogue{rows: rows(), kinds: kinds(), byCode: make(map[string]kind), renderer: r}
	for i := range c.kinds {
		k := &c.kinds[i]
		if k.code == keyReused {
			k.status = cmp.Or(reused, k.status)
		}
		c.byCode[k.code] = *k
	}
	return c
}

// keyReused is the code with a status that the configuration may change.
const keyReused = "idempotency-key-reused"

// Executed reports whether a problem is the result of an executed command, which is kept with its key.
func (c *Catalogue) Executed(code string) bool { return c.byCode[code].executed }

// Document returns the problem of an error. It shows only those parts of the error's text that are meant for callers.
func (c *Catalogue) Document(requestID string, err error) gen.Problem {
	k := c.byCode[c.codeOf(err)]
	p := gen.Problem{
		Type: "/problems/" + k.code, Title: k.title(), Status: k.status, Detail: detail(k, err), Code: k.code,
		RequestID: requestID, Retryable: k.retryable, SafeNewKey: k.newKey == safe,
	}
	if wait := wait(k, err); wait > 0 {
		ms := wait.Milliseconds()
		p.RetryAfterMs = &ms
	}
	if wrong := fieldErrors(err); wrong != nil {
		fields := make([]gen.FieldError, len(wrong))
		for i, f := range wrong {
			fields[i] = gen.FieldError(f)
		}
		p.Errors = &fields
	}
	if _, early := errors.AsType[*EarlyError](err); early {
		p.SafeNewKey = false
	}
	if progress, ok := errors.AsType[*payment.InProgressError](err); ok {
		p.Attempt, p.Retryable = c.inTheWay(progress.Attempt), progress.Attempt.Failed()
	}
	if late, ok := errors.AsType[*payment.LateMoneyError](err); ok {
		p.Attempt = c.inTheWay(late.Attempt)
	}
	if lost, ok := errors.AsType[*outbox.ExpiredError](err); ok {
		p.RestartAfter = new(lost.RestartAfter.String())
	}
	return p
}

// inTheWay is the attempt of another request that a command is refused for.
func (c *Catalogue) inTheWay(a payment.Attempt) *gen.Attempt {
	shown := c.renderer.Attempt(payment.View{Attempt: a})
	shown.ClientRequestID = nil
	return &shown
}

func fieldErrors(err error) []payment.FieldError {
	if invalid, ok := errors.AsType[*payment.ValidationError](err); ok {
		return invalid.Fields
	}
	if refused, ok := errors.AsType[*ProblemError](err); ok {
		return refused.Fields
	}
	if role, ok := errors.AsType[*authz.RoleError](err); ok {
		return membersOf(role)
	}
	return nil
}

// membersOf names the members that the caller's role may not set; nil where all of the call is refused.
func membersOf(role *authz.RoleError) (fields []payment.FieldError) {
	for _, name := range role.Members {
		fields = append(fields, payment.FieldError{Field: name, Message: "must be set by " + role.Roles()})
	}
	return fields
}

func detail(k kind, err error) string {
	if refused, ok := errors.AsType[*ProblemError](err); ok && refused.Detail != "" {
		return refused.Detail
	}
	if role, ok := errors.AsType[*authz.RoleError](err); ok {
		advice := "Use a token with " + role.Roles()
		if role.Or != "" {
			advice += ", or " + role.Or
		}
		return advice + "."
	}
	if mayHold(err) {
		return "The provider may still hold money for a failed attempt, which the member `attempt` shows. paylatch is releasing the money. Send the same request again later."
	}
	if _, late := errors.AsType[*payment.LateMoneyError](err); late {
		return payment.LateMoneyText + " Show this text, and offer no other payment: the attempt that `attempt` shows holds the money."
	}
	if _, lost := errors.AsType[*outbox.ExpiredError](err); lost {
		return "The database was restored to a time before this cursor. Continue from `restart_after`: you miss no event, and get some events again."
	}
	if impossible, ok := errors.AsType[*payment.ResolutionError](err); ok {
		return impossible.Reason
	}
	if assigned, ok := errors.AsType[*payment.AssignedError](err); ok {
		return assignedTo(assigned.Assignee)
	}
	if running, ok := errors.AsType[*bulk.RunningError](err); ok {
		return "Job " + running.Job.ID.String() + " of " + running.Job.By.Subject + " is running. " + k.detail
	}
	reason, found := strings.CutPrefix(err.Error(), auth.ErrUnauthenticated.Error()+": ")
	if found && errors.Is(err, auth.ErrUnauthenticated) {
		return k.detail + " The reason: " + reason + "."
	}
	return k.detail
}

// assignedTo is how a discrepancy is taken over from whoever has it.
func assignedTo(name string) string {
	if name == "" {
		return "The discrepancy is unassigned. To assign it, send expected_assignee with null, or leave expected_assignee out."
	}
	return "The discrepancy is assigned to " + name + ". To take it over, send expected_assignee with this name."
}

// wait returns the time for Retry-After, at least a second.
func wait(k kind, err error) time.Duration {
	if quota, ok := errors.AsType[*idempotency.QuotaError](err); ok {
		return max(quota.RetryAfter, time.Second)
	}
	if mayHold(err) {
		return holdWait
	}
	return k.wait
}

// holdWait is when a pay may be sent again that a hold stood in the way of.
const holdWait = 5 * time.Second

// mayHold reports whether a failed attempt that may still hold money is in the way.
func mayHold(err error) bool {
	progress, ok := errors.AsType[*payment.InProgressError](err)
	return ok && progress.Attempt.Failed()
}

// ProblemMediaType is the media type of a problem document.
const ProblemMediaType = "application/problem+json"

// Response is a problem as it is sent and, for an executed command, kept.
func (c *Catalogue) Response(p gen.Problem) idempotency.Response {
	a := idempotency.Response{
		Status:  p.Status,
		Headers: map[string]string{echo.HeaderContentType: ProblemMediaType},
		Body:    JSON(p),
	}
	if p.RetryAfterMs != nil {
		wait := time.Duration(*p.RetryAfterMs) * time.Millisecond
		a.Headers[echo.HeaderRetryAfter] = strconv.FormatInt(Seconds(wait), 10)
	}
	if p.Status == http.StatusUnauthorized && p.Code == "unauthenticated" {
		a.Headers[echo.HeaderWWWAuthenticate] = "Bearer"
	}
	return a
}

// ProblemPage is the content of a code's page.
type ProblemPage struct {
	Code, Title, Meaning, Detail string
	Status                       int
	StatusText                   string
	Retryable, SafeNewKey        bool
}

// Pages lists the pages of all codes.
func (c *Catalogue) Pages() []ProblemPage {
	list := make([]ProblemPage, len(c.kinds))
	for i, k := range c.kinds {
		list[i] = ProblemPage{k.code, k.title(), k.meaning, k.detail, k.status, http.StatusText(k.status), k.retryable, k.newKey == safe}
	}
	return list
}
