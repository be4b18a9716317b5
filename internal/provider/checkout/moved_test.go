package checkout_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/checkout"
)

// taken returns a client of a fake with a captured payment.
func taken(t *testing.T) (c *checkout.Client, f *fake, id string, seen <-chan request) {
	t.Helper()
	f = newFake()
	c, seen = serve(t, f.handler(f))
	id = charged(t, c, charge(cardOK)).ProviderPaymentID
	<-seen
	return c, f, id, seen
}

func TestLookupShowsDisputes(t *testing.T) {
	t.Parallel()
	money := payment.Money{Minor: 1999, Currency: "EUR"}
	updated := time.Date(2026, 3, 16, 0, 0, 0, 0, time.UTC)
	const id = "dsp_rbhwd2qrg13uhrp2newf"
	took := payment.MovementReport{Kind: payment.MovementChargeback, Dispute: id, Whole: true, Money: money}
	back, has := took, took
	back.Kind, back.At, has.At = payment.MovementChargebackReversal, updated, updated
	for status, want := range map[string]struct {
		state fsm.DisputeState
		moved []payment.MovementReport
	}{
		"evidence_required":        {fsm.DisputeOpen, []payment.MovementReport{has}},
		"evidence_under_review":    {fsm.DisputeUnderReview, []payment.MovementReport{has}},
		"arbitration_under_review": {fsm.DisputeUnderReview, []payment.MovementReport{has}},
		"won":                      {fsm.DisputeWon, []payment.MovementReport{took, back}},
		"arbitration_won":          {fsm.DisputeWon, []payment.MovementReport{took, back}},
		"canceled":                 {fsm.DisputeWon, []payment.MovementReport{took, back}},
		"lost":                     {fsm.DisputeLost, []payment.MovementReport{has}},
		"arbitration_lost":         {fsm.DisputeLost, []payment.MovementReport{has}},
		"expired":                  {fsm.DisputeLost, []payment.MovementReport{has}},
		"accepted":                 {fsm.DisputeAccepted, []payment.MovementReport{has}},
		"resolved":                 {fsm.DisputeWon, nil},
		"some_day":                 {},
	} {
		t.Run(status, func(t *testing.T) {
			t.Parallel()
			c, f, of, _ := taken(t)
			f.payments[of].disputes = []object{disputed(of, status), disputed("pay_other", "lost")}
			o, err := c.Lookup(t.Context(), of)
			require.NoError(t, err)
			require.Equal(t, fsm.EventSucceeded, o.Event)
			require.Equal(t, want.moved, o.Movements)
			var told []payment.DisputeReport
			if want.state != "" {
				told = []payment.DisputeReport{{
					ProviderID: id, Status: want.state, Reason: "10.4", Money: &money, DueBy: time.Date(2026, 3, 31, 0, 0, 0, 0, time.UTC), At: updated,
				}}
			}
			require.Equal(t, told, o.Disputes)
		})
	}
}

// The actions are looked up if the payment has refunds, and the disputes if it was captured.
func TestLookupsCalls(t *testing.T) {
	t.Parallel()
	c, f, of, seen := taken(t)
	lines := func() (all []string) {
		_, err := c.Lookup(t.Context(), of)
		require.NoError(t, err)
		for len(seen) > 0 {
			all = append(all, strings.ReplaceAll((<-seen).line, of, "ID"))
		}
		return all
	}
	const payment, actions, disputes = "GET /payments/ID", "GET /payments/ID/actions", "GET /disputes?limit=250&payment_id=ID"
	require.Equal(t, []string{payment, disputes}, lines())
	f.payments[of].refunded = 700
	require.Equal(t, []string{payment, actions, disputes}, lines())
	f.payments[of].status = "Authorized"
	require.Equal(t, []string{payment}, lines())
}

// A key that may not list disputes gets the payment's state. A failed list makes the lookup fail.
func TestLookupWithoutAListOfDisputes(t *testing.T) {
	t.Parallel()
	for status, fails := range map[int]bool{
		http.StatusUnauthorized: false, http.StatusForbidden: false, http.StatusNotFound: false,
		http.StatusUnprocessableEntity: true, http.StatusTooManyRequests: true, http.StatusBadGateway: true, http.StatusOK: true,
	} {
		_, f, of, _ := taken(t)
		whole := f.handler(f)
		c, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/disputes" {
				answer{status, nil}.write(w)
				return
			}
			whole.ServeHTTP(w, r)
		}))
		o, err := c.Lookup(t.Context(), of)
		if fails {
			require.Error(t, err, status)
			require.NotErrorIs(t, err, gateway.ErrNoSuchPayment, status)
			continue
		}
		require.NoError(t, err, status)
		require.Equal(t, fsm.EventSucceeded, o.Event)
	}
}
