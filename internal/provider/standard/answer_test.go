package standard_test

import (
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// Whatever can't be understood leaves the outcome unknown: it is neither a
// success nor a failure, and never "there is no such payment".
func TestAnswersThatSayNothingAreUnknown(t *testing.T) {
	t.Parallel()
	for name, a := range map[string]struct {
		status int
		body   string
	}{
		"empty":             {201, ""},
		"no JSON":           {201, "<html>It works!</html>"},
		"cut":               {201, `{"id":"ch_1","status":"succ`},
		"null":              {201, "null"},
		"an array":          {201, "[]"},
		"nobody":            {201, "{}"},
		"nameless":          {200, `{"status":"succeeded","amount":1,"amount_captured":1,"currency":"EUR"}`},
		"another type":      {201, `{"id":1}`},
		"a page elsewhere":  {302, `{"id":"ch_1","status":"succeeded"}`},
		"accepted":          {202, `{"id":"ch_1","status":"succeeded"}`},
		"no content":        {204, ""},
		"overloaded":        {503, `{"error":{"code":"x"}}`},
		"too many requests": {429, `{"error":{"code":"x"}}`},
		"request time-out":  {408, `{"error":{"code":"x"}}`},
		"a proxy's refusal": {403, "<html>Forbidden</html>"},
		"a wrong address":   {404, "404 page not found"},
		"a gateway's":       {403, `{"message":"Forbidden"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := says(t, a.status, a.body)
			for _, do := range []func() error{
				func() error { _, err := r.Charge(t.Context(), charge("tok_success")); return err },
				func() error { _, err := r.Capture(t.Context(), capture("ch_1", 1)); return err },
				func() error { _, err := r.Cancel(t.Context(), cancel("ch_1")); return err },
				func() error {
					_, err := r.Refund(t.Context(), gateway.RefundCall{ProviderPaymentID: "ch_1", Money: euro(1), IdempotencyKey: "r", Permit: permit()})
					return err
				},
				func() error { _, err := r.Lookup(t.Context(), "ch_1"); return err },
				func() error {
					_, err := r.LookupRefund(t.Context(), gateway.RefundRef{ProviderRefundID: "re_1"})
					return err
				},
			} {
				err := do()
				require.Error(t, err)
				require.NotErrorIs(t, err, gateway.ErrNotSent)
				require.NotErrorIs(t, err, gateway.ErrNoSuchPayment)
			}
		})
	}
}

func TestAListWithoutItemsIsNoAnswer(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"{}", "null", `{"items":null}`, `{"items":[{}]}`} {
		r := says(t, http.StatusOK, body)
		_, err := r.Find(t.Context(), payment.AttemptID(uuid.New()))
		require.Error(t, err, body)
		require.NotErrorIs(t, err, gateway.ErrNoSuchPayment, body)
		_, err = r.LookupRefund(t.Context(), gateway.RefundRef{})
		require.Error(t, err, body)
		require.NotErrorIs(t, err, gateway.ErrNoSuchPayment, body)
	}
}

// What the provider may say one day and this version does not know is not final.
func TestAnUnknownStatusIsUnderWay(t *testing.T) {
	t.Parallel()
	o, err := says(t, http.StatusOK, `{"id":"ch_1","status":"marinating","amount":1,"currency":"EUR"}`).Lookup(t.Context(), "ch_1")
	require.NoError(t, err)
	require.Equal(t, gateway.Outcome{News: fsm.NewsProcessing, ProviderPaymentID: "ch_1"}, o)
}

func TestTheProvidersOwnCodesAreKept(t *testing.T) {
	t.Parallel()
	for code, ours := range map[string]string{"insufficient_funds": "insufficient_funds", "pick_up_card": "provider_rejected"} {
		o, err := says(t, http.StatusOK, `{"id":"ch_1","status":"failed","failure_code":"`+code+`","failure_message":"raw"}`).Lookup(t.Context(), "ch_1")
		require.NoError(t, err)
		require.Equal(t, ours, o.Failure.Code)
		require.Equal(t, code, o.Failure.ProviderCode)
		require.NotContains(t, o.Failure.Message, "raw", "a provider's words are not for the customer")
	}
}
