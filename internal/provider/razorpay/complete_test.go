package razorpay_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/razorpay"
)

// returned returns the script's result, signed with a secret.
func returned(order, paid, with string) json.RawMessage {
	mac := hmac.New(sha256.New, []byte(with))
	_, _ = mac.Write([]byte(order + "|" + paid))
	return json.RawMessage(`{"razorpay_order_id":"` + order + `","razorpay_payment_id":"` + paid + `","razorpay_signature":"` + hex.EncodeToString(mac.Sum(nil)) + `"}`)
}

// agreed returns an order that its customer has paid in the script.
func agreed(t *testing.T, f *fake, c *razorpay.Client, status string) (cp gateway.Completion, paid string) {
	t.Helper()
	ch := charge("checkout")
	id := charged(t, c, ch).Container
	paid = f.agree(id, status)
	return gateway.Completion{
		Attempt: ch.Attempt, Order: ch.Order, Container: id, Money: ch.Money, Capture: ch.Capture,
		Details: returned(id, paid, secret), IdempotencyKey: "k-complete", Permit: permit(),
	}, paid
}

func TestAnOrderIsCompleted(t *testing.T) {
	t.Parallel()
	for status, calls := range map[string][]string{
		"captured": {"GET /v1/payments/PAID"}, "authorized": {"GET /v1/payments/PAID", "POST /v1/payments/PAID/capture"},
	} {
		f := newFake(t)
		c, got := serve(t, f)
		cp, paid := agreed(t, f, c, status)
		<-got
		o, err := c.Complete(t.Context(), cp)
		require.NoError(t, err)
		money := rupees(199900)
		want := gateway.Outcome{Event: fsm.EventSucceeded, ProviderPaymentID: paid, Container: cp.Container, References: []string{cp.Container}, Money: &money}
		require.Equal(t, want, o)
		for _, call := range calls {
			sent := <-got
			require.Equal(t, strings.ReplaceAll(call, "PAID", paid), sent.line)
			if strings.HasPrefix(call, "POST") {
				require.JSONEq(t, `{"amount":199900,"currency":"INR"}`, sent.body)
			}
		}
		require.Empty(t, got)
		again, err := c.Complete(t.Context(), cp)
		require.NoError(t, err)
		require.Equal(t, want, again)
		<-got
		require.Empty(t, got, "it is captured once")
		now, err := c.Lookup(t.Context(), cp.Container)
		require.NoError(t, err)
		require.Equal(t, want, now)
	}
}

// A webhook that arrives first may give the attempt the id of the payment.
func TestACompletionOfAnOrderThatAWebhookNamed(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	c, _ := serve(t, f)
	cp, paid := agreed(t, f, c, "captured")
	cp.ProviderPaymentID, cp.Container = paid, ""
	o, err := c.Complete(t.Context(), cp)
	require.NoError(t, err)
	require.Equal(t, fsm.EventSucceeded, o.Event)
}

// The adapter sends nothing for a result that Razorpay did not sign, or signed for another order.
func TestWhatIsNotThisOrdersIsNotSent(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	c, got := serve(t, f)
	another, _ := agreed(t, f, c, "authorized")
	cp, paid := agreed(t, f, c, "authorized")
	<-got
	<-got
	id, signed := cp.Container, string(cp.Details)
	for name, details := range map[string]string{
		"another's": string(another.Details), "another secret": string(returned(id, paid, "x")), "no secret": string(returned(id, paid, "")),
		"another payment": strings.Replace(signed, paid, "pay_1", 1), "no payment": string(returned(id, "", secret)), "a path": string(returned(id, "pay_/../x", secret)[:10]),
		"no order": string(returned("", paid, secret)), "upside down": string(returned(paid, id, secret)), "no signature": `{"razorpay_order_id":"` + id + `","razorpay_payment_id":"` + paid + `"}`,
		"half of one": strings.Replace(signed, `"}`, ``, 1)[:len(signed)-10] + `"}`, "no object": `[]`, "nothing": ``, "null": `null`,
	} {
		cp.Details = json.RawMessage(details)
		_, err := c.Complete(t.Context(), cp)
		require.ErrorIs(t, err, gateway.ErrUnsupportedRequest, name)
	}
	require.Empty(t, got)

	link := charged(t, c, charge("redirect")).Container
	<-got
	cp.Details, cp.Container = json.RawMessage(signed), link
	_, err := c.Complete(t.Context(), cp)
	require.ErrorIs(t, err, gateway.ErrUnsupportedRequest, "a link has no second step")
	require.Empty(t, got)

	keyless := razorpay.New("http://127.0.0.1:1", keyID, "", http.DefaultClient)
	cp.Details, cp.Container = returned(id, paid, ""), id
	_, err = keyless.Complete(t.Context(), cp)
	require.ErrorIs(t, err, gateway.ErrUnsupportedRequest, "anybody can sign without a secret")
	for _, o := range f.links {
		require.NotEqual(t, "captured", o.paid)
	}
}

