package comgate_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/comgate/comgatetest"
)

// A capture or cancel whose answer was lost is sent again and finds it done, so it is executed once.
func TestALostCommandIsCarriedOutOnce(t *testing.T) {
	t.Parallel()
	for method, want := range map[string]fsm.Event{"capturePreauth": fsm.EventSucceeded, "cancelPreauth": fsm.EventFailed} {
		f := comgatetest.New()
		c, _ := serve(t, f)
		lossy, _ := serve(t, losing(f, "/v1.0/"+method))
		id := held(t, c, f)
		run := func(client gateway.Provider) (gateway.Outcome, error) {
			if method == "capturePreauth" {
				return client.Capture(t.Context(), captureOf(id))
			}
			return client.Cancel(t.Context(), cancelOf(id))
		}
		_, err := run(lossy)
		require.Error(t, err)
		require.NotErrorIs(t, err, gateway.ErrNotSent)
		o, err := run(c)
		require.NoError(t, err)
		require.Equal(t, want, o.Event)
		require.False(t, o.Refused)
		require.Equal(t, 1, f.Count(method))
	}
}

// The payment's state selects the call that cancels it. A cancel never refunds a paid payment.
func TestCancelByState(t *testing.T) {
	t.Parallel()
	for status, want := range map[string]struct {
		path    string
		refused bool
	}{
		"PENDING": {"/v1.0/cancel", false}, "AUTHORIZED": {"/v1.0/cancelPreauth", false}, "PAID": {"", true}, "CANCELLED": {"", false}, "UNHEARD_OF": {"", true},
	} {
		f := comgatetest.New()
		c, got := serve(t, f)
		id := charged(t, c, charge("redirect")).ProviderPaymentID
		f.Set(id, status)
		<-got
		o, err := c.Cancel(t.Context(), cancelOf(id))
		require.NoError(t, err, status)
		require.Equal(t, want.refused, o.Refused, status)
		require.Equal(t, !want.refused, o.Event == fsm.EventFailed, status)
		var paths []string
		for len(got) > 0 {
			paths = append(paths, (<-got).path)
		}
		require.Equal(t, want.path != "", len(paths) == 3, "%s: %s", status, paths)
		require.Contains(t, strings.Join(paths, " "), want.path)
		require.Zero(t, f.Count("refund"))
	}
}

// A customer may pay while a cancel is under way. A paid payment refuses the cancel. For a hold the outcome is unknown,
// and the next cancel releases it.
func TestCancelThatIsOvertaken(t *testing.T) {
	t.Parallel()
	for status, open := range map[string]bool{"PAID": false, "AUTHORIZED": true} {
		f := comgatetest.New()
		var id string
		c, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/v1.0/cancel" {
				f.Set(id, status)
			}
			f.ServeHTTP(w, r)
		}))
		id = charged(t, c, charge("redirect")).ProviderPaymentID
		o, err := c.Cancel(t.Context(), cancelOf(id))
		if !open {
			require.NoError(t, err)
			require.True(t, o.Refused)
			require.Equal(t, fsm.EventSucceeded, o.Event)
			continue
		}
		require.Error(t, err)
		require.NotErrorIs(t, err, gateway.ErrNotSent)
		o, err = c.Cancel(t.Context(), cancelOf(id))
		require.NoError(t, err)
		require.Equal(t, fsm.EventFailed, o.Event)
	}
}

// A refund has our id and its own currency, because Comgate's default currency is CZK.
func TestRefund(t *testing.T) {
	t.Parallel()
	f := comgatetest.New()
	c, got := serve(t, f)
	id := charged(t, c, charge("redirect")).ProviderPaymentID
	f.Pay(id)
	<-got
	r := refundOf(id, 700)
	o, err := c.Refund(t.Context(), r)
	require.NoError(t, err)
	money := czk(700)
	require.Equal(t, gateway.RefundOutcome{Event: fsm.EventSucceeded, ProviderRefundID: r.Refund.String(), Reference: r.Refund.String(), Money: &money}, o)
	form := (<-got).form
	require.Equal(t, []string{"700", "CZK", r.Refund.String(), id}, []string{form.Get("amount"), form.Get("curr"), form.Get("refId"), form.Get("transId")})
	_, err = c.LookupRefund(t.Context(), gateway.RefundRef{ProviderRefundID: o.ProviderRefundID})
	require.ErrorIs(t, err, gateway.ErrUnsupported)
}

// If the answer is lost or is an internal error of Comgate, the outcome of the refund is unknown.
func TestRefundThatIsOpen(t *testing.T) {
	t.Parallel()
	f := comgatetest.New()
	c, _ := serve(t, losing(f, "/v1.0/refund"))
	id := charged(t, c, charge("redirect")).ProviderPaymentID
	f.Pay(id)
	_, err := c.Refund(t.Context(), refundOf(id, 700))
	require.Error(t, err)
	require.NotErrorIs(t, err, gateway.ErrNotSent)
	require.Equal(t, 1, f.Count("refund"))
	require.Zero(t, c.Capabilities().Resendable(), "a second refund would be another one")
	for answer, refused := range map[string]bool{"code=1401": true, "code=1402": true, "code=1400": true, "code=1100": false, "code=1200": false, "code=1500": false} {
		c, _ := serve(t, says(answer))
		o, err := c.Refund(t.Context(), refundOf(id, 700))
		require.Equal(t, refused, err == nil && o.Refused, answer)
		require.Equal(t, refused, err == nil, answer)
	}
}
