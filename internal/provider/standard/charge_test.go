package standard_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	client "github.com/paylatch/paylatch/internal/provider/standard"
)

var _ gateway.Provider = (*client.Client)(nil)

func TestChargeSaysHowThePaymentStands(t *testing.T) {
	t.Parallel()
	r := start(t)
	money := euro(1999)
	surplus := euro(2000)
	for token, want := range map[string]gateway.Outcome{
		"tok_success":       {Event: fsm.EventSucceeded, Money: &money},
		"tok_wrong_amount":  {Event: fsm.EventSucceeded, Money: &surplus},
		"tok_async_success": {Event: fsm.EventProcessing},
		"tok_never":         {Event: fsm.EventProcessing},
		"tok_decline": {Event: fsm.EventFailed, Failure: &payment.Failure{
			Code: "card_declined", Message: "The card was declined.", ProviderCode: "card_declined",
		}},
		"tok_500_charged": {},
	} {
		t.Run(token, func(t *testing.T) {
			t.Parallel()
			got, err := r.Charge(t.Context(), charge(token))
			if want.Event == "" {
				require.Error(t, err)
				require.NotErrorIs(t, err, gateway.ErrNotSent)
				return
			}
			require.NoError(t, err)
			require.NotEmpty(t, got.ProviderPaymentID)
			want.ProviderPaymentID = got.ProviderPaymentID
			require.Equal(t, want, got)
		})
	}
}

func TestChargeLeadsToTheHostedPage(t *testing.T) {
	t.Parallel()
	r := start(t)
	o := r.charged(t, charge("tok_redirect"))
	require.Equal(t, fsm.EventActionRequired, o.Event)
	require.Equal(t, r.url+"/pay/"+o.ProviderPaymentID, o.NextAction.URL)
}

func TestChargeTwiceWithOneKeyIsOneCharge(t *testing.T) {
	t.Parallel()
	r := start(t)
	c := charge("tok_500_charged")
	_, err := r.Charge(t.Context(), c)
	require.Error(t, err)
	first := r.charged(t, c)
	require.Equal(t, first, r.charged(t, c))
	require.Equal(t, []movement{{Kind: "charge", Amount: 1999, Reference: c.Attempt.String(), IdempotencyKey: c.IdempotencyKey}}, r.ledger(t))
}

func TestChargeThatIsRefusedHasFailed(t *testing.T) {
	t.Parallel()
	o := start(t).charged(t, charge("tok_nonsense"))
	require.Equal(t, fsm.EventFailed, o.Event)
	require.Equal(t, "provider_rejected", o.Failure.Code)
	require.Equal(t, "invalid_token", o.Failure.ProviderCode)
	require.NotEmpty(t, o.Failure.Message)
}

// The key was used with other content, so the outcome of that call is unknown.
func TestChargeWithAKeyInUseIsUnknown(t *testing.T) {
	t.Parallel()
	r := start(t)
	c := charge("tok_success")
	r.charged(t, c)
	c.Money = euro(5)
	_, err := r.Charge(t.Context(), c)
	require.Error(t, err)
	require.NotErrorIs(t, err, gateway.ErrNotSent)
}

func TestLookupAndFind(t *testing.T) {
	t.Parallel()
	r := start(t)
	c := charge("tok_async_success")
	first := r.charged(t, c)
	found, err := r.Find(t.Context(), c.Attempt)
	require.NoError(t, err)
	require.Equal(t, first.ProviderPaymentID, found.ProviderPaymentID)
	require.Eventually(t, func() bool {
		o, err := r.Lookup(t.Context(), first.ProviderPaymentID)
		return err == nil && o.Event == fsm.EventSucceeded && *o.Money == euro(1999)
	}, 2*time.Minute, 5*time.Millisecond)

	_, err = r.Lookup(t.Context(), "ch_nobody")
	require.ErrorIs(t, err, gateway.ErrNoSuchPayment)
	_, err = r.Find(t.Context(), payment.AttemptID(uuid.New()))
	require.ErrorIs(t, err, gateway.ErrNoSuchPayment)
}

// A provider's id is part of an address, and must not lead to another address.
func TestLookupEscapesTheID(t *testing.T) {
	t.Parallel()
	paths := make(chan string, 1)
	r := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		paths <- r.RequestURI
		w.WriteHeader(http.StatusNotFound)
	}))
	_, err := r.Lookup(t.Context(), "../ledger?x=1")
	require.Error(t, err)
	require.Equal(t, "/v1/charges/..%2Fledger%3Fx=1", <-paths)
}
