package tbank_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/providertest"
	"github.com/paylatch/paylatch/webhooks"
	hooks "github.com/paylatch/paylatch/webhooks/tbank"
)

// The adapter and a notification must read a status in the same way. If a notification is ambiguous, the bank is asked,
// and the adapter decides. Only a lookup decides how long a page may wait.
func TestLookupsAndWebhooksAgree(t *testing.T) {
	t.Parallel()
	v, err := hooks.New(webhooks.Config{Secrets: []string{password}})
	require.NoError(t, err)
	news := map[webhooks.Kind]fsm.Event{
		webhooks.KindProcessing: fsm.EventProcessing, webhooks.KindActionRequired: fsm.EventActionRequired,
		webhooks.KindAuthorized: fsm.EventAuthorized, webhooks.KindSucceeded: fsm.EventSucceeded,
		webhooks.KindSoftFailed: fsm.EventSoftFailed, webhooks.KindFailed: fsm.EventFailed,
		webhooks.KindIgnored: fsm.EventProcessing, // an unknown status
	}
	asked := map[string]fsm.Event{
		"NEW": fsm.EventActionRequired, "FORM_SHOWED": fsm.EventActionRequired,
		"PARTIAL_REVERSED": fsm.EventAuthorized, "REFUNDING": fsm.EventSucceeded, "ASYNC_REFUNDING": fsm.EventSucceeded,
		"PARTIAL_REFUNDED": fsm.EventSucceeded, "REFUNDED": fsm.EventSucceeded,
	}
	for _, status := range []string{
		"NEW", "FORM_SHOWED", "AUTHORIZING", "3DS_CHECKING", "3DS_CHECKED", "AUTHORIZED", "CONFIRMING", "CONFIRMED", "AUTH_FAIL", "REJECTED",
		"REVERSED", "CANCELED", "DEADLINE_EXPIRED", "ATTEMPTS_EXPIRED", "PARTIAL_REVERSED", "REFUNDING", "ASYNC_REFUNDING", "REFUNDED", "PARTIAL_REFUNDED",
		"PREAUTHORIZING", "PAY_CHECKING", "CONFIRM_CHECKING", "REVERSING", "COMPLETED", "MARINATING",
	} {
		for _, code := range []string{"0", "101", "1005", "1034", "1041", "1043", "1051", "1059"} {
			body, err := json.Marshal(map[string]any{
				"TerminalKey": terminal, "OrderId": "a", "PaymentId": json.Number("12345678901234567890"), "Status": status,
				"Success": code == "0", "ErrorCode": code, "Amount": 1999,
			})
			require.NoError(t, err)
			d := webhooks.Delivery{Body: body}
			require.NoError(t, v.Sign(&d))
			events, err := v.Verify(t.Context(), d)
			require.NoError(t, err)
			e := events[0]
			o, err := says(t, string(body)).Lookup(t.Context(), "12345678901234567890")
			require.NoError(t, err)
			want, known := news[e.Kind]
			if answer, decides := asked[status]; e.NeedsFetch || decides {
				want = answer
				if code != "0" && !known && want == "" { // "AUTHORIZED" or "CONFIRMED" without success
					continue
				}
			}
			require.Equal(t, want, o.Event, "%s %s", status, code)
			require.Equal(t, e.PageOpen, o.PageOpen, "%s %s", status, code)
			require.Equal(t, status == "AUTH_FAIL", o.PageOpen, "%s %s", status, code)
			require.Equal(t, "12345678901234567890", o.ProviderPaymentID)
			var refunds []gateway.RefundOutcome
			if status == "REFUNDED" { // a partial refund shows neither its amount nor an id
				refunds = []gateway.RefundOutcome{{Event: fsm.EventSucceeded, Whole: true}}
			}
			require.Equal(t, status == "REFUNDED" || strings.HasSuffix(status, "REFUNDING"), o.Returned, status)
			require.Equal(t, refunds, o.Refunds, status)
			if e.Kind == webhooks.KindFailed || e.Kind == webhooks.KindSoftFailed {
				require.Equal(t, payment.NewFailure(e.FailureCode, e.ProviderCode), o.Failure, "%s %s", status, code)
			} else {
				require.Nil(t, o.Failure)
			}
			if o.Money != nil && e.Money != nil {
				require.Equal(t, webhooks.Money{Minor: o.Money.Minor, Currency: string(o.Money.Currency)}, *e.Money)
			}
		}
	}
}

