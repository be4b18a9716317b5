package payment_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/payment"
)

func TestWhoMayRead(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
	id, other := r.paid(t, "A-1", "tok_success").ID, r.paid(t, "A-2", "tok_success").ID
	refund := r.refund(t, id, "refund-1").ID
	of := func(subject string, behalf payment.UserID, role payment.Role) payment.Actor {
		return payment.Actor{Subject: subject, Roles: []payment.Role{role}, OnBehalfOf: behalf}
	}
	for name, c := range map[string]struct {
		actor payment.Actor
		want  error
	}{
		"the owner":               {customer, nil},
		"another customer":        {of("u2", "", payment.RoleCustomer), payment.ErrForbidden},
		"a service":               {of("shop", "", payment.RoleService), nil},
		"a service for the owner": {of("shop", "u1", payment.RoleService), nil},
		"a service for another":   {of("shop", "u2", payment.RoleService), payment.ErrForbidden},
		"support":                 {sam, nil},
		"an administrator":        {of("ada", "", payment.RoleAdmin), nil},
		"nobody":                  {payment.Actor{Subject: "u1"}, payment.ErrForbidden},
	} {
		_, err := r.Attempt(t.Context(), c.actor, id)
		require.ErrorIs(t, err, c.want, name)
		_, err = r.Order(t.Context(), c.actor, "A-1")
		require.ErrorIs(t, err, c.want, name)
		_, err = r.Attempts(t.Context(), c.actor, "A-1", "")
		require.ErrorIs(t, err, c.want, name)
		_, err = r.RefundStatus(t.Context(), c.actor, refund)
		require.ErrorIs(t, err, c.want, name)
	}

	token := payment.Actor{OnlyAttempt: &id}
	_, err := r.Attempt(t.Context(), token, id)
	require.NoError(t, err)
	for _, not := range []payment.AttemptID{other, {1}} {
		_, err = r.Attempt(t.Context(), token, not)
		require.ErrorIs(t, err, payment.ErrForbidden, "it does not tell which there are")
	}
	_, err = r.Order(t.Context(), token, "A-1")
	require.ErrorIs(t, err, payment.ErrForbidden)
	_, err = r.RefundStatus(t.Context(), token, refund)
	require.ErrorIs(t, err, payment.ErrForbidden)
}

// What somebody else has made with the same words stays theirs: an order of the same id
// and content, and a payment under the same key.
func TestTheSameRequestOfAnotherUserIsAnotherRequest(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
	r.paid(t, "A-1", "tok_success")
	stranger := payment.Actor{Subject: "u2", Roles: []payment.Role{payment.RoleCustomer}}
	backend := payment.Actor{Subject: "shop", Roles: []payment.Role{payment.RoleService}, OnBehalfOf: "u2"}
	create, pay := request("orders", "order-A-1", "A-1"), request("pay A-1", "first-key", "tok_success")
	create.User, pay.User = "u2", "u2"
	_, _, err := r.CreateOrder(t.Context(), backend, create, payment.CreateOrder{OrderID: "A-1", Money: payment.Money{Minor: price, Currency: "EUR"}})
	require.ErrorIs(t, err, payment.ErrOrderExists)
	_, err = r.Pay(t.Context(), stranger, pay, payment.Pay{OrderID: "A-1", Token: "tok_success", Capture: payment.CaptureAutomatic})
	require.ErrorIs(t, err, payment.ErrForbidden)
}
