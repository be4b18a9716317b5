package providertest

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"strconv"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// byHand replaces our refund's id in a refund that is made in the dashboard.
const byHand = "made_by_hand"

// refundShown asserts that a lookup of a payment contains its refunds: ours by our reference, and the refunds that were
// made in the provider's dashboard. If the adapter declares that the API does not show refunds, the lookup must name no
// refund.
func refundShown(r *rig) {
	if r.can.Blind() || r.can.Refunds == payment.RefundsNone || r.can.Refunds < payment.RefundsParts {
		return
	}
	paid := r.charged(charge(r.Tokens.Success))
	id := paid.ProviderPaymentID
	before, err := r.Lookup(r.Context(), id)
	require.NoError(r, err)
	require.Empty(r, before.Refunds)
	ours := refundOf(id, 700)
	made, err := r.Refund(r.Context(), ours)
	require.NoError(r, err)
	theirs := r.inDashboard(refundOf(id, 500))
	now, err := r.Lookup(r.Context(), id)
	require.NoError(r, err)
	require.Equal(r, before.Event, now.Event)
	if r.can.Shows < payment.ShowsRefunds {
		require.Empty(r, now.Refunds)
		return
	}
	require.Equal(r, before.Money, now.Money)
	require.Len(r, now.Refunds, 2)
	shown, mark := refundNamed(r, now, made.ProviderRefundID), ours.Refund.String()
	if r.Unmarked {
		mark = ""
	}
	if r.can.RefundLookup > payment.RefundLookupNone {
		found, err := r.LookupRefund(r.Context(), gateway.RefundRef{Refund: ours.Refund, ProviderRefundID: made.ProviderRefundID, ProviderPaymentID: id})
		require.NoError(r, err)
		found.Reference = mark
		require.Equal(r, found, shown)
	}
	require.Equal(r, mark, shown.Reference)
	other := refundNamed(r, now, theirs.ProviderRefundID)
	require.NotEqual(r, ours.Refund.String(), other.Reference)
	require.Equal(r, euro(500), *other.Money)
	require.Contains(r, []fsm.Event{fsm.EventSucceeded, fsm.EventProcessing}, other.Event)
}

func refundNamed(r *rig, o gateway.Outcome, id string) gateway.RefundOutcome {
	r.Helper()
	require.NotEmpty(r, id)
	i := slices.IndexFunc(o.Refunds, func(one gateway.RefundOutcome) bool { return one.ProviderRefundID == id })
	require.GreaterOrEqual(r, i, 0, "the lookup has no refund %s: %+v", id, o.Refunds)
	return o.Refunds[i]
}

// inDashboard makes a refund without our reference.
func (r *rig) inDashboard(c gateway.RefundCall) gateway.RefundOutcome {
	r.Helper()
	ours := []byte(c.Refund.String())
	r.breaks(func(w http.ResponseWriter, req *http.Request, fake http.Handler) {
		request := received(req)
		body := bytes.ReplaceAll(request.Body, ours, []byte(byHand))
		req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		req.Header.Set("Content-Length", strconv.Itoa(len(body)))
		fake.ServeHTTP(w, req)
	})
	defer r.mends()
	o, err := r.Refund(r.Context(), c)
	require.NoError(r, err)
	return o
}

// holdShown asserts that the lookup of an uncaptured payment makes one call, because such a payment has no refunds.
func holdShown(r *rig) {
	if r.can.Blind() || r.can.Captures == payment.CapturesNone {
		return
	}
	o := r.held()
	before := len(r.requests())
	now, err := r.Lookup(r.Context(), o.ProviderPaymentID)
	require.NoError(r, err)
	require.Equal(r, fsm.EventAuthorized, now.Event)
	require.Empty(r, now.Refunds)
	require.Len(r, r.requests(), before+1)
}