// A notification names the attempt by the OrderId of Init, and the payment by the id that Lookup accepts.
func TestAWebhookNamesWhatWasCharged(t *testing.T) {
	t.Parallel()
	v, err := hooks.New(webhooks.Config{Secrets: []string{password}})
	require.NoError(t, err)
	c, got := serve(t, newFake(t))
	ch := charge(good)
	made := charged(t, c, ch)
	d := webhooks.Delivery{Body: []byte(`{"TerminalKey":"` + terminal + `","OrderId":"` + scalars([]byte((<-got).body))["OrderId"] +
		`","PaymentId":` + made.ProviderPaymentID + `,"Status":"PARTIAL_REFUNDED","Success":true,"ErrorCode":"0","Amount":1}`)}
	require.NoError(t, v.Sign(&d))
	events, err := v.Verify(t.Context(), d)
	require.NoError(t, err)
	require.True(t, events[0].NeedsFetch)
	require.Equal(t, []string{ch.Attempt.String(), made.ProviderPaymentID}, events[0].References)
	now, err := c.Lookup(t.Context(), events[0].ProviderPaymentID)
	require.NoError(t, err)
	require.Equal(t, made, now)
	providertest.NamedAlike(t, providertest.Paid{Provider: c, Charged: made, Webhook: events[0]})
}

// Our reference is unique, but the bank's OrderId is not. The most advanced payment decides.
func TestFindTakesThePaymentThatWentFurthest(t *testing.T) {
	t.Parallel()
	f := serving(nil)
	c, _ := serve(t, f)
	ch := charge(good)
	made := charged(t, c, ch)
	for id, status := range map[string]string{"1": "CANCELED", "2": "FORM_SHOWED", "9": "AUTH_FAIL"} {
		f.payments[id] = &paid{id: id, order: ch.Attempt.String(), status: status, amount: 1}
	}
	found, err := c.Find(t.Context(), ch.Attempt)
	require.NoError(t, err)
	require.Equal(t, made, found)
}

// A payment that can still be paid decides before a payment that can't.
func TestFindTakesThePageThatIsOpen(t *testing.T) {
	t.Parallel()
	f := serving(nil)
	c, _ := serve(t, f)
	attempt := charge(good).Attempt
	for id, status := range map[string]string{"1": "CANCELED", "2": "FORM_SHOWED", "3": "AUTH_FAIL"} {
		f.payments[id] = &paid{id: id, order: attempt.String(), status: status, amount: 1}
	}
	found, err := c.Find(t.Context(), attempt)
	require.NoError(t, err)
	require.Equal(t, gateway.Outcome{Event: fsm.EventActionRequired, ProviderPaymentID: "2", Payee: terminal, Live: new(false)}, found)
}

// The answer to Init was lost, so the customer can't open the page. The payment must be cancelled.
func TestFindGivesUpWhatNobodyCanPay(t *testing.T) {
	t.Parallel()
	c, _ := serve(t, newFake(t))
	ch := charge("redirect")
	begun := charged(t, c, ch)
	found, err := c.Find(t.Context(), ch.Attempt)
	require.NoError(t, err)
	require.Equal(t, gateway.Outcome{
		Event: fsm.EventSoftFailed, ProviderPaymentID: begun.ProviderPaymentID, Payee: terminal, Live: new(false), Failure: payment.NewFailure("not_started", ""),
	}, found)
	require.Equal(t, fsm.EventFailed, cancel(t, c, found.ProviderPaymentID).Event)
}

