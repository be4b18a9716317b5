package yookassa_test

import (
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/providertest"
	"github.com/paylatch/paylatch/webhooks"
	hooks "github.com/paylatch/paylatch/webhooks/yookassa"
)

func TestHowAPaymentStands(t *testing.T) {
	t.Parallel()
	money := rub(1999)
	for members, want := range map[string]gateway.Outcome{
		`"status":"pending","confirmation":{"type":"redirect","confirmation_url":"https://b/x"}`: {Event: fsm.EventActionRequired, NextAction: payment.Redirect("https://b/x")},
		`"status":"pending","confirmation":{"type":"qr","confirmation_data":"x"}`: {
			Event: fsm.EventActionRequired, NextAction: &payment.NextAction{Type: payment.ActionDisplay, Data: []byte(`{"confirmation_data":"x","type":"qr"}`)},
		},
		`"status":"pending","confirmation":{"type":"embedded","confirmation_token":"ct-1"}`: {
			Event: fsm.EventActionRequired, NextAction: &payment.NextAction{Type: payment.ActionSDK, Data: []byte(`{"confirmation_token":"ct-1"}`)},
		},
		`"status":"pending","confirmation":{"type":"external"}`: {
			Event: fsm.EventActionRequired, NextAction: &payment.NextAction{Type: payment.ActionDisplay, Data: []byte(`{"type":"external"}`)},
		},
		`"status":"pending","confirmation":{"type":"qr"}`:                           {Event: fsm.EventProcessing},
		`"status":"pending"`:                                                        {Event: fsm.EventProcessing},
		`"status":"marinating"`:                                                     {Event: fsm.EventProcessing},
		`"status":"waiting_for_capture"`:                                            {Event: fsm.EventAuthorized, Money: &money},
		`"status":"succeeded","metadata":{"order_id":null}`:                         {Event: fsm.EventSucceeded, Money: &money},
		`"status":"succeeded","refunded_amount":{"value":"19.99","currency":"RUB"}`: {Event: fsm.EventSucceeded, Money: &money},
		`"status":"succeeded","metadata":{"payment_attempt_id":"ours"}`:             {Event: fsm.EventSucceeded, Money: &money, References: []string{"ours"}},
		`"status":"canceled"`:                                                       {Event: fsm.EventFailed, Failure: payment.NewFailure("provider_rejected", "")},
		`"status":"canceled","cancellation_details":{"party":"yoo_money","reason":"expired_on_confirmation"}`: {
			Event: fsm.EventFailed, Failure: payment.NewFailure("expired", "expired_on_confirmation"),
		},
	} {
		c := says(t, http.StatusOK, `{"id":"1","amount":{"value":"19.99","currency":"RUB"},`+members+`}`)
		got, err := c.Lookup(t.Context(), "1")
		require.NoError(t, err, members)
		want.ProviderPaymentID = "1"
		require.Equal(t, want, got, members)
	}
}

// The adapter and the webhook must read a status and a reason in the same way.
func TestLookupsAndWebhooksAgree(t *testing.T) {
	t.Parallel()
	v, err := hooks.New(webhooks.Config{AllowedIPs: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}})
	require.NoError(t, err)
	news := map[webhooks.Kind]fsm.Event{
		webhooks.KindAuthorized: fsm.EventAuthorized, webhooks.KindSucceeded: fsm.EventSucceeded, webhooks.KindFailed: fsm.EventFailed,
	}
	// These are the reasons of YooKassa's description, and one other.
	reasons := []string{
		"", "3d_secure_failed", "call_issuer", "card_expired", "payment_method_limit_exceeded", "payment_method_restricted", "country_forbidden",
		"general_decline", "fraud_suspected", "identification_required", "insufficient_funds", "invalid_card_number", "invalid_csc",
		"issuer_unavailable", "canceled_by_merchant", "permission_revoked", "internal_timeout", "expired_on_confirmation", "expired_on_capture",
		"unsupported_mobile_operator", "deal_expired", "loan_declined", "bad_luck",
	}
	for _, status := range []string{"waiting_for_capture", "succeeded", "canceled"} {
		for _, reason := range reasons {
			object := `{"id":"1","status":"` + status + `","amount":{"value":"19.99","currency":"RUB"},
				"metadata":{"payment_attempt_id":"a"},"cancellation_details":{"reason":"` + reason + `"}}`
			events, err := v.Verify(t.Context(), webhooks.Delivery{
				Method: http.MethodPost, RemoteAddr: netip.MustParseAddr("127.0.0.1"), ReceivedAt: time.Unix(1, 0),
				Body: []byte(`{"type":"notification","event":"payment.` + status + `","object":` + object + `}`),
			})
			require.NoError(t, err)
			o, err := says(t, http.StatusOK, object).Lookup(t.Context(), "1")
			require.NoError(t, err)
			require.Equal(t, news[events[0].Kind], o.Event)
			require.Equal(t, events[0].ProviderPaymentID, o.ProviderPaymentID)
			if o.Failure != nil {
				require.Equal(t, payment.NewFailure(events[0].FailureCode, events[0].ProviderCode), o.Failure)
			} else {
				require.Equal(t, webhooks.Money{Minor: o.Money.Minor, Currency: string(o.Money.Currency)}, *events[0].Money)
			}
		}
	}
}

