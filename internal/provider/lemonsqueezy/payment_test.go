package lemonsqueezy_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
	"github.com/paylatch/paylatch/internal/provider/lemonsqueezy"
	"github.com/paylatch/paylatch/webhooks"
)

func TestACheckout(t *testing.T) {
	t.Parallel()
	sells := store()
	sells.Test, sells.LinkLife = true, 30*time.Minute
	c, got := serve(t, newFake(), sells)
	ch := charge()
	o, err := c.Charge(t.Context(), ch)
	require.NoError(t, err)
	require.Equal(t, gateway.Outcome{
		Container: "ac470bd4-7c41-474d-b6cd-000000000001", References: []string{ch.Attempt.String(), "ac470bd4-7c41-474d-b6cd-000000000001"}, Event: fsm.EventActionRequired,
		NextAction: payment.Redirect("https://shop.lemonsqueezy.example/checkout/custom/ac470bd4-7c41-474d-b6cd-000000000001?signature=abc"),
	}, o)
	sent := <-got
	require.Equal(t, "POST /v1/checkouts", sent.line)
	require.JSONEq(t, fmt.Sprintf(`{"data":{"type":"checkouts","attributes":{"custom_price":1999,"product_options":{"name":"Order A-1","enabled_variants":[2002]},
		"checkout_options":{"discount":false},"checkout_data":{"custom":{"payment_attempt_id":%q,"order_id":"A-1"}},"expires_at":"2026-03-14T10:00:00Z","preview":true,
		"test_mode":true},"relationships":{"store":{"data":{"type":"stores","id":"101"}},"variant":{"data":{"type":"variants","id":"2002"}}}}}`, ch.Attempt), sent.body)
}

// A price has the store's currency, regardless of the configuration. If a checkout has another currency, its link is not
// passed on.
func TestACheckoutInAnotherCurrencyIsRefused(t *testing.T) {
	t.Parallel()
	f := newFake()
	f.currency = "USD"
	c, _ := serve(t, f, store())
	o, err := c.Charge(t.Context(), charge())
	require.NoError(t, err)
	require.Equal(t, gateway.Outcome{Event: fsm.EventFailed, Refused: true, Failure: payment.NewFailure("provider_rejected", "store_currency")}, o)
}

func TestWhatIsNeverSent(t *testing.T) {
	t.Parallel()
	yen := store()
	yen.Currency = "JPY"
	for name, tt := range map[string]struct {
		sells  lemonsqueezy.Store
		change func(*gateway.Charge)
	}{
		"another currency": {store(), func(ch *gateway.Charge) { ch.Money.Currency = "USD" }},
		"without cents":    {yen, func(ch *gateway.Charge) { ch.Money.Currency = "JPY" }},
		"a hold":           {store(), func(ch *gateway.Charge) { ch.Capture = payment.CaptureManual }},
		"another token":    {store(), func(ch *gateway.Charge) { ch.Token, ch.Stored = "pm_1", true }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, got := serve(t, newFake(), tt.sells)
			ch := charge()
			tt.change(&ch)
			_, err := c.Charge(t.Context(), ch)
			require.ErrorIs(t, err, gateway.ErrUnsupportedRequest)
			require.Empty(t, lines(got))
		})
	}
}

// A charge whose answer was lost is searched for and not sent again. The link that is found is passed on.
func TestALostChargeIsFound(t *testing.T) {
	t.Parallel()
	f := newFake()
	c, got := serve(t, losing(f, "POST /v1/checkouts"), store())
	ch := charge()
	_, err := c.Charge(t.Context(), ch)
	require.Error(t, err)
	require.NotErrorIs(t, err, gateway.ErrNotSent)
	require.Zero(t, c.Capabilities().KeyLife, "nothing is sent twice")
	o, err := c.Find(t.Context(), ch.Attempt)
	require.NoError(t, err)
	require.Equal(t, fsm.EventActionRequired, o.Event)
	require.Equal(t, "ac470bd4-7c41-474d-b6cd-000000000001", o.Container)
	require.NotEmpty(t, o.NextAction.URL)
	require.Equal(t, []string{"POST /v1/checkouts", "GET /v1/checkouts"}, lines(got))
}

