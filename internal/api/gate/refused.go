package gate

import (
	"errors"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/api/exchange"
	"github.com/paylatch/paylatch/internal/api/problem"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/throttle"
)

// refusals limits the commands of each user that are refused for what they are, in this process: as many as the user has new keys. A
// refused command uses no key up, and costs reading and checking all the same.
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

// count stands before a command, behind what proves who calls.
func (r *refusals) count(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		user := string(exchange.In(c).Actor.User())
		if wait := r.limiter.Wait(user, r.now()); wait > 0 {
			return &idempotency.QuotaError{RetryAfter: wait}
		}
		err := next(c)
		if refused(err) {
			r.limiter.Reserve(user, r.now())
		}
		return err
	}
}

// refused reports whether a request was refused for what it is.
func refused(err error) bool {
	if p, ok := errors.AsType[*problem.Error](err); ok {
		return p.Code != "overloaded" && p.Code != "request-timeout"
	}
	_, invalid := errors.AsType[*payment.ValidationError](err)
	return invalid || errors.Is(err, payment.ErrForbidden) || errors.Is(err, idempotency.ErrKeyMissing) || errors.Is(err, idempotency.ErrKeyInvalid)
}