// A notification about a payment or a refund names the id that Lookup accepts, and the reference that the charge sent.
func TestAWebhookNamesWhatWasCharged(t *testing.T) {
	t.Parallel()
	v, err := hooks.New(webhooks.Config{AllowedIPs: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}})
	require.NoError(t, err)
	c, _ := serve(t, newFake(t))
	ch := charge("one-time")
	made := charged(t, c, ch)
	for event, object := range map[string]string{
		"payment.succeeded": `{"id":"` + made.ProviderPaymentID + `","status":"succeeded","metadata":{"payment_attempt_id":"` + ch.Attempt.String() + `"}}`,
		"refund.succeeded":  `{"id":"r","payment_id":"` + made.ProviderPaymentID + `","status":"succeeded"}`,
	} {
		events, err := v.Verify(t.Context(), webhooks.Delivery{
			RemoteAddr: netip.MustParseAddr("127.0.0.1"), Body: []byte(`{"event":"` + event + `","object":` + object + `}`),
		})
		require.NoError(t, err)
		require.True(t, events[0].NeedsFetch)
		now, err := c.Lookup(t.Context(), events[0].ProviderPaymentID)
		require.NoError(t, err)
		require.Equal(t, made, now)
		require.Contains(t, events[0].References, made.ProviderPaymentID)
		if event == "payment.succeeded" {
			require.Equal(t, ch.Attempt.String(), events[0].References[0])
		}
	}
}

// A wrong address is a mistake of ours and not a missing payment.
func TestAnUnknownAddressIsNoAnswer(t *testing.T) {
	t.Parallel()
	c := says(t, http.StatusNotFound, `{"type":"error","code":"no_such_page"}`)
	_, err := c.Lookup(t.Context(), "1")
	require.Error(t, err)
	require.NotErrorIs(t, err, gateway.ErrNoSuchPayment)
}

// Find requests the minutes in which the payment can have been created, page by page.
func TestFindGoesThroughThePaymentsOfThatTime(t *testing.T) {
	t.Parallel()
	c, got := serve(t, newFake(t))
	ch := charge("one-time")
	made := charged(t, c, ch)
	for range 3 {
		charged(t, c, charge("one-time"))
	}
	found, err := c.Find(t.Context(), ch.Attempt)
	require.NoError(t, err)
	require.Equal(t, made, found)
	for range 4 {
		<-got
	}
	first, second := <-got, <-got
	require.Equal(t, "GET /v3/payments", first.line[:16])
	asked, err := url.Parse(first.line[4:])
	require.NoError(t, err)
	require.Equal(t, "100", asked.Query().Get("limit"))
	from, err := time.Parse(time.RFC3339, asked.Query().Get("created_at.gte"))
	require.NoError(t, err)
	to, err := time.Parse(time.RFC3339, asked.Query().Get("created_at.lte"))
	require.NoError(t, err)
	born := time.Unix(uuid.UUID(ch.Attempt).Time().UnixTime())
	require.WithinDuration(t, born.Add(-2*time.Minute), from, time.Second)
	require.WithinDuration(t, born.Add(17*time.Minute), to, time.Second)
	next, err := url.Parse(second.line[4:])
	require.NoError(t, err)
	require.Equal(t, "2", next.Query().Get("cursor"))
	require.Equal(t, asked.Query().Get("created_at.gte"), next.Query().Get("created_at.gte"))
}