// A saved card failed 3-D Secure, and the answer to the charge was lost. The payment has no page for another try, and
// the bank does not cancel it.
func TestFindFailsASavedCardThatNobodyCanTryAgain(t *testing.T) {
	t.Parallel()
	c, _ := serve(t, newFake(t))
	ch := charge(unproven)
	made := charged(t, c, ch)
	found, err := c.Find(t.Context(), ch.Attempt)
	require.NoError(t, err)
	require.Equal(t, fsm.EventFailed, found.Event)
	require.True(t, found.PageOpen, "of a payment that the shop has begun, the page's address is known")
	found.PageOpen = false
	require.Equal(t, made, found)
	require.True(t, cancel(t, c, found.ProviderPaymentID).Refused)
}

// A card that is being charged is under way, so it is waited for.
func TestFindTakesThePaymentThatTheBankWorksAt(t *testing.T) {
	t.Parallel()
	for status, want := range map[string]fsm.Event{
		"AUTHORIZING": fsm.EventProcessing, "CONFIRMING": fsm.EventProcessing, "3DS_CHECKED": fsm.EventProcessing, "AUTHORIZED": fsm.EventAuthorized,
		"3DS_CHECKING": fsm.EventActionRequired, "FORM_SHOWED": fsm.EventActionRequired,
	} {
		f := serving(nil)
		c, _ := serve(t, f)
		attempt := charge(good).Attempt
		for id, status := range map[string]string{"1": "FORM_SHOWED", "2": status, "3": "FORM_SHOWED"} {
			f.payments[id] = &paid{id: id, order: attempt.String(), status: status, amount: 1}
		}
		found, err := c.Find(t.Context(), attempt)
		require.NoError(t, err)
		require.Equal(t, want, found.Event, status)
		require.Equal(t, status == "FORM_SHOWED", found.ProviderPaymentID == "1", status)
	}
}

func TestAnOrderWithoutPaymentsIsNoPayment(t *testing.T) {
	t.Parallel()
	_, err := says(t, `{"Success":true,"ErrorCode":"0","OrderId":"x","Payments":[]}`).Find(t.Context(), payment.AttemptID(uuid.New()))
	require.ErrorIs(t, err, gateway.ErrNoSuchPayment)
	for _, body := range []string{`{"Success":true,"ErrorCode":"0"}`, `{"Success":false,"ErrorCode":"9999"}`} {
		_, err := says(t, body).Find(t.Context(), payment.AttemptID(uuid.New()))
		require.Error(t, err)
		require.NotErrorIs(t, err, gateway.ErrNoSuchPayment)
	}
}

// A listed payment that can't be looked up exists nevertheless.
func TestAPaymentThatIsListedIsNotMissing(t *testing.T) {
	t.Parallel()
	c, _ := serve(t, serving(func(method string, f *fake) {
		if method == "GetState" {
			clear(f.payments)
		}
	}))
	ch := charge(good)
	charged(t, c, ch)
	_, err := c.Find(t.Context(), ch.Attempt)
	require.Error(t, err)
	require.NotErrorIs(t, err, gateway.ErrNoSuchPayment)
}

// If the bank does not know a payment (for example another terminal's), that is no proof that it was not refunded.
func TestAMissingPaymentIsNoMissingRefund(t *testing.T) {
	t.Parallel()
	for _, body := range []string{`{"Success":false,"ErrorCode":"255"}`, `{"Success":false,"ErrorCode":"335"}`} {
		_, err := says(t, body).LookupRefund(t.Context(), gateway.RefundRef{Refund: payment.RefundID(uuid.New()), ProviderPaymentID: "1"})
		require.ErrorIs(t, err, gateway.ErrInconclusive, body)
		require.NotErrorIs(t, err, gateway.ErrNoSuchPayment, body)
	}
}
