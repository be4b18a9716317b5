package standard_test

import (
	"io"
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// An unreadable answer leaves the outcome unknown. It is not a success, not a failure, and never "there is no such
// payment".
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
		"another 404":       {404, `{"error":{"code":"no_such_address"}}`},
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

// An empty list is evidence only if the provider has the list. A missing address is no proof that nothing was charged or
// refunded.
func TestAListThatTheProviderDoesNotHaveIsNoProof(t *testing.T) {
	t.Parallel()
	r := says(t, http.StatusNotFound, `{"error":{"code":"not_found"}}`)
	_, err := r.Find(t.Context(), payment.AttemptID(uuid.New()))
	require.Error(t, err)
	require.NotErrorIs(t, err, gateway.ErrNoSuchPayment)
	_, err = r.LookupRefund(t.Context(), gateway.RefundRef{Refund: payment.RefundID(uuid.New())})
	require.Error(t, err)
	require.NotErrorIs(t, err, gateway.ErrNoSuchPayment)
	err = r.Entries(t.Context(), gateway.Span{}, func(gateway.Entry) error { return nil })
	require.ErrorContains(t, err, "lists")
	require.NotErrorIs(t, err, gateway.ErrNoSuchPayment)
}

// A list that ignores the reference, or contains it twice, shows no payment and no refund of ours.
func TestAnObjectOfAnotherReferenceIsNotOurs(t *testing.T) {
	t.Parallel()
	attempt, refund := payment.AttemptID(uuid.New()), payment.RefundID(uuid.New())
	one := func(id, reference string) string {
		return `{"id":"` + id + `","reference":"` + reference + `","status":"succeeded","amount":1999,"currency":"EUR"}`
	}
	for name, test := range map[string]struct {
		charges, refunds string
		fits             bool
	}{
		"ours":       {one("ch_1", attempt.String()), one("re_1", refund.String()), true},
		"another's":  {one("ch_1", uuid.NewString()), one("re_1", uuid.NewString()), false},
		"unnamed":    {one("ch_1", ""), one("re_1", ""), false},
		"ours twice": {one("ch_1", attempt.String()) + "," + one("ch_2", attempt.String()), one("re_1", refund.String()) + "," + one("re_2", refund.String()), false},
	} {
		_, err := says(t, http.StatusOK, `{"items":[`+test.charges+`]}`).Find(t.Context(), attempt)
		require.Equal(t, test.fits, err == nil, name)
		require.NotErrorIs(t, err, gateway.ErrNoSuchPayment, name)
		_, err = says(t, http.StatusOK, `{"items":[`+test.refunds+`]}`).LookupRefund(t.Context(), gateway.RefundRef{Refund: refund})
		require.Equal(t, test.fits, err == nil, name)
		require.NotErrorIs(t, err, gateway.ErrNoSuchPayment, name)
	}
}

// A late second step does not fail the payment. A lookup shows the payment's state.
func TestASecondStepOfAChargeThatIsOver(t *testing.T) {
	t.Parallel()
	for status, want := range map[string]fsm.Event{"succeeded": fsm.EventSucceeded, "authorized": fsm.EventAuthorized, "failed": fsm.EventFailed, "pending": fsm.EventFailed} {
		r := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost {
				w.WriteHeader(http.StatusConflict)
				_, _ = io.WriteString(w, `{"error":{"code":"charge_not_completable","charge_status":"`+status+`"}}`)
				return
			}
			_, _ = io.WriteString(w, `{"id":"ch_1","status":"`+status+`","amount":1999,"currency":"EUR"}`)
		}))
		o, err := r.Complete(t.Context(), gateway.Completion{ProviderPaymentID: "ch_1", Details: []byte(`{"a":1}`), IdempotencyKey: "k", Permit: permit()})
		require.NoError(t, err, status)
		require.Equal(t, want, o.Event, status)
		require.Equal(t, status == "pending", o.Refused, status)
	}
}

// A dispute's movement must have an id, and its money must have the contract's form.
func TestADisputeThatCannotBeReadLeavesThePaymentOpen(t *testing.T) {
	t.Parallel()
	kind := "chargeback"
	dispute := func(id, currency, entry, amount string) string {
		return `{"id":"ch_1","status":"succeeded","amount":1999,"currency":"EUR","disputes":[{"id":"` + id + `","status":"open","amount":1999,"currency":"` + currency +
			`","movements":[{"entry_id":"` + entry + `","kind":"` + kind + `","amount":` + amount + `}]}]}`
	}
	for body, fits := range map[string]bool{
		dispute("dp_1", "EUR", "e_1", "1999"): true, dispute("", "EUR", "e_1", "1999"): false, dispute("dp_1", "eur", "e_1", "1999"): false,
		dispute("dp_1", "EUR", "", "1999"): false, dispute("dp_1", "EUR", "e_1", "-5"): false, dispute("dp_1", "EUR", "e_1", "0"): false,
	} {
		_, err := says(t, http.StatusOK, body).Lookup(t.Context(), "ch_1")
		require.Equal(t, fits, err == nil, body)
	}
	for _, kind = range []string{"charge", "refund", "credit"} {
		_, err := says(t, http.StatusOK, dispute("dp_1", "EUR", "e_1", "1999")).Lookup(t.Context(), "ch_1")
		require.Error(t, err, kind)
	}
}

// A status that a provider may add later and this version does not know is not final.
func TestAnUnknownStatusIsUnderWay(t *testing.T) {
	t.Parallel()
	o, err := says(t, http.StatusOK, `{"id":"ch_1","status":"marinating","amount":1,"currency":"EUR"}`).Lookup(t.Context(), "ch_1")
	require.NoError(t, err)
	require.Equal(t, gateway.Outcome{Event: fsm.EventProcessing, ProviderPaymentID: "ch_1"}, o)
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
