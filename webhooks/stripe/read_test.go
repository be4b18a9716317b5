package stripe_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/internal/providertest"
)

// stripeBody returns an event with these further members in its object.
func stripeBody(eventType, members string) string {
	return fmt.Sprintf(`{"id":"evt_1","type":%q,"created":1773500960,"data":{"object":{%s}}}`, eventType, members)
}

func TestEvent(t *testing.T) {
	t.Parallel()
	require.Equal(t, webhooks.Event{
		ID: "evt_1", IDSource: webhooks.Native, Type: "payment_intent.succeeded", Kind: webhooks.KindSucceeded,
		References: []string{"att_1", "pi_1", "ch_1"}, ProviderPaymentID: "pi_1",
		Money:      &webhooks.Money{Minor: 1999, Currency: "EUR"},
		OccurredAt: time.Date(2026, 3, 14, 15, 9, 20, 0, time.UTC),
		Mode:       webhooks.ModeTest,
	}, providertest.Parsed(t, newVerifier(t), intentSucceeded))
}

const (
	intentMembers  = `"id":"pi_1","object":"payment_intent","currency":"eur","amount":2000`
	chargeMembers  = `"id":"ch_1","object":"charge","currency":"eur","amount":2000,"payment_intent":"pi_1"`
	refundMembers  = `"id":"re_1","object":"refund","currency":"eur","amount":500,"payment_intent":"pi_1","charge":"ch_1"`
	disputeMembers = `"id":"dp_1","object":"dispute","currency":"eur","amount":2000,"payment_intent":"pi_1","charge":"ch_1"`
	sessionMembers = `"id":"cs_1","object":"checkout.session","currency":"eur","amount_total":2000,"client_reference_id":"cart_1"`
)

