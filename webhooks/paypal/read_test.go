package paypal_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/internal/providertest"
	"github.com/paylatch/paylatch/webhooks/paypal"
)

// paypalEvent returns an event with these members in its resource.
func paypalEvent(eventType, members string) string {
	return fmt.Sprintf(`{"id":"WH-1","event_type":%q,"create_time":"2026-03-14T15:09:20Z","resource":{%s}}`, eventType, members)
}

func TestEvent(t *testing.T) {
	t.Parallel()
	require.Equal(t, webhooks.Event{
		ID: "WH-1", IDSource: webhooks.Native, Type: "PAYMENT.CAPTURE.COMPLETED", Kind: webhooks.KindSucceeded,
		References: []string{"att_1", "CAP1"}, ProviderPaymentID: "CAP1", BrowserMark: true,
		Money:      &webhooks.Money{Minor: 1999, Currency: "EUR"},
		OccurredAt: time.Date(2026, 3, 14, 15, 9, 20, 0, time.UTC), Mode: webhooks.ModeLive, NeedsFetch: true, DeliveryID: "69cd13f0-d67a-11e5-baa3-778b53f4ae55",
	}, providertest.Parsed(t, newVerifier(t), paypalBody))
}

const (
	paypalAmount    = `"id":"X1","amount":{"currency_code":"JPY","value":"20"}`
	paypalUpAuth    = `,"links":[{"rel":"up","href":"https://api.paypal.com/v2/payments/authorizations/AUTH1"}]`
	paypalUpCapture = `,"links":[{"rel":"self","href":"https://api.paypal.com/v2/payments/refunds/X1"},{"rel":"up","href":"https://api.paypal.com/v2/payments/captures/CAP1"}]`
	paypalDisputed  = `"status":"OPEN","dispute_amount":{"currency_code":"JPY","value":"20"},"disputed_transactions":[{"seller_transaction_id":"CAP1","custom":"att_1"}]`
)

