package refundrequest_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/backoffice/refundrequest"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/payment"
)

func TestCreate(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	id := e.paid(t)
	r := e.ask(t, id, 500)
	require.Equal(t, refundrequest.Open, r.State)
	require.Equal(t, payment.Money{Minor: 500, Currency: "EUR"}, r.Money)
	require.EqualValues(t, "A-1", r.OrderID)
	require.EqualValues(t, "u1", r.UserID)
	require.Empty(t, e.refunds(t))

	same, made, err := e.requests.Create(t.Context(), sam, refundrequest.Create{AttemptID: id, Amount: 500, Currency: "EUR", Reason: "case 4711"})
	require.NoError(t, err)
	require.False(t, made)
	require.Equal(t, r.ID, same.ID)

	// Together the requests may reach the amount left.
	_, _, err = e.requests.Create(t.Context(), sue, refundrequest.Create{AttemptID: id, Amount: 1500, Reason: "r"})
	require.ErrorIs(t, err, payment.ErrRefundExceeds)
	_, made, err = e.requests.Create(t.Context(), sue, refundrequest.Create{AttemptID: id, Amount: 1499, Reason: "r"})
	require.NoError(t, err)
	require.True(t, made)
	require.Equal(t, []string{"sam refund_request.create done", "sue refund_request.create refused", "sue refund_request.create done"}, e.audit(t))
	require.Len(t, rows[string](t, e, "SELECT 'x' FROM staff_audit WHERE attempt_id = $1 AND order_id = 'A-1'", uuid.UUID(id)), 3)
}

func TestCreateRefused(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	id := e.paid(t)
	for name, c := range map[string]struct {
		who    support.Staff
		create refundrequest.Create
		want   error
	}{
		"too much":         {sam, refundrequest.Create{AttemptID: id, Amount: 2000, Reason: "r"}, payment.ErrRefundExceeds},
		"another attempt":  {sam, refundrequest.Create{AttemptID: payment.AttemptID{1}, Amount: 1, Reason: "r"}, payment.ErrAttemptNotFound},
		"nothing":          {sam, refundrequest.Create{AttemptID: id, Amount: 0, Reason: "r"}, &payment.ValidationError{}},
		"less than that":   {sam, refundrequest.Create{AttemptID: id, Amount: -1, Reason: "r"}, &payment.ValidationError{}},
		"another currency": {sam, refundrequest.Create{AttemptID: id, Amount: 1, Currency: "USD", Reason: "r"}, &payment.ValidationError{}},
		"no reason":        {sam, refundrequest.Create{AttemptID: id, Amount: 1, Reason: " "}, &payment.ValidationError{}},
		"a customer":       {staff("u1", payment.RoleCustomer), refundrequest.Create{AttemptID: id, Amount: 1, Reason: "r"}, payment.ErrForbidden},
		"a service":        {staff("shop", payment.RoleService), refundrequest.Create{AttemptID: id, Amount: 1, Reason: "r"}, payment.ErrForbidden},
	} {
		_, _, err := e.requests.Create(t.Context(), c.who, c.create)
		if invalid := new(*payment.ValidationError); errors.As(c.want, invalid) {
			require.ErrorAs(t, err, invalid, name)
			continue
		}
		require.ErrorIs(t, err, c.want, name)
	}
	split := func(is bool) {
		_, err := e.db.Exec(t.Context(), "UPDATE payment_attempts SET split = $1", is)
		require.NoError(t, err)
	}
	split(true)
	_, _, err := e.requests.Create(t.Context(), sam, refundrequest.Create{AttemptID: id, Amount: 1, Reason: "r"})
	var invalid *payment.ValidationError
	require.ErrorAs(t, err, &invalid, "a request can't say who bears it")
	require.Equal(t, "payment_attempt_id", invalid.Fields[0].Field)
	split(false)
	e.refundOnce(t, id, 1999)
	_, _, err = e.requests.Create(t.Context(), sam, refundrequest.Create{AttemptID: id, Amount: 1, Reason: "r"})
	require.ErrorIs(t, err, payment.ErrNotRefundable)
	require.Empty(t, rows[string](t, e, "SELECT reason FROM refund_requests"))
}

// A form that is sent many times at once makes one request.
func TestCreateAtOnce(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	id := e.paid(t)
	var all sync.WaitGroup
	start := make(chan struct{})
	for range 8 {
		all.Go(func() {
			<-start
			if _, _, err := e.requests.Create(t.Context(), sam, refundrequest.Create{AttemptID: id, Amount: 700, Reason: "r"}); err != nil {
				t.Error(err)
			}
		})
	}
	close(start)
	all.Wait()
	require.Len(t, rows[string](t, e, "SELECT reason FROM refund_requests"), 1)
	require.Equal(t, []string{"sam refund_request.create done"}, e.audit(t))
}
