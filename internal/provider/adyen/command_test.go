package adyen_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
	hooks "github.com/paylatch/paylatch/webhooks/adyen"
)

// The requests contain our ids, and the webhooks name the payment and the refund by them.
func TestModificationsBearOurReferences(t *testing.T) {
	t.Parallel()
	base, hc, seen := serve(t, newFake())
	c, ch := client(base, "", hc), manual()
	o := charged(t, c, ch)
	require.Equal(t, fsm.EventAuthorized, o.Event)
	<-seen

	got, err := c.Capture(t.Context(), gateway.Capture{
		Attempt: ch.Attempt, ProviderPaymentID: o.ProviderPaymentID, Money: euro(700), IdempotencyKey: "0123-capture-0", Permit: permit(),
	})
	require.NoError(t, err)
	require.Regexp(t, "^88[0-9]{13}K$", got.ProviderRef, "the capture's own name")
	require.Equal(t, gateway.Outcome{Event: fsm.EventProcessing, ProviderPaymentID: o.ProviderPaymentID, ProviderRef: got.ProviderRef}, got)
	sent := <-seen
	require.Equal(t, "POST /v72/payments/"+o.ProviderPaymentID+"/captures", sent.line)
	require.Equal(t, "0123-capture-0", sent.header.Get("Idempotency-Key"))
	require.JSONEq(t, `{"merchantAccount":"PaylatchECOM","reference":"`+ch.Attempt.String()+`","amount":{"value":700,"currency":"EUR"}}`, sent.body)

	_, err = c.Cancel(t.Context(), gateway.Cancel{
		Attempt: ch.Attempt, ProviderPaymentID: o.ProviderPaymentID, IdempotencyKey: "0123-cancel-0", Permit: permit(),
	})
	require.NoError(t, err)
	sent = <-seen
	require.Equal(t, "POST /v72/payments/"+o.ProviderPaymentID+"/cancels", sent.line)
	require.JSONEq(t, `{"merchantAccount":"PaylatchECOM","reference":"`+ch.Attempt.String()+`"}`, sent.body)

	id := payment.RefundID(uuid.New())
	back, err := c.Refund(t.Context(), gateway.RefundCall{
		Refund: id, Attempt: ch.Attempt, ProviderPaymentID: o.ProviderPaymentID, Money: euro(300), Reason: "Jane Doe sent it back",
		IdempotencyKey: "0123-refund", Permit: permit(),
	})
	require.NoError(t, err)
	require.Equal(t, fsm.EventProcessing, back.Event, "received is not paid back")
	require.Regexp(t, "^88[0-9]{13}K$", back.ProviderRefundID, "Adyen's own name, as that of the payment")
	require.NotEqual(t, o.ProviderPaymentID, back.ProviderRefundID)
	sent = <-seen
	require.JSONEq(t, `{"merchantAccount":"PaylatchECOM","reference":"`+id.String()+`","amount":{"value":300,"currency":"EUR"}}`, sent.body)
}

// A refused command shows only that the payment exists.
func TestARefusedModification(t *testing.T) {
	t.Parallel()
	c := says(t, 422, `{"status":422,"errorCode":"137","errorType":"validation","message":"Invalid amount specified"}`)
	o, err := c.Capture(t.Context(), gateway.Capture{ProviderPaymentID: "88K", Money: euro(1), Permit: permit()})
	require.NoError(t, err)
	require.Equal(t, gateway.Outcome{Event: fsm.EventProcessing, ProviderPaymentID: "88K", Refused: true}, o)
	r, err := c.Refund(t.Context(), gateway.RefundCall{ProviderPaymentID: "88K", Money: euro(1), Permit: permit()})
	require.NoError(t, err)
	require.Equal(t, gateway.RefusedRefund("137"), r)
}

// A rejected key is no evidence about an earlier call, which may have succeeded.
func TestAKeyThatIsTurnedAwayRefusesOneCall(t *testing.T) {
	t.Parallel()
	for _, status := range []int{401, 403} {
		c := says(t, status, `{"errorCode":"901","errorType":"security"}`)
		r, err := c.Refund(t.Context(), gateway.RefundCall{ProviderPaymentID: "88K", Permit: permit()})
		require.NoError(t, err)
		require.Equal(t, gateway.RefusedRefund("901"), r)
		_, err = c.Cancel(t.Context(), gateway.Cancel{ProviderPaymentID: "88K", Permit: permit()})
		unknown(t, err)
	}
}

