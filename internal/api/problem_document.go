package api

import (
	"errors"
	"strings"
	"time"

	"github.com/paylatch/paylatch/internal/api/gen"
	"github.com/paylatch/paylatch/internal/auth"
	"github.com/paylatch/paylatch/internal/idempotency"
	"github.com/paylatch/paylatch/internal/payment"
)

// problemOf is the document that tells a caller of an error. Of the error's own
// text it shows only what was written to be shown.
func (s *server) problemOf(x *exchange, err error) gen.Problem {
	k := s.problems.byCode[s.problems.codeOf(err)]
	p := gen.Problem{
		Type: "/problems/" + k.code, Title: k.title(), Status: k.status, Detail: detail(k, err), Code: k.code,
		RequestID: x.requestID, Retryable: k.retryable,
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
	if progress, ok := errors.AsType[*payment.InProgressError](err); ok {
		p.Attempt, p.Retryable = s.inTheWay(progress.Attempt), progress.Attempt.Failed()
	}
	if late, ok := errors.AsType[*payment.LateMoneyError](err); ok {
		p.Attempt = s.inTheWay(late.Attempt)
	}
	return p
}

// inTheWay is the attempt of another request that a command is refused for.
func (s *server) inTheWay(a payment.Attempt) *gen.Attempt {
	shown := s.render.Attempt(payment.View{Attempt: a})
	shown.ClientRequestID = nil
	return &shown
}

func fieldErrors(err error) []payment.FieldError {
	if invalid, ok := errors.AsType[*payment.ValidationError](err); ok {
		return invalid.Fields
	}
	if card, ok := errors.AsType[*cardNumberError](err); ok {
		return card.fields()
	}
	return nil
}

func detail(k kind, err error) string {
	if refused, ok := errors.AsType[*refusal](err); ok && refused.detail != "" {
		return refused.detail
	}
	if role, ok := errors.AsType[*payment.RoleError](err); ok {
		advice := "Use a token with " + role.Roles()
		if role.Or != "" {
			advice += ", or " + role.Or
		}
		return advice + "."
	}
	if mayHold(err) {
		return "Money may still be held for an attempt that has failed: it is in the member attempt, and is being given up. Send the same request again later."
	}
	if _, late := errors.AsType[*payment.LateMoneyError](err); late {
		return payment.LateMoneyText + " Show that, and offer no other payment: the member attempt holds the money."
	}
	if impossible, ok := errors.AsType[*payment.ResolutionError](err); ok {
		return impossible.Reason
	}
	reason, found := strings.CutPrefix(err.Error(), auth.ErrUnauthenticated.Error()+": ")
	if found && errors.Is(err, auth.ErrUnauthenticated) {
		return k.detail + " The reason: " + reason + "."
	}
	return k.detail
}

// wait is never less than what Retry-After can say.
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

// mayHold reports whether what is in the way is a hold that a failed attempt may have.
func mayHold(err error) bool {
	progress, ok := errors.AsType[*payment.InProgressError](err)
	return ok && progress.Attempt.Failed()
}