func TestKinds(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		eventType, members string
		kind               webhooks.Kind
		minor              int64 // -1: no money
	}{
		"intent processing":        {"payment_intent.processing", intentMembers, webhooks.KindProcessing, 2000},
		"intent partially funded":  {"payment_intent.partially_funded", intentMembers, webhooks.KindProcessing, 2000},
		"intent requires action":   {"payment_intent.requires_action", intentMembers, webhooks.KindActionRequired, 2000},
		"intent held":              {"payment_intent.amount_capturable_updated", intentMembers + `,"amount_capturable":1500`, webhooks.KindAuthorized, 1500},
		"intent held in part":      {"payment_intent.amount_capturable_updated", intentMembers + `,"amount_capturable":1500,"amount_received":500`, webhooks.KindSucceeded, 500},
		"intent held, none taken":  {"payment_intent.amount_capturable_updated", intentMembers + `,"amount_capturable":1500,"amount_received":0`, webhooks.KindAuthorized, 1500},
		"intent no longer held":    {"payment_intent.amount_capturable_updated", intentMembers + `,"amount_capturable":0`, webhooks.KindIgnored, -1},
		"intent succeeded":         {"payment_intent.succeeded", intentMembers + `,"amount_received":1500`, webhooks.KindSucceeded, 1500},
		"intent failed":            {"payment_intent.payment_failed", intentMembers, webhooks.KindSoftFailed, 2000},
		"intent canceled":          {"payment_intent.canceled", intentMembers, webhooks.KindFailed, 2000},
		"intent created":           {"payment_intent.created", intentMembers, webhooks.KindIgnored, -1},
		"charge pending":           {"charge.pending", chargeMembers, webhooks.KindProcessing, 2000},
		"charge held":              {"charge.succeeded", chargeMembers + `,"captured":false,"amount_captured":0`, webhooks.KindAuthorized, 2000},
		"charge, taken or held":    {"charge.succeeded", chargeMembers, webhooks.KindAuthorized, 2000},
		"charge taken":             {"charge.succeeded", chargeMembers + `,"captured":true,"amount_captured":2000`, webhooks.KindSucceeded, 2000},
		"charge captured in part":  {"charge.captured", chargeMembers + `,"captured":true,"amount_captured":700`, webhooks.KindSucceeded, 700},
		"charge captured long ago": {"charge.captured", chargeMembers + `,"captured":true`, webhooks.KindSucceeded, 2000},
		"charge failed":            {"charge.failed", chargeMembers, webhooks.KindSoftFailed, 2000},
		"charge expired":           {"charge.expired", chargeMembers, webhooks.KindFailed, 2000},
		"charge updated":           {"charge.updated", chargeMembers, webhooks.KindIgnored, -1},
		"charge refunded":          {"charge.refunded", chargeMembers + `,"captured":true,"amount_captured":2000,"amount_refunded":800`, webhooks.KindRefundSucceeded, 800},
		"old charge refunded":      {"charge.refunded", chargeMembers + `,"amount_refunded":800`, webhooks.KindRefundSucceeded, 800},
		"part captured, refunded":  {"charge.refunded", chargeMembers + `,"captured":true,"amount_captured":1500,"amount_refunded":800`, webhooks.KindRefundSucceeded, 300},
		"hold released":            {"charge.refunded", chargeMembers + `,"captured":false,"amount_captured":0,"amount_refunded":2000`, webhooks.KindRefundSucceeded, 0},
		"hold released long ago":   {"charge.refunded", chargeMembers + `,"captured":false,"amount_captured":null,"amount_refunded":2000`, webhooks.KindRefundSucceeded, 0},
		"refund pending":           {"refund.created", refundMembers + `,"status":"pending"`, webhooks.KindRefundPending, 500},
		"refund needs the payer":   {"refund.updated", refundMembers + `,"status":"requires_action"`, webhooks.KindRefundPending, 500},
		"refund without a status":  {"refund.created", refundMembers + `,"status":null`, webhooks.KindRefundPending, 500},
		"refund succeeded":         {"refund.updated", refundMembers + `,"status":"succeeded"`, webhooks.KindRefundSucceeded, 500},
		"refund failed":            {"refund.failed", refundMembers + `,"status":"failed"`, webhooks.KindRefundFailed, 500},
		"hold ran out":             {"charge.refund.updated", refundMembers + `,"status":"succeeded","reason":"expired_uncaptured_charge"`, webhooks.KindIgnored, -1},
		"refund canceled":          {"charge.refund.updated", refundMembers + `,"status":"canceled"`, webhooks.KindRefundFailed, 500},
		"dispute":                  {"charge.dispute.created", disputeMembers + `,"status":"needs_response"`, webhooks.KindDisputed, 2000},
		"inquiry":                  {"charge.dispute.created", disputeMembers + `,"status":"warning_needs_response"`, webhooks.KindDisputed, 2000},
		"dispute lost at once":     {"charge.dispute.created", disputeMembers + `,"status":"lost"`, webhooks.KindDisputeClosed, 2000},
		"dispute money gone":       {"charge.dispute.funds_withdrawn", disputeMembers, webhooks.KindChargeback, 2000},
		"dispute moved":            {"charge.dispute.updated", disputeMembers + `,"status":"under_review"`, webhooks.KindDisputed, 2000},
		"dispute lost":             {"charge.dispute.closed", disputeMembers + `,"status":"lost"`, webhooks.KindChargeback, 2000},
		"dispute won":              {"charge.dispute.closed", disputeMembers + `,"status":"won"`, webhooks.KindDisputeClosed, 2000},
		"inquiry closed":           {"charge.dispute.closed", disputeMembers + `,"status":"warning_closed"`, webhooks.KindDisputeClosed, 2000},
		"dispute prevented":        {"charge.dispute.closed", disputeMembers + `,"status":"prevented"`, webhooks.KindDisputeClosed, 2000},
		"dispute closed somehow":   {"charge.dispute.closed", disputeMembers + `,"status":"new"`, webhooks.KindDisputed, 2000},
		"dispute money back":       {"charge.dispute.funds_reinstated", disputeMembers + `,"status":"won"`, webhooks.KindChargebackReversed, 2000},
		"money back though lost":   {"charge.dispute.funds_reinstated", disputeMembers + `,"status":"lost"`, webhooks.KindChargebackReversed, 2000},
		"session paid":             {"checkout.session.completed", sessionMembers + `,"payment_status":"paid"`, webhooks.KindSucceeded, 2000},
		"session unpaid":           {"checkout.session.completed", sessionMembers + `,"payment_status":"unpaid"`, webhooks.KindProcessing, 2000},
		"session paid later":       {"checkout.session.async_payment_succeeded", sessionMembers + `,"payment_status":"paid"`, webhooks.KindSucceeded, 2000},
		"session failed later":     {"checkout.session.async_payment_failed", sessionMembers, webhooks.KindSoftFailed, 2000},
		"session expired":          {"checkout.session.expired", sessionMembers, webhooks.KindFailed, 2000},
		"thin event of version 2":  {"v1.billing.meter.error_report_triggered", ``, webhooks.KindIgnored, -1},
		"unknown, of any shape":    {"invoice.paid", `"amount":"ten","currency":[]`, webhooks.KindIgnored, -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := providertest.Parsed(t, newVerifier(t), stripeBody(test.eventType, test.members))
			require.Equal(t, test.kind, e.Kind)
			require.Equal(t, test.eventType == "charge.refunded", e.Cumulative)
			if test.minor < 0 {
				require.Nil(t, e.Money)
				return
			}
			require.Equal(t, &webhooks.Money{Minor: test.minor, Currency: "EUR"}, e.Money)
		})
	}
}

// Before version 2025-03-31 the total counts what a partial capture released. Which way it was counted the amounts say,
// or else the event's version.
func TestTakesOffWhatWasReleasedAndNotWhatWasRefunded(t *testing.T) {
	t.Parallel()
	const before, since = "2024-06-20", "2025-03-31.basil"
	for name, test := range map[string]struct {
		version         string
		taken, refunded int
		total           int64
	}{
		"all captured":                        {before, 1000, 300, 300},
		"less than what was released":         {since, 600, 300, 300},
		"less, at an old endpoint":            {before, 600, 300, 300},
		"more than was captured":              {before, 600, 1000, 600},
		"more, at a new endpoint":             {since, 600, 700, 300},
		"what was released, and nothing else": {before, 600, 400, 0},
		"as much refunded":                    {since, 600, 400, 400},
		"old and more":                        {before, 600, 500, 100},
		"new and more":                        {"2025-10-29.clover", 600, 500, 500},
		"all of it":                           {since, 600, 600, 600},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := providertest.Parsed(t, newVerifier(t), fmt.Sprintf(`{"id":"evt_1","type":"charge.refunded","api_version":%q,"data":{"object":{
				"id":"ch_1","object":"charge","currency":"eur","captured":true,"amount":1000,"amount_captured":%d,"amount_refunded":%d}}}`,
				test.version, test.taken, test.refunded))
			require.Equal(t, &webhooks.Money{Minor: test.total, Currency: "EUR"}, e.Money)
		})
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	const metadata = `,"metadata":{"payment_attempt_id":"att_1","refund_id":"rf_1"}`
	for name, test := range map[string]struct {
		eventType, members string
		payment            string
		references         []string
		refund, reference  string
	}{
		"intent":            {"payment_intent.processing", intentMembers + metadata, "pi_1", []string{"att_1", "pi_1"}, "", ""},
		"expanded charge":   {"payment_intent.processing", intentMembers + `,"latest_charge":{"id":"ch_1"}`, "pi_1", []string{"pi_1", "ch_1"}, "", ""},
		"charge":            {"charge.pending", chargeMembers + metadata, "pi_1", []string{"att_1", "pi_1", "ch_1"}, "", ""},
		"charge alone":      {"charge.pending", `"id":"ch_1","object":"charge","payment_intent":null`, "ch_1", []string{"ch_1"}, "", ""},
		"refund":            {"refund.created", refundMembers + metadata, "pi_1", []string{"att_1", "pi_1", "ch_1"}, "re_1", "rf_1"},
		"refund, expanded":  {"refund.created", `"id":"re_1","object":"refund","payment_intent":{"id":"pi_1"},"charge":{"id":"ch_1"}`, "pi_1", []string{"pi_1", "ch_1"}, "re_1", ""},
		"refund of nothing": {"refund.created", `"id":"re_1","object":"refund"`, "", nil, "re_1", ""},
		"dispute":           {"charge.dispute.created", disputeMembers, "pi_1", []string{"pi_1", "ch_1"}, "", ""},
		"session":           {"checkout.session.expired", sessionMembers, "", []string{"cs_1", "cart_1"}, "", ""},
		"session, paid":     {"checkout.session.completed", sessionMembers + metadata + `,"payment_intent":"pi_1"`, "pi_1", []string{"att_1", "pi_1", "cs_1", "cart_1"}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := providertest.Parsed(t, newVerifier(t), stripeBody(test.eventType, test.members))
			require.Equal(t, test.payment, e.ProviderPaymentID)
			require.Equal(t, test.references, e.References)
			require.Equal(t, test.refund, e.RefundID)
			require.Equal(t, test.reference, e.RefundReference)
		})
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	const failed = "payment_intent.payment_failed"
	for name, test := range map[string]struct {
		eventType, members string
		code, said         string
	}{
		"bank's code first":   {failed, intentMembers + `,"last_payment_error":{"type":"card_error","code":"card_declined","decline_code":"insufficient_funds"}`, "insufficient_funds", "insufficient_funds"},
		"3-D Secure":          {failed, intentMembers + `,"last_payment_error":{"type":"invalid_request_error","code":"payment_intent_authentication_failure"}`, "authentication_failed", "payment_intent_authentication_failure"},
		"fraud":               {failed, intentMembers + `,"last_payment_error":{"type":"card_error","code":"card_declined","decline_code":"fraudulent"}`, "fraud_suspected", "fraudulent"},
		"new decline code":    {failed, intentMembers + `,"last_payment_error":{"type":"card_error","code":"x","decline_code":"y"}`, "card_declined", "y"},
		"another error":       {failed, intentMembers + `,"last_payment_error":{"type":"api_error","code":"x"}`, "provider_rejected", "x"},
		"no error given":      {failed, intentMembers + `,"last_payment_error":null`, "provider_rejected", ""},
		"canceled by us":      {"payment_intent.canceled", intentMembers + `,"cancellation_reason":"requested_by_customer","last_payment_error":{"code":"card_declined"}`, "canceled", "requested_by_customer"},
		"hold ran out":        {"payment_intent.canceled", intentMembers + `,"cancellation_reason":"automatic"`, "expired", "automatic"},
		"canceled as fraud":   {"payment_intent.canceled", intentMembers + `,"cancellation_reason":"fraudulent"`, "fraud_suspected", "fraudulent"},
		"canceled, no reason": {"payment_intent.canceled", intentMembers + `,"cancellation_reason":null`, "canceled", ""},
		"charge declined":     {"charge.failed", chargeMembers + `,"failure_code":"card_declined","outcome":{"type":"issuer_declined","reason":"insufficient_funds"}`, "insufficient_funds", "insufficient_funds"},
		"charge blocked":      {"charge.failed", chargeMembers + `,"failure_code":"card_declined","outcome":{"type":"blocked","reason":"rule"}`, "fraud_suspected", "rule"},
		"charge, no outcome":  {"charge.failed", chargeMembers + `,"failure_code":"insufficient_funds","outcome":null`, "insufficient_funds", "insufficient_funds"},
		"charge expired":      {"charge.expired", chargeMembers, "expired", ""},
		"session expired":     {"checkout.session.expired", sessionMembers, "expired", ""},
		"session failed":      {"checkout.session.async_payment_failed", sessionMembers, "provider_rejected", ""},
		"refund failed":       {"refund.failed", refundMembers + `,"status":"failed","failure_reason":"lost_or_stolen_card"`, "provider_rejected", "lost_or_stolen_card"},
		"refund canceled":     {"refund.updated", refundMembers + `,"status":"canceled"`, "canceled", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := providertest.Parsed(t, newVerifier(t), stripeBody(test.eventType, test.members))
			require.Equal(t, test.code, string(e.FailureCode))
			require.Equal(t, test.said, e.ProviderCode)
		})
	}
}

func TestExponents(t *testing.T) {
	t.Parallel()
	for currency, minor := range map[string]int64{
		"usd": 500, "jpy": 500, "kwd": 500, // as ISO 4217 has them
		"isk": 5, "ugx": 5, "mga": 50000, // as it has not
	} {
		e := providertest.Parsed(t, newVerifier(t), stripeBody("charge.pending", `"amount":500,"currency":"`+currency+`"`))
		require.Equal(t, minor, e.Money.Minor, currency)
	}
}

// TestTakesOnlyWhatItNeeds: members that the event's meaning does not need may be of any form.
func TestTakesOnlyWhatItNeeds(t *testing.T) {
	t.Parallel()
	v := newVerifier(t)
	for _, odd := range []string{`null`, `5`, `true`, `"x"`, `[]`, `[{"a":1}]`, `{"a":{}}`} {
		members := `"object":"charge","id":"ch_1","amount":5,"currency":"eur","captured":true`
		for _, name := range []string{"metadata", "outcome", "last_payment_error", "failure_code", "reason", "status", "payment_status", "unknown"} {
			require.Equal(t, "succeeded 5 EUR of ch_1", providertest.Say(providertest.Parsed(t, v,
				stripeBody("charge.succeeded", members+`,"`+name+`":`+odd))), name)
		}
		require.Equal(t, "succeeded 5 EUR of att_1 ch_1", providertest.Say(providertest.Parsed(t, v,
			stripeBody("charge.succeeded", members+`,"metadata":{"payment_attempt_id":"att_1","other":`+odd+`}`))))
		require.Equal(t, webhooks.KindFailed, providertest.Parsed(t, v,
			stripeBody("charge.expired", `"object":"charge","id":"ch_1","amount":`+odd+`,"currency":`+odd)).Kind, "a failure needs no amount")
	}
}