func TestKinds(t *testing.T) {
	t.Parallel()
	resolved := func(outcome string) string {
		return paypalDisputed + `,"status":"RESOLVED","dispute_outcome":{"outcome_code":"` + outcome + `"}`
	}
	units := func(payments string) string {
		return `"id":"ORD1","purchase_units":[{"reference_id":"default","payments":{` + payments + `}}]`
	}
	for name, test := range map[string]struct {
		eventType, members string
		kind               webhooks.Kind
		failure            string
		minor              int64 // -1: no money
	}{
		"order approved":          {"CHECKOUT.ORDER.APPROVED", `"id":"ORD1"`, webhooks.KindProcessing, "", -1},
		"order paid":              {"CHECKOUT.ORDER.COMPLETED", units(`"captures":[{` + paypalAmount + `,"status":"COMPLETED"}]`), webhooks.KindSucceeded, "", 20},
		"order paid in parts":     {"CHECKOUT.ORDER.COMPLETED", units(`"captures":[{` + paypalAmount + `,"status":"COMPLETED"},{` + paypalAmount + `,"status":"COMPLETED"}]`), webhooks.KindProcessing, "", -1},
		"order pending":           {"CHECKOUT.ORDER.COMPLETED", units(`"captures":[{` + paypalAmount + `,"status":"PENDING"}]`), webhooks.KindProcessing, "", -1},
		"order held":              {"CHECKOUT.ORDER.COMPLETED", units(`"authorizations":[{` + paypalAmount + `,"status":"CREATED"}]`), webhooks.KindAuthorized, "", 20},
		"order without payments":  {"CHECKOUT.ORDER.COMPLETED", `"id":"ORD1"`, webhooks.KindProcessing, "", -1},
		"order voided":            {"CHECKOUT.ORDER.VOIDED", `"id":"ORD1"`, webhooks.KindFailed, "canceled", -1},
		"approval taken back":     {"CHECKOUT.PAYMENT-APPROVAL.REVERSED", `"id":"ORD1"`, webhooks.KindSoftFailed, "expired", -1},
		"held":                    {"PAYMENT.AUTHORIZATION.CREATED", paypalAmount + `,"status":"CREATED"`, webhooks.KindAuthorized, "", 20},
		"held, under review":      {"PAYMENT.AUTHORIZATION.CREATED", paypalAmount + `,"status":"PENDING"`, webhooks.KindProcessing, "", 20},
		"held, in some other way": {"PAYMENT.AUTHORIZATION.CREATED", paypalAmount + `,"status":"ON_HOLD"`, webhooks.KindProcessing, "", 20},
		"held, version 1":         {"PAYMENT.AUTHORIZATION.CREATED", paypalAmount, webhooks.KindAuthorized, "", 20},
		"order held otherwise":    {"CHECKOUT.ORDER.COMPLETED", units(`"authorizations":[{` + paypalAmount + `,"status":"ON_HOLD"}]`), webhooks.KindProcessing, "", 20},
		"not held":                {"PAYMENT.AUTHORIZATION.CREATED", paypalAmount + `,"status":"DENIED"`, webhooks.KindFailed, "provider_rejected", 20},
		"hold denied":             {"PAYMENT.AUTHORIZATION.DENIED", paypalAmount, webhooks.KindFailed, "provider_rejected", 20},
		"held no more":            {"PAYMENT.AUTHORIZATION.CREATED", paypalAmount + `,"status":"VOIDED"`, webhooks.KindFailed, "provider_rejected", 20},
		"hold voided":             {"PAYMENT.AUTHORIZATION.VOIDED", paypalAmount + `,"expiration_time":"2026-03-15T00:00:00Z"`, webhooks.KindFailed, "canceled", 20},
		"hold expired":            {"PAYMENT.AUTHORIZATION.VOIDED", paypalAmount + `,"expiration_time":"2026-03-14T00:00:00Z"`, webhooks.KindFailed, "expired", 20},
		"hold expired just now":   {"PAYMENT.AUTHORIZATION.VOIDED", paypalAmount + `,"expiration_time":"2026-03-14T15:09:20Z"`, webhooks.KindFailed, "expired", 20},
		"captured":                {"PAYMENT.CAPTURE.COMPLETED", paypalAmount + paypalUpAuth, webhooks.KindSucceeded, "", 20},
		"capture pending":         {"PAYMENT.CAPTURE.PENDING", paypalAmount, webhooks.KindProcessing, "", 20},
		"capture denied":          {"PAYMENT.CAPTURE.DENIED", paypalAmount, webhooks.KindFailed, "provider_rejected", 20},
		"capture of a hold":       {"PAYMENT.CAPTURE.DECLINED", paypalAmount + paypalUpAuth, webhooks.KindSoftFailed, "provider_rejected", 20},
		"capture taken back":      {"PAYMENT.CAPTURE.REVERSED", paypalAmount + paypalUpCapture, webhooks.KindChargeback, "", 20},
		"refunded":                {"PAYMENT.CAPTURE.REFUNDED", paypalAmount + `,"status":"COMPLETED"`, webhooks.KindRefundSucceeded, "", 20},
		"refund pending":          {"PAYMENT.CAPTURE.REFUNDED", paypalAmount + `,"status":"PENDING"`, webhooks.KindRefundPending, "", 20},
		"refunded otherwise":      {"PAYMENT.CAPTURE.REFUNDED", paypalAmount + `,"status":"ON_HOLD"`, webhooks.KindRefundPending, "", 20},
		"refund cancelled":        {"PAYMENT.CAPTURE.REFUNDED", paypalAmount + `,"status":"CANCELLED"`, webhooks.KindRefundFailed, "canceled", 20},
		"refund that failed":      {"PAYMENT.CAPTURE.REFUNDED", paypalAmount + `,"status":"FAILED"`, webhooks.KindRefundFailed, "provider_rejected", 20},
		"refund still pending":    {"PAYMENT.REFUND.PENDING", paypalAmount, webhooks.KindRefundPending, "", 20},
		"refund failed":           {"PAYMENT.REFUND.FAILED", paypalAmount, webhooks.KindRefundFailed, "provider_rejected", 20},
		"sale":                    {"PAYMENT.SALE.COMPLETED", `"id":"S1","amount":{"total":"20","currency":"JPY"}`, webhooks.KindSucceeded, "", 20},
		"sale pending":            {"PAYMENT.SALE.PENDING", `"id":"S1","amount":{"total":"20","currency":"JPY"}`, webhooks.KindProcessing, "", 20},
		"sale denied":             {"PAYMENT.SALE.DENIED", `"id":"S1","amount":{"total":"20","currency":"JPY"}`, webhooks.KindFailed, "provider_rejected", 20},
		"sale taken back":         {"PAYMENT.SALE.REVERSED", `"id":"R1","sale_id":"S1","amount":{"total":"-20","currency":"JPY"}`, webhooks.KindChargeback, "", 20},
		"sale refunded":           {"PAYMENT.SALE.REFUNDED", `"id":"R1","sale_id":"S1","amount":{"total":"-20","currency":"JPY"}`, webhooks.KindRefundSucceeded, "", 20},
		"dispute":                 {"CUSTOMER.DISPUTE.CREATED", paypalDisputed, webhooks.KindDisputed, "", 20},
		"dispute lost":            {"CUSTOMER.DISPUTE.RESOLVED", resolved("RESOLVED_BUYER_FAVOUR"), webhooks.KindChargeback, "", 20},
		"dispute won":             {"CUSTOMER.DISPUTE.RESOLVED", resolved("RESOLVED_SELLER_FAVOUR"), webhooks.KindDisputeClosed, "", 20},
		"dispute turned down":     {"CUSTOMER.DISPUTE.RESOLVED", resolved("DENIED"), webhooks.KindDisputeClosed, "", 20},
		"dispute without outcome": {"CUSTOMER.DISPUTE.RESOLVED", resolved("NONE"), webhooks.KindDisputeClosed, "", 20},
		"dispute ended somehow":   {"CUSTOMER.DISPUTE.RESOLVED", resolved("RESOLVED_WITH_PAYOUT"), webhooks.KindDisputed, "", 20},
		"dispute lost in part":    {"CUSTOMER.DISPUTE.UPDATED", `"status":"RESOLVED","dispute_outcome":{"outcome_code":"RESOLVED_BUYER_FAVOUR","amount_refunded":{"currency_code":"JPY","value":"5"}}`, webhooks.KindChargeback, "", 5},
		"unknown, of any shape":   {"BILLING.PLAN.CREATED", `"id":7,"amount":[]`, webhooks.KindIgnored, "", -1},
		"unknown, close to known": {"PAYMENT.CAPTURE.SOMETHING", paypalAmount, webhooks.KindIgnored, "", -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := providertest.Parsed(t, newVerifier(t), paypalEvent(test.eventType, test.members))
			require.Equal(t, test.kind, e.Kind)
			require.Equal(t, test.failure, string(e.FailureCode))
			require.Equal(t, name == "order approved", e.Approved)
			if test.minor < 0 {
				require.Nil(t, e.Money)
				return
			}
			require.Equal(t, &webhooks.Money{Minor: test.minor, Currency: "JPY"}, e.Money)
		})
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	const related = `,"supplementary_data":{"related_ids":{"order_id":"ORD1"}}`
	for name, test := range map[string]struct {
		eventType, members string
		payment, container string
		references         []string
		refund, reference  string
	}{
		"capture":         {"PAYMENT.CAPTURE.COMPLETED", `"id":"CAP1","custom_id":"att_1","invoice_id":"inv_1"` + paypalUpAuth + related, "AUTH1", "ORD1", []string{"att_1", "inv_1", "AUTH1", "CAP1", "ORD1"}, "", ""},
		"refund":          {"PAYMENT.CAPTURE.REFUNDED", `"id":"R1","custom_id":"rf_1"` + paypalUpCapture, "CAP1", "", []string{"rf_1", "CAP1"}, "R1", "rf_1"},
		"reversal":        {"PAYMENT.CAPTURE.REVERSED", `"id":"R1"` + paypalUpCapture, "CAP1", "", []string{"CAP1"}, "", ""},
		"sale refunded":   {"PAYMENT.SALE.REFUNDED", `"id":"R1","sale_id":"S1","parent_payment":"PAY-1","custom":"att_1"`, "S1", "PAY-1", []string{"att_1", "S1", "PAY-1"}, "R1", ""},
		"dispute":         {"CUSTOMER.DISPUTE.CREATED", paypalDisputed, "CAP1", "", []string{"att_1", "CAP1"}, "", ""},
		"order":           {"CHECKOUT.ORDER.APPROVED", `"id":"ORD1","purchase_units":[{"reference_id":"cart","custom_id":"att_1"}]`, "", "ORD1", []string{"att_1", "ORD1"}, "", ""},
		"order of a cart": {"CHECKOUT.ORDER.APPROVED", `"id":"ORD1","purchase_units":[{"reference_id":"cart"},{"reference_id":"default"}]`, "", "ORD1", []string{"ORD1", "cart"}, "", ""},
		"order, captured": {"CHECKOUT.ORDER.COMPLETED", `"id":"ORD1","purchase_units":[{"payments":{"captures":[{"id":"CAP1","custom_id":"att_1"}]}}]`, "CAP1", "ORD1", []string{"att_1", "CAP1", "ORD1"}, "", ""},
		"order of two":    {"CHECKOUT.ORDER.COMPLETED", `"id":"ORD1","purchase_units":[{"payments":{"captures":[{"id":"CAP1"}]}},{"payments":{"captures":[{"id":"CAP2"}]}}]`, "", "ORD1", []string{"CAP1", "CAP2", "ORD1"}, "", ""},
		"order, held":     {"CHECKOUT.ORDER.COMPLETED", `"id":"ORD1","purchase_units":[{"payments":{"authorizations":[{"id":"AUTH1"}],"captures":[{"id":"CAP1"` + paypalUpAuth + `}]}}]`, "AUTH1", "ORD1", []string{"CAP1", "AUTH1", "ORD1"}, "", ""},
		"approval":        {"CHECKOUT.PAYMENT-APPROVAL.REVERSED", `"order_id":"ORD1","purchase_units":[{"custom_id":"att_1"}]`, "", "ORD1", []string{"att_1", "ORD1"}, "", ""},
		"refund of what":  {"PAYMENT.CAPTURE.REFUNDED", `"id":"R1","custom_id":"rf_1"`, "", "", []string{"rf_1"}, "R1", "rf_1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := providertest.Parsed(t, newVerifier(t), paypalEvent(test.eventType, test.members))
			require.Equal(t, test.payment, e.ProviderPaymentID)
			require.Equal(t, test.container, e.Container)
			require.Equal(t, test.references, e.References)
			require.Equal(t, test.refund, e.RefundID)
			require.Equal(t, test.reference, e.RefundReference)
		})
	}
}

