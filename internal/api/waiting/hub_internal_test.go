package waiting

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/api/render"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/payment"
)

func TestStatus_render(t *testing.T) {
	t.Parallel()
	r := render.New(time.Now, 0)
	status := &Status{View: payment.View{Attempt: payment.Attempt{
		UserID: "u1", State: fsm.AwaitingCustomer, Version: 3, NextAction: &payment.NextAction{Type: "sdk", Data: []byte(`{"client_secret":"x"}`)},
	}}}
	one := status.render(r, authz.Actor{Subject: "u1"})
	require.Same(t, one, status.render(r, authz.Actor{Subject: "shop", Roles: []payment.Role{payment.RoleService}}), "8,000 waiters of one attempt share its text")
	require.Equal(t, "event: status\nid: 3\ndata: "+string(one.body)+"\n", string(one.event))
	require.Equal(t, 1, strings.Count(string(one.body), "\n"), "it fits into one line of an event")
	require.Contains(t, string(one.body), "client_secret")
	staff := status.render(r, authz.Actor{Subject: "ann", Roles: []payment.Role{payment.RoleSupport}})
	require.NotContains(t, string(staff.event), "client_secret")
	require.Contains(t, string(one.body), "client_secret")
}
