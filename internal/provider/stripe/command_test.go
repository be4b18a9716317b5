package stripe_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// Stripe repeats its own error as long as it stores the key.
func TestACancellationThatMetAnErrorOfStripesGetsThroughTheNextTime(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	var broken sync.Map
	var once sync.Once
	c, got := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key := r.Header.Get("Idempotency-Key")
		if strings.HasSuffix(r.URL.Path, "/cancel") {
			once.Do(func() { broken.Store(key, true) })
		}
		if _, kept := broken.Load(key); kept {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		f.ServeHTTP(w, r)
	}))
	ch := charge("pm_card_visa")
	ch.Capture = payment.CaptureManual
	held := charged(t, c, ch)
	<-got
	key := strings.ReplaceAll(uuid.NewString(), "-", "") + "-cancel-11"
	cancel := func() (gateway.Outcome, error) {
		return c.Cancel(t.Context(), gateway.Cancel{ProviderPaymentID: held.ProviderPaymentID, IdempotencyKey: key, Permit: permit()})
	}
	_, err := cancel()
	require.Error(t, err)
	o, err := cancel()
	if err != nil { // two keys may be equal by chance, once in 1,024 runs
		o, err = cancel()
	}
	require.NoError(t, err)
	require.Equal(t, fsm.EventFailed, o.Event)
	for range 2 {
		require.Len(t, (<-got).header.Get("Idempotency-Key"), 45)
	}
}