// Checkouts are searched from the newest back to the attempt's creation, over all necessary pages.
func TestFindReadsPages(t *testing.T) {
	t.Parallel()
	f := newFake()
	c, got := serve(t, f, store())
	ch := charge()
	_, err := c.Charge(t.Context(), ch)
	require.NoError(t, err)
	for i := range 150 {
		f.checkouts = append(f.checkouts, &checkout{id: fmt.Sprintf("bc470bd4-7c41-474d-b6cd-%012d", i), price: 1, data: []byte(`{"custom":[]}`), at: time.Now()})
	}
	lines(got)
	o, err := c.Find(t.Context(), ch.Attempt)
	require.NoError(t, err)
	require.Equal(t, "ac470bd4-7c41-474d-b6cd-000000000001", o.Container)
	require.Len(t, lines(got), 2)
	for _, one := range f.checkouts {
		one.at = time.Now().Add(-time.Hour)
	}
	_, err = c.Find(t.Context(), payment.AttemptID(uuid.Must(uuid.NewV7())))
	require.ErrorIs(t, err, gateway.ErrNoSuchPayment)
	require.Len(t, lines(got), 1, "what is older than the attempt is not read")
}

// A missing list, or a list without page numbers, is no proof that the checkout does not exist.
func TestAMissingListIsNoProof(t *testing.T) {
	t.Parallel()
	for status, body := range map[int]string{
		http.StatusNotFound: `{"errors":[{"status":"404","title":"Not Found"}]}`, http.StatusOK: `{"data":[]}`,
	} {
		c, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}), store())
		_, err := c.Find(t.Context(), charge().Attempt)
		require.Error(t, err)
		require.NotErrorIs(t, err, gateway.ErrNoSuchPayment, body)
	}
}

// The status of an order decides its outcome. An unrecognised status is processing.
func TestOrders(t *testing.T) {
	t.Parallel()
	whole := []gateway.RefundOutcome{{Event: fsm.EventSucceeded, ProviderPaymentID: "5001", Whole: true}}
	for _, tt := range []struct {
		status   string
		refunded int64
		want     gateway.Outcome
	}{
		{"paid", 0, gateway.Outcome{Event: fsm.EventSucceeded, Money: new(euro(1999))}},
		{"paid", 700, gateway.Outcome{Event: fsm.EventSucceeded, Money: new(euro(1999))}},
		{"partial_refund", 700, gateway.Outcome{Event: fsm.EventSucceeded, Money: new(euro(1999))}},
		{"refunded", 1999, gateway.Outcome{Event: fsm.EventSucceeded, Money: new(euro(1999)), Refunds: whole}},
		{"pending", 0, gateway.Outcome{Event: fsm.EventProcessing}},
		{"under_consideration", 0, gateway.Outcome{Event: fsm.EventProcessing}},
		{"failed", 0, gateway.Outcome{Event: fsm.EventFailed, PageOpen: true, Failure: payment.NewFailure("provider_rejected", "failed")}},
		{"fraudulent", 0, gateway.Outcome{Event: fsm.EventFailed, Failure: payment.NewFailure("fraud_suspected", "fraudulent")}},
	} {
		f := newFake()
		f.orders = []*order{{id: "5001", status: tt.status, currency: "EUR", total: 1999, refunded: tt.refunded}}
		c, _ := serve(t, f, store())
		tt.want.Payee, tt.want.Live = storeID, new(true)
		tt.want.ProviderPaymentID, tt.want.References = "5001", []string{"104e18a2-d755-4d4b-80c4-000000005001"}
		o, err := c.Lookup(t.Context(), "5001")
		require.NoError(t, err)
		require.Equal(t, tt.want, o, tt.status)
	}
}