// The payment itself names its order.
func TestAPaymentOfAnotherOrderIsNotCaptured(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	c, _ := serve(t, f)
	_, other := agreed(t, f, c, "authorized")
	cp, _ := agreed(t, f, c, "authorized")
	cp.Details = returned(cp.Container, other, secret)
	_, err := c.Complete(t.Context(), cp)
	require.ErrorIs(t, err, gateway.ErrUnsupportedRequest)
}

func TestACompletionAsksItsPermit(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	c, got := serve(t, f)
	cp, _ := agreed(t, f, c, "authorized")
	<-got
	start, asked := time.Now(), 0
	for range 2 {
		asked--
		left := asked + 2
		cp.Permit = gateway.NewPermit(start, time.Minute, func() time.Time {
			if left--; left < 0 {
				return start.Add(time.Hour)
			}
			return start
		})
		_, err := c.Complete(t.Context(), cp)
		require.ErrorIs(t, err, gateway.ErrPermitEnded)
		require.ErrorIs(t, err, gateway.ErrNotSent)
	}
	for len(got) > 0 {
		require.Regexp(t, "^GET ", (<-got).line)
	}
	require.Equal(t, "authorized", f.links[0].paid)
}

// The outcome of a capture without an answer is unknown, and the same call again finds it done. A lookup without an
// answer sends nothing.
func TestACompletionWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(w http.ResponseWriter, heard *httptest.ResponseRecorder){
		"lost":    func(http.ResponseWriter, *httptest.ResponseRecorder) { panic(http.ErrAbortHandler) },
		"garbled": func(w http.ResponseWriter, heard *httptest.ResponseRecorder) { _, _ = w.Write(heard.Body.Bytes()[:20]) },
		"error":   func(w http.ResponseWriter, _ *httptest.ResponseRecorder) { w.WriteHeader(http.StatusBadGateway) },
	} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			t.Run(name+" "+method, func(t *testing.T) {
				t.Parallel()
				f, spoiled := newFake(t), false
				c, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if !strings.HasPrefix(r.URL.Path, "/v1/payments/") || r.Method != method || spoiled {
						f.ServeHTTP(w, r)
						return
					}
					spoiled = true
					heard := httptest.NewRecorder()
					f.ServeHTTP(heard, r)
					spoil(w, heard)
				}))
				cp, _ := agreed(t, f, c, "authorized")
				_, err := c.Complete(t.Context(), cp)
				require.Error(t, err)
				if method == http.MethodGet {
					require.ErrorIs(t, err, gateway.ErrNotSent)
				} else {
					require.NotErrorIs(t, err, gateway.ErrNotSent)
				}
				o, err := c.Complete(t.Context(), cp)
				require.NoError(t, err)
				require.Equal(t, fsm.EventSucceeded, o.Event)
			})
		}
	}
}

// After a refused capture, the payment's state decides.
func TestARefusedCapture(t *testing.T) {
	t.Parallel()
	for _, meanwhile := range []string{"", "captured"} {
		f := newFake(t)
		c, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/capture") {
				if meanwhile != "" {
					f.links[0].paid = meanwhile
				}
				w.WriteHeader(http.StatusBadRequest)
				_, _ = w.Write([]byte(`{"error":{"code":"BAD_REQUEST_ERROR","reason":"capture_failed","description":"This payment has already been captured"}}`))
				return
			}
			f.ServeHTTP(w, r)
		}))
		cp, paid := agreed(t, f, c, "authorized")
		o, err := c.Complete(t.Context(), cp)
		require.NoError(t, err)
		money := rupees(199900)
		if meanwhile == "captured" {
			require.Equal(t, gateway.Outcome{Event: fsm.EventSucceeded, ProviderPaymentID: paid, Container: cp.Container, References: []string{cp.Container}, Money: &money}, o)
			continue
		}
		require.Equal(t, gateway.Outcome{
			Event: fsm.EventAuthorized, Refused: true, ProviderPaymentID: paid, Container: cp.Container, References: []string{cp.Container}, Money: &money,
			Failure: payment.NewFailure("provider_rejected", "capture_failed"),
		}, o)
	}
}
