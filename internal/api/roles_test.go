package api_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/api"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/backoffice/lists"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/engine/runner"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/current"
)

// shelf holds one paid order of u1 and lets no transaction begin: a command that
// is allowed to get that far finds nothing.
type shelf struct{ commands.Store }

func (shelf) InCommandTx(context.Context, func(context.Context, commands.Tx) error) error {
	return payment.ErrOrderNotFound
}

func (shelf) KeyRead(context.Context, idempotency.Request) (idempotency.Record, bool, error) {
	return idempotency.Record{}, false, nil
}

func (shelf) AttemptsByRequest(context.Context, []payment.RequestName) (map[payment.RequestName]payment.Attempt, error) {
	return map[payment.RequestName]payment.Attempt{}, nil
}

func (shelf) RefundByRequest(context.Context, payment.AttemptID, payment.UserID, payment.RequestID) (payment.Refund, error) {
	return payment.Refund{}, payment.ErrRefundNotFound
}

func (shelf) Order(context.Context, payment.OrderID) (payment.Order, error) {
	return order(succeeded()), nil
}

func (shelf) OrderDetails(context.Context, payment.OrderID) ([]byte, int, error) { return nil, 0, nil }

func (shelf) Attempt(context.Context, payment.AttemptID) (payment.Attempt, error) {
	return undisputed(), nil
}

// undisputed is a paid attempt as a store reads it.
func undisputed() payment.Attempt {
	a := succeeded()
	a.Disputes = []payment.Dispute{}
	return a
}

func (shelf) AttemptsByID(context.Context, []payment.AttemptID) (map[payment.AttemptID]payment.Attempt, error) {
	a := undisputed()
	return map[payment.AttemptID]payment.Attempt{a.ID: a}, nil
}

func (shelf) Refund(context.Context, payment.RefundID) (payment.Refund, error) {
	return pendingRefund(), nil
}

func (shelf) Dispute(context.Context, payment.DisputeID) (payment.Dispute, error) {
	return dispute(), nil
}

// unasked is a provider that is never called.
type unasked struct{ gateway.Provider }

func (unasked) TokenKind(string) gateway.TokenKind { return gateway.TokenSingleUse }

func (unasked) Unseen(gateway.Details) (time.Duration, bool) { return 0, false }

func (unasked) Capabilities() payment.Capabilities { return payment.Capabilities{} }

// calm has no disputes.
type calm struct{ runner.Store }

func (calm) Disputes(context.Context, payment.AttemptID) ([]payment.Dispute, error) { return nil, nil }

// useCases puts the real use cases behind the API.
func useCases(o *api.Options) { useCasesFor(o, nil) }

// useCasesFor is useCases with customers that have rights.
func useCasesFor(o *api.Options, rights []authz.Right) {
	rules := changeset.Rules{Accounts: current.Of(map[string]gateway.Account{"sandbox": {Provider: unasked{}}})}
	o.Lists = lists.New(&drawer{refunds: 1})
	ordersBy := []payment.Role{payment.RoleService}
	if slices.Contains(rights, authz.CreateOrder) {
		ordersBy = append(ordersBy, payment.RoleCustomer)
	}
	all := commands.New(commands.Options{
		OrdersBy: ordersBy, CustomersMay: rights, Store: shelf{}, DefaultAccount: "sandbox", Runner: runner.New(runner.Options{Store: calm{}, Rules: rules, Now: o.Now}),
	})
	o.Payments, o.Reads = all, all
}