// Cancel leaves an order as it is.
func TestCancelOfAnOrder(t *testing.T) {
	t.Parallel()
	for status, want := range map[string]struct {
		news    fsm.Event
		refused bool
	}{
		"pending": {fsm.EventProcessing, true}, "paid": {fsm.EventSucceeded, true}, "fraudulent": {fsm.EventFailed, false}, "failed": {fsm.EventFailed, false},
	} {
		f := newFake()
		f.orders = []*order{{id: "5001", status: status, currency: "EUR", total: 1999}}
		c, got := serve(t, f, store())
		o, err := c.Cancel(t.Context(), gateway.Cancel{ProviderPaymentID: "5001", Permit: permit()})
		require.NoError(t, err)
		require.Equal(t, want.news, o.Event, status)
		require.Equal(t, want.refused, o.Refused, status)
		require.Equal(t, []string{"GET /v1/orders/5001"}, lines(got))
	}
}

// An answer about another object than the requested object is not an answer.
func TestAnotherObjectIsNoAnswer(t *testing.T) {
	t.Parallel()
	for id, body := range map[string]string{
		"5001":                                 `{"data":{"type":"orders","id":"5002","attributes":{"status":"paid","total":1999,"currency":"EUR"}}}`,
		"5003":                                 `{"data":{"type":"orders","id":"5003","attributes":{"status":"paid","currency":"EUR"}}}`,
		"5004":                                 `{"data":{"type":"order-items","id":"5004","attributes":{"status":"paid","total":1999,"currency":"EUR"}}}`,
		"ac470bd4-7c41-474d-b6cd-000000000001": `{"data":{"type":"orders","id":"5001","attributes":{"status":"paid","total":1999,"currency":"EUR"}}}`,
	} {
		c, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) }), store())
		_, err := c.Lookup(t.Context(), id)
		require.Error(t, err, body)
		require.NotErrorIs(t, err, gateway.ErrNoSuchPayment, body)
	}
}

func TestRefusalsBearNoDetail(t *testing.T) {
	t.Parallel()
	h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnprocessableEntity)
		_, _ = io.WriteString(w, `{"errors":[{"title":"Unprocessable Entity","detail":"Jane Doe","status":"422","source":{"pointer":"/data/attributes/custom_price"}}]}`)
	})
	c, _ := serve(t, h, store())
	o, err := c.Charge(t.Context(), charge())
	require.NoError(t, err)
	require.Equal(t, payment.NewFailure("provider_rejected", "/data/attributes/custom_price"), o.Failure)
	require.True(t, o.Refused)
	_, err = c.Lookup(t.Context(), "5001")
	require.ErrorContains(t, err, "422")
	require.NotContains(t, err.Error(), "Jane")
}

func TestSettings(t *testing.T) {
	t.Parallel()
	a := lemonsqueezy.Adapter()
	for _, params := range []map[string]string{{"store_id": "shop"}, {"variant_id": "12x"}, {"link_life": "soon"}, {"link_life": "-1h"}} {
		_, err := a.New(kit.Settings{Params: params})
		require.ErrorIs(t, err, webhooks.ErrConfig, "%v", params)
	}
	s := httptest.NewServer(newFake())
	t.Cleanup(s.Close)
	made, err := a.New(kit.Settings{BaseURL: s.URL, Client: s.Client(), Now: time.Now, Params: map[string]string{
		"api_key": key, "store_id": storeID, "variant_id": variant, "store_currency": "EUR", "link_life": "2h", "test_payments": "true",
	}})
	require.NoError(t, err)
	o, err := made.Charge(t.Context(), charge())
	require.NoError(t, err)
	require.Equal(t, fsm.EventActionRequired, o.Event)
	require.True(t, a.Tests(kit.Settings{Params: map[string]string{"test_payments": "true"}}))
	require.False(t, a.Tests(kit.Settings{}))
}

func TestAccepts(t *testing.T) {
	t.Parallel()
	c, _ := serve(t, newFake(), store())
	require.NoError(t, c.Accepts(charge()))
	ch := charge()
	ch.Token, ch.Capture, ch.Save = "card", payment.CaptureManual, true
	var invalid *payment.ValidationError
	require.ErrorAs(t, c.Accepts(ch), &invalid)
	names := make([]string, 0, len(invalid.Fields))
	for _, f := range invalid.Fields {
		names = append(names, f.Field)
	}
	slices.Sort(names)
	require.Equal(t, []string{"capture", "payment_method.token", "save_payment_method"}, names)
}
