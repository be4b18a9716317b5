package razorpay_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/providertest"
	"github.com/paylatch/paylatch/internal/provider/razorpay"
	"github.com/paylatch/paylatch/webhooks"
	hooks "github.com/paylatch/paylatch/webhooks/razorpay"
)

func TestCarries(t *testing.T) {
	t.Parallel()
	providertest.Carries(t, suite(), razorpay.Adapter(), func(c *gateway.Charge) {
		c.Token, c.Money = "redirect", rupees(199900)
	}, func(c *gateway.Charge) {
		c.Token, c.Money = "upi_intent", rupees(199900)
	})
}

func TestTheScriptPaysAnOrder(t *testing.T) {
	t.Parallel()
	c, got := serve(t, newFake(t))
	ch := charge("checkout")
	ch.MethodType, ch.Customer = "upi", gateway.Customer{Name: "Jane Doe", Email: "jane@shop.example", Phone: "+919999999999"}
	ch.ProviderData = map[string]json.RawMessage{"description": json.RawMessage(`"A ticket"`), "amount": json.RawMessage(`1`)}
	o := charged(t, c, ch)
	require.Equal(t, fsm.EventActionRequired, o.Event)
	require.Regexp(t, "^order_", o.Container)
	require.Empty(t, o.ProviderPaymentID)
	sent := <-got
	require.Equal(t, "POST /v1/orders", sent.line)
	notes := `{"payment_attempt_id":"` + ch.Attempt.String() + `","order_id":"A-1"}`
	require.JSONEq(t, `{"amount":199900,"currency":"INR","receipt":"`+ch.Attempt.String()+`","notes":`+notes+`,"payment":{"capture":"automatic",
		"capture_options":{"automatic_expiry_period":12,"manual_expiry_period":12,"refund_speed":"normal"}}}`, sent.body)
	require.Equal(t, payment.ActionSDK, o.NextAction.Type)
	require.JSONEq(t, `{"key":"`+keyID+`","order_id":"`+o.Container+`","amount":199900,"currency":"INR","description":"A ticket","notes":`+notes+`,
		"prefill":{"name":"Jane Doe","email":"jane@shop.example","contact":"+919999999999","method":"upi"}}`, string(o.NextAction.Data))
	require.NotContains(t, string(o.NextAction.Data), secret)
	require.Equal(t, o, charged(t, c, ch), "the receipt is the attempt's: there is one order")

	found, err := c.Find(t.Context(), ch.Attempt)
	require.NoError(t, err)
	require.Equal(t, gateway.Outcome{Event: fsm.EventActionRequired, Container: o.Container, References: []string{o.Container}}, found)
	plain := charged(t, c, charge("checkout"))
	require.NotContains(t, string(plain.NextAction.Data), "prefill")
}

func TestAnOrderIsNotMadeForAManualCapture(t *testing.T) {
	t.Parallel()
	c, got := serve(t, newFake(t))
	ch := charge("checkout")
	ch.Capture = payment.CaptureManual
	_, err := c.Charge(t.Context(), ch)
	require.ErrorIs(t, err, gateway.ErrUnsupportedRequest)
	require.Empty(t, got)
}