// The shop may begin a payment long after it has registered the attempt, and several: the furthest counts, whichever is newest.
func TestFindSeesPaymentsBegunElsewhere(t *testing.T) {
	t.Parallel()
	id := payment.AttemptID(uuid.Must(uuid.NewV7()))
	made := time.Unix(uuid.UUID(id).Time().UnixTime())
	one := func(name, status string, after time.Duration) string {
		return fmt.Sprintf(`{"id":%q,"status":%q,"created_at":%q,"amount":{"value":"19.99","currency":"RUB"},"metadata":{"payment_attempt_id":%q}}`,
			name, status, made.Add(after).UTC().Format(time.RFC3339), id)
	}
	stranger := strings.Replace(one("x", "succeeded", time.Hour), id.String(), "another", 1)
	for name, tt := range map[string]struct {
		first, later []string
		want         string
		long         bool
	}{
		"a page that was opened late":             {later: []string{one("1", "pending", 40*time.Minute)}, want: "1"},
		"paid, and a newer one was cancelled":     {later: []string{one("2", "canceled", time.Hour), one("1", "succeeded", 40*time.Minute)}, want: "1"},
		"paid later than the first":               {first: []string{one("1", "canceled", 0)}, later: []string{one("2", "succeeded", time.Hour)}, want: "2"},
		"paid before the later one":               {first: []string{one("1", "succeeded", 0)}, later: []string{one("2", "pending", time.Hour)}, want: "1"},
		"nothing":                                 {later: []string{stranger}},
		"an open one in a list that is too long":  {first: []string{one("1", "pending", 0)}, long: true, want: "1"},
		"a failed one in a list that is too long": {first: []string{one("1", "canceled", 0)}, long: true},
		"nothing in a list that is too long":      {long: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				items, next := tt.first, ""
				if !r.URL.Query().Has("created_at.lte") {
					items = tt.later
					if tt.long {
						items, next = slices.Repeat([]string{stranger}, 100), "more"
					}
				}
				_, _ = fmt.Fprintf(w, `{"type":"list","items":[%s],"next_cursor":%q}`, strings.Join(items, ","), next)
			}))
			found, err := c.Find(t.Context(), id)
			switch {
			case tt.want != "":
				require.NoError(t, err)
				require.Equal(t, tt.want, found.ProviderPaymentID)
			case tt.long:
				require.ErrorIs(t, err, gateway.ErrInconclusive)
			default:
				require.ErrorIs(t, err, gateway.ErrNoSuchPayment)
			}
		})
	}
}

// A payment of another attempt is not a hit, even if it is the only one.
func TestFindBelievesOnlyItsOwnReference(t *testing.T) {
	t.Parallel()
	c := says(t, http.StatusOK, `{"type":"list","items":[{"id":"1","status":"succeeded","amount":{"value":"1.00","currency":"RUB"},
		"metadata":{"payment_attempt_id":"another"}}]}`)
	_, err := c.Find(t.Context(), payment.AttemptID(uuid.Must(uuid.NewV7())))
	require.ErrorIs(t, err, gateway.ErrNoSuchPayment)
}

// If a page fails in the middle of the search, the rest of the list is unknown.
func TestASearchThatBreaksOffIsNoAnswer(t *testing.T) {
	t.Parallel()
	pages := 0
	c, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if pages++; pages > 1 {
			w.WriteHeader(http.StatusTooManyRequests)
		}
		_, _ = io.WriteString(w, `{"type":"list","items":[],"next_cursor":"x"}`)
	}))
	_, err := c.LookupRefund(t.Context(), gateway.RefundRef{ProviderPaymentID: "1"})
	require.Error(t, err)
	require.NotErrorIs(t, err, gateway.ErrNoSuchPayment)
	require.Equal(t, 2, pages)
}

