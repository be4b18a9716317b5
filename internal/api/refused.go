package api

import (
	"errors"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/api/render"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/throttle"
)

// refusals limits the invalid commands of each user in this process. The limit equals the user's quota of new idempotency keys. A
// refused command uses no key up, but reading and checking it has a cost.
type refusals struct {
	limiter *throttle.KeyedLimiter
	now     func() time.Time
}

func newRefusals(q idempotency.Quota, now func() time.Time) *refusals {
	if q.NewKeys <= 0 || q.Per <= 0 {
		return nil
	}
	return &refusals{throttle.New(float64(q.NewKeys)/q.Per.Seconds(), q.NewKeys), now}
}

// count runs before a command, after the authentication.
func (r *refusals) count(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		user := string(ExchangeIn(c).Actor.User())
		if wait := r.limiter.Wait(user, r.now()); wait > 0 {
			return &render.EarlyError{Err: &idempotency.QuotaError{RetryAfter: wait}}
		}
		err := next(c)
		if refused(err) {
			r.limiter.Reserve(user, r.now())
		}
		return err
	}
}

// refused reports whether a request was refused because of its content.
func refused(err error) bool {
	if p, ok := errors.AsType[*render.ProblemError](err); ok {
		return p.Code != "overloaded" && p.Code != "request-timeout"
	}
	_, invalid := errors.AsType[*payment.ValidationError](err)
	return invalid || errors.Is(err, payment.ErrForbidden) || errors.Is(err, idempotency.ErrKeyMissing) || errors.Is(err, idempotency.ErrKeyInvalid)
}
