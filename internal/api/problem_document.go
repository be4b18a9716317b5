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
	if invalid, ok := errors.AsType[*payment.ValidationError](err); ok {
		fields := make([]gen.FieldError, len(invalid.Fields))
		for i, f := range invalid.Fields {
			fields[i] = gen.FieldError(f)
		}
		p.Errors = &fields
	}
	if progress, ok := errors.AsType[*payment.InProgressError](err); ok {
		inTheWay := s.attempt(payment.View{Attempt: progress.Attempt})
		inTheWay.ClientRequestID = nil
		p.Attempt = &inTheWay
	}
	return p
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
	return k.wait
}

// seconds is a wait as Retry-After gives it.
func seconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }
