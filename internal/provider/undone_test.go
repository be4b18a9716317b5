package provider_test

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/adyen"
	"github.com/paylatch/paylatch/webhooks/braintree"
)

// undoing is a course of two webhooks: the first counts a payment as captured, and the second ends the same payment.
type undoing struct {
	reader         webhooks.Reader
	captured, ends string
}

// undoings are the courses of the kinds whose signed webhook alone ends a payment that was counted as captured before.
func undoings(t *testing.T) map[string]undoing {
	t.Helper()
	ofAdyen, err := adyen.New(webhooks.Config{Secrets: []string{strings.Repeat("44", 32)}, Params: map[string]string{"capture": "automatic"}})
	require.NoError(t, err)
	ofBraintree, err := braintree.New(webhooks.Config{Secrets: []string{"private"}, Params: map[string]string{"public_key": "public"}})
	require.NoError(t, err)
	item := func(code, names string) string {
		return `{"live":"false","notificationItems":[{"NotificationRequestItem":{"merchantAccountCode":"Shop","merchantReference":"A-1","success":"true",` +
			`"eventDate":"2026-03-14T15:09:20Z","amount":{"value":1999,"currency":"EUR"},"eventCode":"` + code + `",` + names + `}}]}`
	}
	notice := func(kind, subject string) string {
		document := "<notification><timestamp type=\"datetime\">2026-03-14T15:09:20Z</timestamp><kind>" + kind + "</kind><subject>" + subject + "</subject></notification>"
		return url.Values{"bt_payload": {base64.StdEncoding.EncodeToString([]byte(document))}, "bt_signature": {"public|0"}}.Encode()
	}
	sale := func(status string) string {
		return "<transaction><id>pay_1</id><type>sale</type><status>" + status + "</status><amount>19.99</amount><currency-iso-code>EUR</currency-iso-code></transaction>"
	}
	local := func(status string) string {
		return notice("local_payment_completed", "<local-payment><payment-id>PAY-1</payment-id>"+sale(status)+"</local-payment>")
	}
	authorised, pending := item("AUTHORISATION", `"pspReference":"pay_1"`), local("settlement_pending")
	return map[string]undoing{
		"adyen, cancelled by our reference":    {ofAdyen, authorised, item("TECHNICAL_CANCEL", `"pspReference":"mod_1","originalReference":"pay_1"`)},
		"adyen, cancelled without a reference": {ofAdyen, authorised, item("TECHNICAL_CANCEL", `"pspReference":"mod_1"`)},
		"adyen, cancelled":                     {ofAdyen, authorised, item("CANCELLATION", `"pspReference":"mod_1","originalReference":"pay_1"`)},
		"braintree, declined settlement":       {ofBraintree, pending, notice("transaction_settlement_declined", sale("settlement_declined"))},
		"braintree, declined local payment":    {ofBraintree, pending, local("settlement_declined")},
		"braintree, voided local payment":      {ofBraintree, pending, local("voided")},
	}
}

// report is the report of a kind's webhook.
func (u undoing) report(t *testing.T, body string) payment.Report {
	t.Helper()
	events := u.reader.Read(webhooks.Delivery{
		Method: http.MethodPost, Header: http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}, Body: []byte(body), ReceivedAt: time.Now(),
	})
	require.Len(t, events, 1)
	r, ok := payment.ReportOfEvent(events[0], "EUR")
	require.True(t, ok, events[0].Kind)
	return r
}

// A webhook that ends a payment takes back what the payment was counted for. Without captured money it is a failure, and it never
// takes the money of another payment.
func TestTheEndOfACapturedPaymentTakesItsMoneyBack(t *testing.T) {
	t.Parallel()
	for name, u := range undoings(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			captured, ends := u.report(t, u.captured), u.report(t, u.ends)
			begun := func(ids ...string) payment.Attempt {
				a := payment.Attempt{ID: payment.AttemptID(uuid.New()), Money: payment.Money{Minor: 1999, Currency: "EUR"}, State: fsm.Processing}
				for _, id := range ids {
					a.Payments = append(a.Payments, payment.Payment{ID: id, State: fsm.PaymentProcessing})
				}
				return a
			}

			a := begun("pay_1")
			payment.Advance(&a, captured, time.Now())
			require.Equal(t, fsm.Succeeded, a.State)
			require.EqualValues(t, 1999, a.Held())
			tr, verdict := payment.Advance(&a, ends, time.Now())
			require.Equal(t, fsm.Applied, verdict)
			require.Zero(t, a.Held())
			require.Equal(t, fsm.Succeeded, a.State)
			require.Len(t, tr.Findings, 1)
			require.Equal(t, payment.PaymentReversed, tr.Findings[0].Kind)
			last := a.LastMovement
			payment.Advance(&a, ends, time.Now())
			require.Equal(t, last, a.LastMovement, "a repeat takes nothing back")

			a = begun("pay_1")
			_, verdict = payment.Advance(&a, ends, time.Now())
			require.Equal(t, fsm.Applied, verdict)
			require.Equal(t, fsm.Failed, a.State)
			require.Empty(t, a.Movements)

			a = begun("pay_1", "pay_2")
			payment.Advance(&a, payment.Report{Payment: "pay_2", Event: fsm.EventSucceeded, Movements: payment.MovementsOf(fsm.EventSucceeded, nil)}, time.Now())
			payment.Advance(&a, ends, time.Now())
			require.EqualValues(t, 1999, a.Held(), "the money of another payment stays")
		})
	}
}