func TestHowARefundStands(t *testing.T) {
	t.Parallel()
	for members, want := range map[string]gateway.RefundOutcome{
		`"status":"pending"`:                                   {Event: fsm.EventProcessing},
		`"status":"marinating"`:                                {Event: fsm.EventProcessing},
		`"status":"succeeded"`:                                 {Event: fsm.EventSucceeded},
		`"status":"succeeded","metadata":{"refund_id":"ours"}`: {Event: fsm.EventSucceeded, Reference: "ours"},
		`"status":"canceled"`:                                  {Event: fsm.EventFailed, Failure: payment.NewFailure("provider_rejected", "")},
		`"status":"canceled","cancellation_details":{"party":"refund_network","reason":"rejected_by_payee"}`: {
			Event: fsm.EventFailed, Failure: payment.NewFailure("provider_rejected", "rejected_by_payee"),
		},
	} {
		c := says(t, http.StatusOK, `{"id":"r1","payment_id":"1","amount":{"value":"5.00","currency":"RUB"},`+members+`}`)
		got, err := c.LookupRefund(t.Context(), gateway.RefundRef{ProviderRefundID: "r1", ProviderPaymentID: "1"})
		require.NoError(t, err, members)
		money := rub(500)
		want.ProviderRefundID, want.Money = "r1", &money
		require.Equal(t, want, got, members)
		_, err = c.LookupRefund(t.Context(), gateway.RefundRef{ProviderRefundID: "r1", ProviderPaymentID: "2"})
		require.ErrorIs(t, err, gateway.ErrNoSuchPayment, "it is another payment's")
	}
}

// The customer may read a reason at YooKassa, so ours is not sent.
func TestARefundCarriesOurIDsAndNotOurReason(t *testing.T) {
	t.Parallel()
	c, got := serve(t, newFake(t))
	paid := charged(t, c, charge("one-time"))
	<-got
	r := gateway.RefundCall{
		Refund: payment.RefundID(uuid.New()), Attempt: payment.AttemptID(uuid.New()), ProviderPaymentID: paid.ProviderPaymentID,
		Money: rub(700), Reason: "He shouted.", IdempotencyKey: "k-refund", Permit: permit(),
	}
	_, err := c.Refund(t.Context(), r)
	require.NoError(t, err)
	sent := <-got
	require.Equal(t, "POST /v3/refunds", sent.line)
	require.JSONEq(t, `{"payment_id":"`+paid.ProviderPaymentID+`","amount":{"value":"7.00","currency":"RUB"},
		"metadata":{"refund_id":"`+r.Refund.String()+`","payment_attempt_id":"`+r.Attempt.String()+`"}}`, sent.body)
}

// TestOnePayment: a payment has one id, even in an invoice. The invoice is its container.
func TestOnePayment(t *testing.T) {
	t.Parallel()
	v, err := hooks.New(webhooks.Config{})
	require.NoError(t, err)
	event := func(object string) webhooks.Event {
		return v.Read(webhooks.Delivery{Body: []byte(`{"type":"notification","event":"payment.succeeded","object":` + object + `}`)})[0]
	}
	c, _ := serve(t, newFake(t))
	made := charged(t, c, charge("redirect"))
	providertest.NamedAlike(t, providertest.Paid{Provider: c, Charged: made, Webhook: event(
		`{"id":"` + made.ProviderPaymentID + `","status":"succeeded","test":true,"recipient":{"account_id":"` + shop + `"},"amount":{"value":"19.99","currency":"RUB"}}`,
	)})

	const invoice = "in-e44e8088-bd73-43b1-959a-954f3a7d0c54"
	object := `{"id":"pay-1","status":"succeeded","test":false,"recipient":{"account_id":"` + shop + `"},"invoice_details":{"id":"` + invoice + `"},"amount":{"value":"19.99","currency":"RUB"}}`
	answers := map[string]string{
		"/v3/payments/pay-1": object, "/v3/invoices/" + invoice: `{"id":"` + invoice + `","status":"succeeded","payment_details":{"id":"pay-1","status":"succeeded"}}`,
		"/v3/invoices/in-0": `{"id":"in-0","status":"pending"}`,
	}
	c, _ = serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, answers[r.URL.Path]) }))
	reported := gateway.Outcome{Event: fsm.EventActionRequired, Container: invoice, References: []string{invoice}}
	providertest.NamedAlike(t, providertest.Paid{Provider: c, Charged: reported, Webhook: event(object)})
	_, err = c.Cancel(t.Context(), gateway.Cancel{Container: invoice, Permit: permit()})
	require.ErrorIs(t, err, gateway.ErrUnsupported)
	unpaid, err := c.Lookup(t.Context(), "in-0")
	require.NoError(t, err)
	require.Equal(t, gateway.Outcome{Event: fsm.EventActionRequired, Container: "in-0", References: []string{"in-0"}}, unpaid)
}