func TestHowAnOrderStands(t *testing.T) {
	t.Parallel()
	money := rupees(199900)
	for name, test := range map[string]struct {
		order, payments string
		want            gateway.Outcome
	}{
		"nobody tried": {`"status":"created","attempts":0`, `null`, gateway.Outcome{Event: fsm.EventActionRequired}},
		"one failed": {
			`"status":"attempted","attempts":1`, `[{"id":"pay_1","entity":"payment","status":"failed","error_reason":"insufficient_funds"}]`,
			gateway.Outcome{
				Event: fsm.EventSoftFailed, PageOpen: true, ProviderPaymentID: "pay_1",
				Failure: payment.NewFailure("insufficient_funds", "insufficient_funds"),
			},
		},
		"one is under way": {
			`"status":"attempted","attempts":2`, `[{"id":"pay_2","entity":"payment","status":"created","created_at":2},{"id":"pay_1","entity":"payment","status":"failed","created_at":1}]`,
			gateway.Outcome{Event: fsm.EventActionRequired},
		},
		"authorised": {
			`"status":"attempted","attempts":2`,
			`[{"id":"pay_2","entity":"payment","status":"failed","created_at":2},{"id":"pay_1","entity":"payment","status":"authorized","amount":199900,"currency":"INR","created_at":1}]`,
			gateway.Outcome{Event: fsm.EventAuthorized, Money: &money, ProviderPaymentID: "pay_1"},
		},
		"captured": {
			`"status":"paid","attempts":2`,
			`[{"id":"pay_1","entity":"payment","status":"authorized","amount":1,"currency":"INR"},{"id":"pay_2","entity":"payment","status":"captured","amount":199900,"currency":"INR"}]`,
			gateway.Outcome{Event: fsm.EventSucceeded, Money: &money, ProviderPaymentID: "pay_2"},
		},
		"paid back": {
			`"status":"paid","attempts":1`, `[{"id":"pay_1","entity":"payment","status":"refunded","captured":true,"amount":199900,"currency":"INR"}]`,
			gateway.Outcome{Event: fsm.EventSucceeded, Money: &money, ProviderPaymentID: "pay_1"},
		},
		"given back, never captured": {
			`"status":"attempted","attempts":1`, `[{"id":"pay_1","entity":"payment","status":"refunded","captured":false,"amount":199900,"currency":"INR"}]`,
			gateway.Outcome{Event: fsm.EventActionRequired},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/v1/orders/order_1/payments" {
					_, _ = w.Write([]byte(`{"entity":"collection","items":` + test.payments + `}`))
					return
				}
				_, _ = w.Write([]byte(`{"id":"order_1","entity":"order",` + test.order + `}`))
			}))
			test.want.Container, test.want.References = "order_1", []string{"order_1"}
			o, err := c.Lookup(t.Context(), "order_1")
			require.NoError(t, err)
			require.Equal(t, test.want, o)
		})
	}
	for _, body := range []string{`{"entity":"order","status":"created"}`, `{"id":"order_1","entity":"order"}`, `{"id":"order_1","status":"created"}`, `{"id":"order_1","entity":"order","status":"paid"}`} {
		_, err := says(t, http.StatusOK, body).Lookup(t.Context(), "order_1")
		require.Error(t, err, body)
		require.NotErrorIs(t, err, gateway.ErrNoSuchPayment)
	}
}

// Razorpay can't cancel an order. A held or paid order is not cancelled. An unpaid order is over when the customer can't
// be paying it any more.
func TestAnOrderIsAbandoned(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	c, got := serve(t, f)
	ch := charge("checkout")
	id := charged(t, c, ch).Container
	<-got
	cl := gateway.Cancel{Attempt: ch.Attempt, Container: id, IdempotencyKey: "k-cancel", Permit: permit(), Quiet: 15*time.Minute - 1}
	o, err := c.Cancel(t.Context(), cl)
	require.NoError(t, err)
	require.Equal(t, gateway.Outcome{Event: fsm.EventActionRequired, Container: id, References: []string{id}}, o)
	cl.Quiet++
	o, err = c.Cancel(t.Context(), cl)
	require.NoError(t, err)
	require.Equal(t, gateway.Outcome{Event: fsm.EventFailed, Container: id, References: []string{id}, Failure: payment.NewFailure("canceled", "")}, o)

	for status, news := range map[string]fsm.Event{"authorized": fsm.EventAuthorized, "captured": fsm.EventSucceeded} {
		own := f.agree(id, status)
		for _, name := range []string{"", own} {
			cl.ProviderPaymentID = name
			o, err = c.Cancel(t.Context(), cl)
			require.NoError(t, err)
			require.True(t, o.Refused)
			require.Equal(t, news, o.Event)
			require.Equal(t, own, o.ProviderPaymentID)
		}
		f.links[0].status = "attempted"
	}
	for len(got) > 0 {
		require.Regexp(t, "^GET ", (<-got).line, "nothing is sent but lookups")
	}
	cl.Permit = gateway.Permit{}
	_, err = c.Cancel(t.Context(), cl)
	require.ErrorIs(t, err, gateway.ErrPermitEnded)
}

func TestARefundOfAnOrder(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	c, _ := serve(t, f)
	id := charged(t, c, charge("checkout")).Container
	f.agree(id, "authorized")
	back := gateway.RefundCall{Refund: payment.RefundID(uuid.New()), ProviderPaymentID: id, Money: rupees(500), IdempotencyKey: uuid.NewString(), Permit: permit()}
	refused, err := c.Refund(t.Context(), back)
	require.NoError(t, err)
	require.Equal(t, gateway.RefusedRefund("created"), refused, "what is not captured is not refunded")
	f.links[0].status = "created"
	f.agree(id, "captured")
	made, err := c.Refund(t.Context(), back)
	require.NoError(t, err)
	require.Equal(t, fsm.EventSucceeded, made.Event)
	found, err := c.LookupRefund(t.Context(), gateway.RefundRef{Refund: back.Refund, ProviderPaymentID: id})
	require.NoError(t, err)
	require.Equal(t, made, found)
}

