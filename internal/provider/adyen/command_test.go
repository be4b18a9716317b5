package adyen_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
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
	require.Equal(t, gateway.Outcome{Event: fsm.EventProcessing, ProviderPaymentID: o.ProviderPaymentID}, got)
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
