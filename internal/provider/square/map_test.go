package square_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
	hooks "github.com/paylatch/paylatch/webhooks/square"
)

func eur(minor int64) object { return object{"amount": minor, "currency": "EUR"} }

func asked(t *testing.T, members object) (gateway.Outcome, error) {
	t.Helper()
	raw, err := json.Marshal(object{"payment": members})
	require.NoError(t, err)
	return says(t, 200, string(raw)).Lookup(t.Context(), "p1")
}

// told returns the webhook's event about the same object.
func told(t *testing.T, name string, members object) webhooks.Event {
	t.Helper()
	v, err := hooks.New(webhooks.Config{Secrets: []string{"signature-key"}, PublicURL: "https://shop.example/webhooks/square"})
	require.NoError(t, err)
	body, err := json.Marshal(object{"event_id": "e1", "type": name + ".updated", "data": object{"object": object{name: members}}})
	require.NoError(t, err)
	d := webhooks.Delivery{Method: "POST", URL: "https://shop.example/webhooks/square", Body: body}
	require.NoError(t, v.Sign(&d))
	events, err := v.Verify(t.Context(), d)
	require.NoError(t, err)
	return events[0]
}

// A lookup and a webhook of one object have the same event, the same names, the same money and the same failure.
func TestAPaymentIsReadAsItsWebhookIs(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]object{
		"pending":       {"status": "PENDING", "amount_money": eur(1999)},
		"approved":      {"status": "APPROVED", "amount_money": eur(1999), "approved_money": eur(1500)},
		"approved, old": {"status": "APPROVED", "amount_money": eur(1999)},
		"completed":     {"status": "COMPLETED", "amount_money": eur(1999), "total_money": eur(2199)},
		"completed old": {"status": "COMPLETED", "amount_money": eur(1999)},
		"canceled":      {"status": "CANCELED", "amount_money": eur(1999)},
		"failed":        {"status": "FAILED", "amount_money": eur(1999)},
	} {
		p["id"], p["order_id"], p["reference_id"] = "p1", "o1", "ours"
		o, err := asked(t, p)
		require.NoError(t, err, name)
		e := told(t, "payment", p)
		require.Equal(t, string(e.Kind), string(o.Event), name)
		require.Equal(t, e.ProviderPaymentID, o.ProviderPaymentID)
		require.Subset(t, e.References, o.References)
		if o.Money != nil {
			require.Equal(t, payment.Money{Minor: e.Money.Minor, Currency: payment.Currency(e.Money.Currency)}, *o.Money, name)
		}
		if o.Failure != nil {
			require.Equal(t, payment.NewFailure(e.FailureCode, e.ProviderCode), o.Failure, name)
		}
	}
	for _, code := range []string{
		"INSUFFICIENT_FUNDS", "CARD_DECLINED_VERIFICATION_REQUIRED", "DELAYED_TRANSACTION_EXPIRED", "CHECKOUT_EXPIRED", "BUYER_REFUSED_PAYMENT",
		"DELAYED_TRANSACTION_CANCELED", "TEMPORARY_ERROR", "INTERNAL_SERVER_ERROR", "GATEWAY_TIMEOUT", "GENERIC_DECLINE", "CVV_FAILURE", "SOMETHING_NEW",
	} {
		p := object{"id": "p1", "status": "FAILED", "card_details": object{"errors": []object{{"category": "PAYMENT_METHOD_ERROR", "code": code}}}}
		o, err := asked(t, p)
		require.NoError(t, err)
		e := told(t, "payment", p)
		require.Equal(t, payment.NewFailure(e.FailureCode, e.ProviderCode), o.Failure, code)
	}
}

func TestARefundIsReadAsItsWebhookIs(t *testing.T) {
	t.Parallel()
	for status, news := range map[string]fsm.Event{
		"PENDING": fsm.EventProcessing, "COMPLETED": fsm.EventSucceeded, "REJECTED": fsm.EventFailed, "FAILED": fsm.EventFailed,
	} {
		r := object{"id": "r1", "status": status, "payment_id": "p1", "amount_money": eur(500)}
		raw, err := json.Marshal(object{"refund": r})
		require.NoError(t, err)
		o, err := says(t, 200, string(raw)).LookupRefund(t.Context(), gateway.RefundRef{ProviderRefundID: "r1"})
		require.NoError(t, err)
		require.Equal(t, news, o.Event, status)
		e := told(t, "refund", r)
		kinds := map[fsm.Event]webhooks.Kind{
			fsm.EventProcessing: webhooks.KindRefundPending, fsm.EventSucceeded: webhooks.KindRefundSucceeded, fsm.EventFailed: webhooks.KindRefundFailed,
		}
		require.Equal(t, kinds[o.Event], e.Kind, status)
		require.Equal(t, e.RefundID, o.ProviderRefundID)
		require.Equal(t, e.Money.Minor, o.Money.Minor)
		if o.Failure != nil {
			require.Equal(t, payment.NewFailure(e.FailureCode, e.ProviderCode), o.Failure)
		}
	}
}

func TestAStatusOfTomorrowIsUnderWay(t *testing.T) {
	t.Parallel()
	o, err := asked(t, object{"id": "p1", "status": "MARINATING"})
	require.NoError(t, err)
	require.Equal(t, gateway.Outcome{Event: fsm.EventProcessing, ProviderPaymentID: "p1"}, o)
	_, err = asked(t, object{"id": "p1", "status": "COMPLETED", "total_money": object{"amount": -1, "currency": "EUR"}})
	unknown(t, err)
	o, err = asked(t, object{"id": "p1", "status": "COMPLETED"})
	require.NoError(t, err)
	require.Nil(t, o.Money)
}