func TestAnAnswerThatReceivesNothingIsUnknown(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		`{"status":"received"}`, `{"pspReference":"88K"}`, `{"pspReference":"88K","status":"lost"}`,
		`{"pspReference":"88K","status":"received","amount":{"value":150,"currency":"CLP"}}`,
	} {
		c := says(t, 201, body)
		_, err := c.Refund(t.Context(), gateway.RefundCall{ProviderPaymentID: "88K", Permit: permit()})
		unknown(t, err)
	}
}

func TestAdyenCannotBeAsked(t *testing.T) {
	t.Parallel()
	base, hc, seen := serve(t, newFake())
	c := client(base, "", hc)
	_, err := c.Lookup(t.Context(), "88K")
	require.ErrorIs(t, err, gateway.ErrUnsupported)
	_, err = c.Find(t.Context(), payment.AttemptID(uuid.New()))
	require.ErrorIs(t, err, gateway.ErrUnsupported)
	_, err = c.LookupRefund(t.Context(), gateway.RefundRef{ProviderRefundID: "88R"})
	require.ErrorIs(t, err, gateway.ErrUnsupported)
	require.Empty(t, seen)
	can := c.Capabilities()
	require.True(t, can.Blind())
	require.Equal(t, payment.RefundLookupNone, can.RefundLookup)
}

// The webhooks of several captures name each of them, as the response did, by Adyen's id. They may carry our reference.
func TestWebhooksNameEachOfSeveralCaptures(t *testing.T) {
	t.Parallel()
	f := newFake()
	base, hc, _ := serve(t, f)
	c, ch := client(base, "", hc), manual()
	ch.Several = true
	o := charged(t, c, ch)
	var names []string
	for _, key := range []string{"0123-capture-0", "0123-capture-1"} {
		got, err := c.Capture(t.Context(), gateway.Capture{
			Attempt: ch.Attempt, ProviderPaymentID: o.ProviderPaymentID, Money: euro(700), Several: true, IdempotencyKey: key, Permit: permit(),
		})
		require.NoError(t, err)
		names = append(names, got.ProviderRef)
	}
	v, err := hooks.New(webhooks.Config{Secrets: []string{strings.Repeat("44", 32)}})
	require.NoError(t, err)
	for i, m := range f.payments[o.ProviderPaymentID].modified {
		for code, want := range map[string]payment.MovementReport{
			"CAPTURE":        {Kind: payment.MovementCapture, ID: names[i], Money: euro(700), Part: true, Reference: fmt.Sprint("0123-capture-", i)},
			"CAPTURE_FAILED": {Kind: payment.MovementCaptureReversal, ID: names[i], Money: euro(700)},
		} {
			r, ok := payment.ReportOfEvent(v.Read(webhooks.Delivery{Method: http.MethodPost, Header: http.Header{}, Body: m.webhook(t, o.ProviderPaymentID, code, "true")})[0], "")
			require.True(t, ok)
			require.Equal(t, o.ProviderPaymentID, r.Payment)
			require.Equal(t, []payment.MovementReport{want}, r.Movements)
		}
		r, ok := payment.ReportOfEvent(v.Read(webhooks.Delivery{Method: http.MethodPost, Header: http.Header{}, Body: m.webhook(t, o.ProviderPaymentID, "CAPTURE", "false")})[0], "")
		require.True(t, ok)
		require.Equal(t, &payment.RefusalReport{Kind: payment.OperationCapture, ProviderRef: names[i], Reference: fmt.Sprint("0123-capture-", i)}, r.Refusal)
		require.Empty(t, r.Movements)
	}
}

// webhook is the webhook about a request, as Adyen describes it.
func (m modified) webhook(t *testing.T, id, code, success string) []byte {
	t.Helper()
	raw, err := json.Marshal(object{"live": "false", "notificationItems": []object{{"NotificationRequestItem": object{
		"pspReference": m.psp, "originalReference": id, "merchantAccountCode": merchant, "merchantReference": m.reference, "amount": m.amount,
		"eventCode": code, "success": success,
	}}}})
	require.NoError(t, err)
	return raw
}
