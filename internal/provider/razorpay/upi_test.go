package razorpay_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/razorpay"
)

func inApp() gateway.Charge {
	ch := charge("upi_intent")
	ch.Customer = gateway.Customer{Email: "jane@shop.example", Phone: "+919999999999", IP: "203.0.113.9"}
	ch.Browser = &gateway.Browser{UserAgent: "Mozilla/5.0"}
	return ch
}

func TestALinkToAUPIApp(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	c, got := serve(t, f)
	ch := inApp()
	o := charged(t, c, ch)
	link := "upi://pay?pa=shop@razorpay&tr=" + o.Container + "&am=1999&cu=INR"
	require.Equal(t, gateway.Outcome{
		Event: fsm.EventActionRequired, Container: o.Container, References: []string{o.Container},
		NextAction: &payment.NextAction{Type: payment.ActionDisplay, URL: link, Data: o.NextAction.Data},
	}, o)
	require.JSONEq(t, `{"type":"upi_intent","qr":"`+link+`"}`, string(o.NextAction.Data))
	require.Equal(t, "POST /v1/orders", (<-got).line)
	sent := <-got
	require.Equal(t, "POST /v1/payments/create/upi", sent.line)
	require.JSONEq(t, `{"amount":199900,"currency":"INR","order_id":"`+o.Container+`","email":"jane@shop.example","contact":"+919999999999","method":"upi",
		"ip":"203.0.113.9","user_agent":"Mozilla/5.0","description":"A-1","upi":{"flow":"intent"},
		"notes":{"payment_attempt_id":"`+ch.Attempt.String()+`","order_id":"A-1","upi_flow":"upi_intent"}}`, sent.body)

	look := func(id string) gateway.Outcome {
		t.Helper()
		now, err := c.Lookup(t.Context(), id)
		require.NoError(t, err)
		return now
	}
	require.Equal(t, fsm.EventActionRequired, look(o.Container).Event)
	require.Equal(t, gateway.TokenSingleUse, c.TokenKind("upi_intent"))
	payable, ends := c.Unseen(ch.Details)
	require.True(t, ends && payable == 0, "only the answer has the link")
	require.Equal(t, o, charged(t, c, ch), "the receipt is the attempt's: there is one order")
	require.Len(t, f.links, 1)
	f.agree(o.Container, "captured")
	require.Equal(t, fsm.EventSucceeded, look(o.Container).Event)
}

// After a failure in the app the customer can't try again, as in the script. So the payment is cancelled, and has failed
// once Razorpay can't authorize it late any more.
func TestAPaymentThatFailsInTheAppIsCancelled(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	c, _ := serve(t, f)
	o := charged(t, c, inApp())
	f.links[0].tries[0] = "failed"
	for _, id := range []string{o.Container, "pay_Try0"} {
		now, err := c.Lookup(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, fsm.EventSoftFailed, now.Event, id)
		require.False(t, now.PageOpen)
		require.Equal(t, payment.NewFailure("insufficient_funds", "insufficient_funds"), now.Failure)
	}
	for quiet, want := range map[time.Duration]fsm.Event{0: fsm.EventSoftFailed, 15 * time.Minute: fsm.EventFailed} {
		over, err := c.Cancel(t.Context(), gateway.Cancel{Container: o.Container, IdempotencyKey: "k", Permit: permit(), Quiet: quiet})
		require.NoError(t, err)
		require.Equal(t, want, over.Event)
	}

	f = newFake(t)
	c, _ = serve(t, f)
	o = charged(t, c, charge("checkout"))
	f.try(o.Container, "failed")
	now, err := c.Lookup(t.Context(), o.Container)
	require.NoError(t, err)
	require.Equal(t, fsm.EventSoftFailed, now.Event)
	require.True(t, now.PageOpen)
}

// Nobody gets a link that fails, whether the request arrived or not.
func TestAUPIPaymentWithoutItsLinkHasFailed(t *testing.T) {
	t.Parallel()
	for code, want := range map[int]*payment.Failure{
		http.StatusBadRequest: payment.NewFailure("provider_rejected", "input_validation_failed"), http.StatusBadGateway: payment.NewFailure("not_started", ""),
	} {
		f := newFake(t)
		c, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/v1/payments/create/upi" {
				f.ServeHTTP(w, r)
				return
			}
			f.ServeHTTP(httptest.NewRecorder(), r)
			write(w, code, problem("The flow is not enabled", "input_validation_failed", ""))
		}))
		o := charged(t, c, inApp())
		require.Equal(t, gateway.Outcome{Event: fsm.EventFailed, Container: f.links[0].id, References: []string{f.links[0].id}, Failure: want}, o)
	}
}

func TestAcceptsOfAUPIApp(t *testing.T) {
	t.Parallel()
	c := razorpay.New("", keyID, secret, http.DefaultClient)
	require.NoError(t, c.Accepts(inApp()))
	ch := inApp()
	ch.Customer, ch.Money.Currency = gateway.Customer{}, "USD"
	var wrong *payment.ValidationError
	require.ErrorAs(t, c.Accepts(ch), &wrong)
	var fields []string
	for _, f := range wrong.Fields {
		fields = append(fields, f.Field)
	}
	require.Equal(t, []string{"currency", "customer.email", "customer.phone"}, fields)
}