func TestUnreadable(t *testing.T) {
	t.Parallel()
	v := newVerifier(t)
	for name, body := range map[string]string{
		"not JSON":      `WH-1`,
		"no id":         `{"event_type":"PAYMENT.CAPTURE.COMPLETED"}`,
		"no type":       `{"id":"WH-1"}`,
		"no resource":   `{"id":"WH-1","event_type":"PAYMENT.CAPTURE.COMPLETED"}`,
		"amount of yen": paypalEvent("PAYMENT.CAPTURE.COMPLETED", `"amount":{"currency_code":"JPY","value":"20.5"}`),
		"a number":      paypalEvent("PAYMENT.CAPTURE.COMPLETED", `"amount":{"currency_code":"JPY","value":20}`),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			providertest.RequireUnreadable(t, v, providertest.Signed(t, v, body))
		})
	}
}

// TestFailureCode: a shop's page shows the customer the next step by this code.
func TestFailureCode(t *testing.T) {
	t.Parallel()
	providertest.Reasons(t, func(reason string) (webhooks.FailureCode, string) { return paypal.FailureCode("", reason) }, map[string]string{
		"fraud_suspected": "BUYER_COMPLAINT|DECLINED_BY_RISK_FRAUD_FILTERS", "provider_rejected": "|NEW",
	})
	providertest.Reasons(t, func(code string) (webhooks.FailureCode, string) { return paypal.FailureCode(code, "BUYER_COMPLAINT") }, map[string]string{
		"card_declined": "0500|new", "insufficient_funds": "5120", "authentication_failed": "5650", "fraud_suspected": "9500|9510|9520",
	})
}