// The rights of each role, with the real use cases.
func TestRoles(t *testing.T) {
	t.Parallel()
	b := newBench(t, useCases)
	b.invented = true
	const (
		customer = "u1"
		stranger = "u2"
		service  = "service-1"
		support  = "support"
		admin    = "admin"
	)
	own, other := "status."+attemptID.String(), "status.01980d3e-0000-7000-8000-000000000000"
	for call, allowed := range map[string][]string{
		"POST /v1/orders " + goodOrder:                 {service},
		"POST /v1/orders/A-1/pay " + goodPay:           {customer, stranger, service},
		`PATCH /v1/orders/A-1 {"amount":1}`:            {service},
		"POST /v1/orders/A-1/cancel {}":                {customer, stranger, service},
		"POST " + attemptPath + "/confirm {}":          {service},
		"POST " + attemptPath + "/cancel {}":           {customer, stranger, service},
		"POST " + attemptPath + "/refunds {}":          {service, admin},
		"POST " + attemptPath + "/check ":              {customer, service, own},
		"GET /v1/orders/A-1 ":                          {customer, service, support, admin},
		"GET /v1/orders/A-1/attempts ":                 {customer, service, support, admin},
		"GET " + attemptPath + " ":                     {customer, service, support, admin, own},
		"GET /v1/refunds/" + refundID.String() + " ":   {customer, service, support, admin},
		"GET /v1/orders?limit=1 ":                      {service, support, admin},
		"GET /v1/payment-attempts ":                    {service, support, admin},
		"GET /v1/refunds ":                             {service, support, admin},
		"GET /v1/disputes?status=open ":                {service, support, admin},
		"GET /v1/disputes/" + disputeID.String() + " ": {service, support, admin},
		"GET /v1/settlements?kind=refund ":             {service, support, admin},
		"GET /v1/payouts?status=paid ":                 {service, support, admin},
		"GET /v1/payouts/" + payoutID.String() + " ":   {service, support, admin},
		"GET /v1/reconciliations ":                     {service, support, admin},
	} {
		line := strings.SplitN(call, " ", 3)
		for _, who := range []string{customer, stranger, service, support, admin, own, other} {
			headers := []string{"Authorization: Bearer " + who, "Idempotency-Key: key-00000001"}
			if who == service && line[0] != http.MethodGet {
				headers = append(headers, "On-Behalf-Of: u1")
			}
			got := b.send(line[0], line[1], line[2], headers...)
			want := http.StatusForbidden
			for _, a := range allowed {
				if a == who && (line[0] == http.MethodGet || strings.HasSuffix(line[1], "/check")) {
					want = http.StatusOK
				} else if a == who {
					want = http.StatusNotFound
				}
			}
			require.Equal(t, want, got.StatusCode, "%s: %s: %s", who, call, got.text)
		}
	}
	b.send(http.MethodGet, "/v1/refunds/"+refundID.String(), "", "Authorization: Bearer service-1", "On-Behalf-Of: u2").is(t, 403, "forbidden")
	b.send(http.MethodGet, "/v1/disputes/"+disputeID.String(), "", "Authorization: Bearer service-1", "On-Behalf-Of: u2").is(t, 403, "forbidden")
	b.send(http.MethodGet, "/v1/disputes/dp_1", "").is(t, 403, "forbidden")
}

// A refusal names the remedy: another role, or the owner's token.
func TestForbiddenSaysWhatWouldHelp(t *testing.T) {
	t.Parallel()
	b := newBench(t, useCases, func(o *api.Options) { o.Support = support.New(support.Options{Store: onlyDeeds{}}) })
	const (
		owner = "Use the token of the owner, or of a service that acts for the owner by On-Behalf-Of."
		role  = "Use a token with the role "
	)
	for call, want := range map[string]string{
		"support POST /v1/orders/A-1/pay " + goodPay:                           role + "customer or service.",
		"admin POST /v1/orders " + goodOrder:                                   role + "service.",
		"u1 POST " + attemptPath + "/refunds {}":                               role + "service or admin.",
		"u1 GET /v1/support/search?q=a ":                                       role + "support or admin.",
		"support GET /v1/support/audit ":                                       role + "admin.",
		"nobody GET /v1/orders/A-1 ":                                           role + "service, or leave out On-Behalf-Of.",
		"u2 GET /v1/orders/A-1 ":                                               owner,
		"u2 GET " + attemptPath + " ":                                          owner,
		"status." + attemptID.String() + " GET /v1/orders/A-1 ":                "A status token reads only its own attempt. Use a token with a role.",
		"status." + attemptID.String() + " POST " + attemptPath + "/cancel {}": "A status token reads only its own attempt. Use a token with a role.",
		"status." + attemptID.String() + " GET /v1/support/search?q=a ":        "A status token reads only its own attempt. Use a token with a role.",
	} {
		line := strings.SplitN(call, " ", 4)
		got := b.send(line[1], line[2], line[3], "Authorization: Bearer "+line[0], "Idempotency-Key: key-00000001")
		require.Equal(t, http.StatusForbidden, got.StatusCode, call)
		require.Equal(t, want, got.object(t)["detail"], call)
	}
}