// Razorpay sends the order's notes in order.paid, and the script's notes in the events of the payment.
func TestWebhooksOfAnOrderFindTheAttempt(t *testing.T) {
	t.Parallel()
	c, _ := serve(t, newFake(t))
	ch := charge("checkout")
	o := charged(t, c, ch)
	var data struct {
		Notes json.RawMessage `json:"notes"`
	}
	require.NoError(t, json.Unmarshal(o.NextAction.Data, &data))
	v, err := hooks.New(webhooks.Config{Secrets: []string{secret}})
	require.NoError(t, err)
	paid := `{"entity":{"id":"pay_1","entity":"payment","order_id":"` + o.Container + `","status":"captured","amount":199900,"currency":"INR","notes":`
	for event, payload := range map[string]string{
		"payment.authorized": `{"payment":` + paid + string(data.Notes) + `}}}`,
		"payment.captured":   `{"payment":` + paid + string(data.Notes) + `}}}`,
		"order.paid": `{"payment":` + paid + `[]}},"order":{"entity":{"id":"` + o.Container + `","entity":"order","amount":199900,"amount_paid":199900,
			"currency":"INR","receipt":"` + ch.Attempt.String() + `","status":"paid","notes":` + string(data.Notes) + `}}}`,
	} {
		events := v.Read(webhooks.Delivery{Body: []byte(`{"entity":"event","event":"` + event + `","contains":["payment"],"created_at":1567674606,"payload":` + payload + `}`)})
		require.Equal(t, ch.Attempt.String(), events[0].References[0], event)
		require.Contains(t, events[0].References, o.Container, event)
		require.Equal(t, event != "order.paid", events[0].BrowserMark, "the script has the notes from the shop's page")
	}
}

func TestALinkHasItsCustomer(t *testing.T) {
	t.Parallel()
	c, got := serve(t, newFake(t))
	ch := charge("redirect")
	ch.Customer = gateway.Customer{Reference: "u-1", Name: "Jane Doe", Email: "jane@shop.example", Phone: "+919999999999", IP: "203.0.113.9"}
	ch.ProviderData = map[string]json.RawMessage{"description": json.RawMessage(`"A ticket"`)}
	charged(t, c, ch)
	var sent map[string]json.RawMessage
	require.NoError(t, json.Unmarshal([]byte((<-got).body), &sent))
	require.JSONEq(t, `{"name":"Jane Doe","email":"jane@shop.example","contact":"+919999999999"}`, string(sent["customer"]))
	require.JSONEq(t, `"A ticket"`, string(sent["description"]))
	require.JSONEq(t, `{"sms":false,"email":false}`, string(sent["notify"]), "the shop tells its customer")
}

func TestAccepts(t *testing.T) {
	t.Parallel()
	c := razorpay.New("", keyID, secret, http.DefaultClient)
	for name, test := range map[string]struct {
		change func(*gateway.Charge)
		fields []string
	}{
		"a page":           {func(*gateway.Charge) {}, nil},
		"the script":       {func(c *gateway.Charge) { c.Token = "checkout" }, nil},
		"a method":         {func(c *gateway.Charge) { c.Token = "upi" }, nil},
		"a method of none": {func(c *gateway.Charge) { c.Token = "paylater" }, []string{"payment_method.token"}},
		"a manual capture": {func(c *gateway.Charge) { c.Capture = payment.CaptureManual }, []string{"capture"}},
		"a description": {func(c *gateway.Charge) {
			c.ProviderData = map[string]json.RawMessage{"description": json.RawMessage(`"x"`)}
		}, nil},
		"one that is none": {func(c *gateway.Charge) {
			c.ProviderData = map[string]json.RawMessage{"description": json.RawMessage(`1`)}
		}, []string{"provider_data.description"}},
		"ours": {
			func(c *gateway.Charge) {
				c.ProviderData = map[string]json.RawMessage{"amount": nil, "currency": nil, "notes": nil, "receipt": nil, "reference_id": nil}
			},
			[]string{"provider_data.amount", "provider_data.currency", "provider_data.notes", "provider_data.receipt", "provider_data.reference_id"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ch := charge("redirect")
			test.change(&ch)
			err := c.Accepts(ch)
			if test.fields == nil {
				require.NoError(t, err)
				return
			}
			var wrong *payment.ValidationError
			require.ErrorAs(t, err, &wrong)
			var got []string
			for _, f := range wrong.Fields {
				got = append(got, f.Field)
			}
			require.Equal(t, test.fields, got)
		})
	}
}
