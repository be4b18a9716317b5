package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

func TestAccess(t *testing.T) {
	t.Parallel()
	t.Run("read", accessRead)
	t.Run("same_request_of_another_user", accessSameRequestOfAnotherUser)
	t.Run("commands", accessCommands)
}

func accessRead(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	id, other := r.paid(t, "A-1", "tok_success").ID, r.paid(t, "A-2", "tok_success").ID
	refund := r.refund(t, id, "refund-1").ID
	of := func(subject string, behalf payment.UserID, role payment.Role) authz.Actor {
		return authz.Actor{Subject: subject, Roles: []payment.Role{role}, OnBehalfOf: behalf}
	}
	for name, c := range map[string]struct {
		actor authz.Actor
		want  error
	}{
		"the owner":               {customer, nil},
		"another customer":        {of("u2", "", payment.RoleCustomer), payment.ErrForbidden},
		"a service":               {of("shop", "", payment.RoleService), nil},
		"a service for the owner": {of("shop", "u1", payment.RoleService), nil},
		"a service for another":   {of("shop", "u2", payment.RoleService), payment.ErrForbidden},
		"support":                 {sam, nil},
		"an administrator":        {of("ada", "", payment.RoleAdmin), nil},
		"nobody":                  {authz.Actor{Subject: "u1"}, payment.ErrForbidden},
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

	token := authz.Actor{OnlyAttempt: &id}
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

// A request of another user with the same key and content is another request: it gets neither
// the order nor the payment of the first.
func accessSameRequestOfAnotherUser(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	r.paid(t, "A-1", "tok_success")
	stranger := authz.Actor{Subject: "u2", Roles: []payment.Role{payment.RoleCustomer}}
	backend := authz.Actor{Subject: "shop", Roles: []payment.Role{payment.RoleService}, OnBehalfOf: "u2"}
	create, pay := request("orders", "order-A-1", "A-1"), request("pay A-1", "first-key", "tok_success")
	create.User, pay.User = "u2", "u2"
	_, _, err := r.CreateOrder(t.Context(), backend, create, commands.CreateOrder{OrderID: "A-1", Money: payment.Money{Minor: price, Currency: "EUR"}})
	require.ErrorIs(t, err, payment.ErrOrderExists)
	_, err = r.Pay(t.Context(), stranger, pay, commands.Pay{OrderID: "A-1", Details: gateway.Details{Token: "tok_success"}, Capture: payment.CaptureAutomatic})
	require.ErrorIs(t, err, payment.ErrForbidden)
}

// No command on the payment or order of another user is accepted, and nothing of it moves.
func accessCommands(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	id := r.held(t, "A-1").ID
	before := r.attempt(t, id)
	for i, stranger := range []authz.Actor{
		{Subject: "u2", Roles: []payment.Role{payment.RoleCustomer}},
		{Subject: "shop", Roles: []payment.Role{payment.RoleService}, OnBehalfOf: "u2"},
		{Subject: "u1", Roles: []payment.Role{payment.RoleSupport}},
	} {
		req := func(endpoint string) idempotency.Request {
			req := request(endpoint, "key-of-case-"+string(rune('0'+i)), "")
			req.User = string(stranger.User())
			return req
		}
		_, err := r.Confirm(t.Context(), stranger, req("confirm"), commands.Confirm{AttemptID: id})
		require.ErrorIs(t, err, payment.ErrForbidden)
		_, err = r.Cancel(t.Context(), stranger, req("cancel"), id)
		require.ErrorIs(t, err, payment.ErrForbidden)
		_, _, err = r.CancelOrder(t.Context(), stranger, req("cancel order"), "A-1")
		require.ErrorIs(t, err, payment.ErrForbidden)
	}
	after := r.attempt(t, id)
	after.ReadAt = before.ReadAt
	require.Equal(t, before, after)
	o, err := r.Order(t.Context(), customer, "A-1")
	require.NoError(t, err)
	require.Nil(t, o.CancelRequestedAt)
}
