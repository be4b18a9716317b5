package api_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/payment"
)

func TestRegister(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	elsewhere := pending()
	elsewhere.Origin = payment.OriginExternal
	b.payments.reply = commands.Reply{View: payment.View{Attempt: elsewhere}, Result: idempotency.Created}
	got := b.command("/v1/orders/A-1/attempts", `{"account":"stripe-eu","provider_payment_id":"pi_1","references":["cs_1"],"capture":"manual",`+
		`"expires_in":60,"supersedes":"`+attemptID.String()+`"}`)
	require.Equal(t, http.StatusCreated, got.StatusCode)
	shown := got.object(t)
	require.Equal(t, "external", shown["origin"])
	require.Equal(t, map[string]any{"text": attemptID.String(), "metadata": map[string]any{}}, shown["provider_reference"])
	require.Equal(t, "01980d3e7f2a7cc19d2b3f0e5a6b7c8d-charge-0", shown["provider_idempotency_key"])
	require.NotEmpty(t, shown["status_token"])
	id := attemptID
	require.Equal(t, commands.External{
		OrderID: "A-1", Account: "stripe-eu", ProviderPaymentID: "pi_1", References: []string{"cs_1"}, Capture: payment.CaptureManual,
		ExpiresIn: time.Minute, Supersedes: &id,
	}, b.payments.externals)

	for field, body := range map[string]string{
		"references":          `{"references":["1","2","3","4","5","6","7","8","9"]}`,
		"references.0":        `{"references":["with a blank"]}`,
		"expires_in":          `{"expires_in":2592001}`,
		"supersedes":          `{"supersedes":"A-1"}`,
		"provider_payment_id": `{"provider_payment_id":""}`,
	} {
		got := b.command("/v1/orders/A-1/attempts", body)
		require.Equal(t, http.StatusUnprocessableEntity, got.StatusCode, body)
		errs, _ := got.object(t)["errors"].([]any)
		first, _ := errs[0].(map[string]any)
		require.Equal(t, field, first["field"], body)
	}
}

func TestReport(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.payments.reply = commands.Reply{View: payment.View{Attempt: pending()}, Result: idempotency.Created}
	got := b.command(attemptPath+"/report", `{"provider_payment_id":"pi_1","outcome":"abandoned","reason":"left"}`)
	require.Equal(t, http.StatusOK, got.StatusCode)
	require.NotContains(t, got.object(t), "provider_reference", "in the answer to a registration only")
	require.Equal(t, commands.Report{AttemptID: attemptID, ProviderPaymentID: "pi_1", Outcome: commands.Abandoned, Reason: "left"}, b.payments.reports)
	require.Equal(t, http.StatusUnprocessableEntity, b.command(attemptPath+"/report", `{"outcome":"paid"}`).StatusCode)
}