func TestUnreadable(t *testing.T) {
	t.Parallel()
	v := newVerifier(t)
	for name, body := range map[string]string{
		"not JSON":          `evt_1`,
		"not an object":     `[]`,
		"no id":             `{"type":"charge.failed"}`,
		"no type":           `{"id":"evt_1"}`,
		"no object":         `{"id":"evt_1","type":"charge.failed"}`,
		"object is a list":  `{"id":"evt_1","type":"charge.failed","data":{"object":[]}}`,
		"amount is text":    stripeBody("charge.succeeded", `"amount":"5"`),
		"amount negative":   stripeBody("charge.succeeded", `"amount":-5,"currency":"eur"`),
		"a fraction of ISK": stripeBody("charge.succeeded", `"amount":550,"currency":"isk"`),
		"no ISO currency":   stripeBody("charge.succeeded", `"amount":500,"currency":"xyz"`),
		"captured is text":  stripeBody("charge.succeeded", `"amount":500,"currency":"eur","captured":[]`),
		"amount overflows":  stripeBody("charge.succeeded", `"amount":9223372036854775807,"currency":"mga"`),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			providertest.RequireUnreadable(t, v, providertest.Signed(t, v, body))
		})
	}
}

// TestBrowserMark: of a payment link's address the customer can write client_reference_id, of metadata nothing.
func TestBrowserMark(t *testing.T) {
	t.Parallel()
	for members, want := range map[string]bool{
		sessionMembers: true,
		sessionMembers + `,"metadata":{"payment_attempt_id":"att_1"}`: false,
		`"id":"cs_1","object":"checkout.session","metadata":{}`:       false,
	} {
		e := providertest.Parsed(t, newVerifier(t), stripeBody("checkout.session.completed", members))
		require.Equal(t, want, e.BrowserMark, members)
	}
	require.False(t, providertest.Parsed(t, newVerifier(t), intentSucceeded).BrowserMark)
}