// TestPayee: the creator of an order may choose the payee.
func TestPayee(t *testing.T) {
	t.Parallel()
	const ours, theirs = `{"merchant_id":"M1","email_address":"shop@shop.example"}`, `{"email_address":"x@evil.example"}`
	for members, want := range map[string]string{
		`"id":"CAP1","payee":` + ours: "M1", `"id":"CAP1","payee":` + theirs: "x@evil.example", `"id":"CAP1"`: "",
	} {
		for _, eventType := range []string{"PAYMENT.CAPTURE.COMPLETED", "PAYMENT.AUTHORIZATION.CREATED"} {
			require.Equal(t, want, providertest.Parsed(t, newVerifier(t), paypalEvent(eventType, members)).Payee)
		}
	}
	for members, want := range map[string]string{
		`"purchase_units":[{"payee":` + ours + `}]`:                          "M1",
		`"purchase_units":[{"payee":` + ours + `},{"payee":` + ours + `}]`:   "M1",
		`"purchase_units":[{"payee":` + ours + `},{"payee":` + theirs + `}]`: "M1,x@evil.example",
		`"purchase_units":[{"payee":7}]`:                                     "",
	} {
		require.Equal(t, want, providertest.Parsed(t, newVerifier(t), paypalEvent("CHECKOUT.ORDER.APPROVED", `"id":"ORD1",`+members)).Payee)
	}
	require.Equal(t, "M1", providertest.Parsed(t, newVerifier(t), paypalEvent("PAYMENT.CAPTURE.REFUNDED", `"id":"R1","payer":`+ours+paypalUpCapture)).Payee)
	require.Equal(t, "M1", providertest.Parsed(t, newVerifier(t), paypalEvent("CUSTOMER.DISPUTE.CREATED",
		`"status":"OPEN","disputed_transactions":[{"seller_transaction_id":"CAP1","seller":{"merchant_id":"M1"}}]`)).Payee)
}
