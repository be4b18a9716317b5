package api

import (
	"context"
	"net/http"

	"github.com/paylatch/paylatch/internal/api/gen"
	"github.com/paylatch/paylatch/internal/api/render"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/backoffice/lists"
	"github.com/paylatch/paylatch/internal/payment"
)

// Lists is the use cases of lists; *lists.Service in the real program.
type Lists interface {
	Orders(ctx context.Context, actor authz.Actor, q lists.Query) (lists.Page[payment.Order], error)
	Attempts(ctx context.Context, actor authz.Actor, q lists.Query) (lists.Page[payment.View], error)
	Refunds(ctx context.Context, actor authz.Actor, q lists.Query) (lists.Page[payment.Refund], error)
	Disputes(ctx context.Context, actor authz.Actor, q lists.Query) (lists.Page[payment.Dispute], error)
	Settlements(ctx context.Context, actor authz.Actor, q lists.Query) (lists.Page[payment.Settlement], error)
	Payouts(ctx context.Context, actor authz.Actor, q lists.Query) (lists.Page[payment.Payout], error)
	Payout(ctx context.Context, actor authz.Actor, id payment.PayoutID) (payment.Payout, error)
	Reconciliations(ctx context.Context, actor authz.Actor, q lists.Query) (lists.Page[lists.Reconciliation], error)
}

// ListOrders handles GET /v1/orders.
func (s *server) ListOrders(ctx context.Context, _ gen.ListOrdersRequestObject) (gen.ListOrdersResponseObject, error) {
	return listed(ctx, lists.Orders, s.Lists.Orders, func(o payment.Order) gen.Order { return s.renderOf(ctx, o.UserID).Order(o) })
}

// ListPaymentAttempts handles GET /v1/payment-attempts.
func (s *server) ListPaymentAttempts(ctx context.Context, _ gen.ListPaymentAttemptsRequestObject) (gen.ListPaymentAttemptsResponseObject, error) {
	return listed(ctx, lists.Attempts, s.Lists.Attempts, func(v payment.View) gen.Attempt { return s.renderOf(ctx, v.UserID).Attempt(v) })
}

// ListRefunds handles GET /v1/refunds.
func (s *server) ListRefunds(ctx context.Context, _ gen.ListRefundsRequestObject) (gen.ListRefundsResponseObject, error) {
	return listed(ctx, lists.Refunds, s.Lists.Refunds, render.Refund)
}

// ListDisputes handles GET /v1/disputes.
func (s *server) ListDisputes(ctx context.Context, _ gen.ListDisputesRequestObject) (gen.ListDisputesResponseObject, error) {
	return listed(ctx, lists.Disputes, s.Lists.Disputes, render.Dispute)
}

// listed responds with a page, or with all matching items if the caller accepts an export. It expects only known parameters, each at most
// once: the gate has refused others.
func listed[T, U any](
	ctx context.Context, kind lists.Kind, read func(context.Context, authz.Actor, lists.Query) (lists.Page[T], error), shown func(T) U,
) (writes, error) {
	x := ExchangeOf(ctx)
	params := map[string]string{}
	for name, values := range x.Query() {
		params[name] = values[0]
	}
	format := render.AcceptedFormat(x.Accept())
	for _, name := range []string{"limit", "cursor"} {
		if format != "" && params[name] != "" {
			return nil, payment.Invalid(name, "is only for pages: leave it out, because an export has all matching items")
		}
	}
	q, err := lists.Parse(kind, params)
	if err != nil {
		return nil, err
	}
	if format != "" && !x.Head {
		q = q.Whole()
	}
	page, err := read(ctx, x.Actor, q)
	if err != nil {
		return nil, err
	}
	if format == "" {
		return response{http.StatusOK, render.Page(page.Items, page.Next, shown)}.send, nil
	}
	return func(w http.ResponseWriter) error {
		cut := render.WriteExport(w, format, render.All(page.Items, shown), func() ([]U, bool, error) {
			if page.Next == "" || x.Head {
				return nil, false, nil
			}
			if page, err = read(ctx, x.Actor, page.Then()); err != nil {
				return nil, false, err
			}
			return render.All(page.Items, shown), true, nil
		})
		if ctx.Err() == nil { // else the peer has gone
			x.Cut = cut
		}
		return nil
	}, nil
}
