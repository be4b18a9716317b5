package engine_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/engine/runner"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/stripe"
	"github.com/paylatch/paylatch/internal/provider/tbank"
	"github.com/paylatch/paylatch/webhooks"
	stripehooks "github.com/paylatch/paylatch/webhooks/stripe"
)

// The handling of a second payment: whose payments count, and who may still pay.
func TestPayments_whoseTheyAre(t *testing.T) {
	t.Parallel()
	t.Run("PaidToUs", paymentsPaidToUs)
	t.Run("TestMoneyIsNoMoney", paymentsTestMoney)
	t.Run("FormBeingFilledIn", paymentsFormBeingFilledIn)
	t.Run("FormBeingFilledIn, after a declined card", paymentsDeclineInTheForm)
	t.Run("two intents of one attempt", paymentsTwoIntents)
	t.Run("GivenBackIsNotPaid", paymentsGivenBack)
	t.Run("a second hold is released", paymentsSecondHold)
	t.Run("a second hold is reviewed", paymentsSecondHoldReviewed)
	t.Run("what a commit wants is carried out after it", paymentsWantedAtOnce)
}

// counted is the handling of a report by an account of real money that the provider calls acct_us.
type counted struct {
	name  string
	payee string
	live  *bool
	mode  webhooks.Mode
	about string
}

func paymentsPaidToUs(t *testing.T) {
	t.Parallel()
	paymentsCount(t, []counted{
		{name: "us", payee: "acct_us"},
		{name: "us by another id", payee: "acct_us_too"},
		{name: "nobody is named"},
		{name: "somebody else", payee: "acct_other", about: payment.AboutOtherPayee},
	})
}

func paymentsTestMoney(t *testing.T) {
	t.Parallel()
	paymentsCount(t, []counted{
		{name: "real money", live: new(true), mode: webhooks.ModeLive},
		{name: "test money", live: new(false), mode: webhooks.ModeTest, about: payment.AboutOtherMode},
	})
}

// paymentsCount reports each payment by a webhook, a lookup and the books. A foreign payment moves nothing and opens a
// discrepancy.
func paymentsCount(t *testing.T, all []counted) {
	t.Helper()
	p := newTill(nil)
	r := newEnv(t, setup{silent: true, provider: p.on, change: func(o *options) {
		o.Accounts["sandbox"] = gateway.Account{Provider: o.Accounts["sandbox"].Provider, Live: new(true), Payees: []string{"acct_us", "acct_us_too"}}
	}})
	channels := map[string]func(c counted, id payment.AttemptID, name string){
		"a webhook": func(c counted, id payment.AttemptID, name string) {
			e := under(webhooks.KindSucceeded, id, name)
			e.Payee, e.Mode = c.payee, c.mode
			r.tell(t, e)
		},
		"a lookup": func(c counted, id payment.AttemptID, name string) {
			out := ofEuros(fsm.EventSucceeded, price)
			out.Payee, out.Live = c.payee, c.live
			p.stand(name, out)
			_, err := r.report(t, commands.Report{AttemptID: id, ProviderPaymentID: name})
			require.NoError(t, err)
			r.recheck(t, id)
		},
		"the books": func(c counted, id payment.AttemptID, name string) {
			entry := gateway.Entry{
				ID: "entry of " + name, Payment: name, References: []string{id.String()}, Payee: c.payee, Live: c.live,
				Movement: payment.MovementReport{Kind: payment.MovementCapture, Money: payment.Money{Minor: price, Currency: "EUR"}},
			}
			_, err := r.Apply(t.Context(), id, []payment.Report{entry.Report(payment.Cause{Kind: payment.CauseCheck, ID: "books " + entry.ID})})
			require.NoError(t, err)
		},
	}
	for channel, report := range channels {
		for _, c := range all {
			what := channel + ": " + c.name
			order := payment.OrderID(what)
			id := r.begun(t, order, price, payment.CaptureAutomatic)
			report(c, id, "pi of "+what)
			a := r.attempt(t, id)
			if c.about == "" {
				require.True(t, a.Succeeded(), what)
				require.Empty(t, r.about(t, id), what)
				continue
			}
			require.False(t, a.State.Final(), what)
			require.Empty(t, a.Movements, what)
			require.NotContains(t, r.orderSays(t, order), "order.paid", what)
			require.Equal(t, []string{"needs_review " + c.about + " pi of " + what}, r.about(t, id), what)
		}
	}
}

// intents is a Stripe that has pi_1 and pi_2, both of one status.
type intents struct {
	status  atomic.Value
	cancels atomic.Int32
}

func (s *intents) on(t *testing.T, status string) func(gateway.Provider) gateway.Provider {
	t.Helper()
	s.status.Store(status)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		answer := func(id string) {
			received := 0
			if s.status.Load() == "succeeded" {
				received = price
			}
			_, _ = fmt.Fprintf(w, `{"object":"payment_intent","id":%q,"status":%q,"amount":%d,"amount_received":%d,"currency":"eur","metadata":{}}`, id, s.status.Load(), price, received)
		}
		switch q.Method + " " + q.URL.Path {
		case "POST /v1/payment_intents/pi_1/cancel":
			s.cancels.Add(1)
			s.status.Store("canceled")
			answer("pi_1")
		case "GET /v1/payment_intents/pi_1":
			answer("pi_1")
		case "GET /v1/payment_intents/pi_2":
			answer("pi_2")
		case "GET /v1/payment_intents/search":
			_, _ = io.WriteString(w, `{"object":"search_result","has_more":false,"data":[]}`)
		default:
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, `{"error":{"type":"invalid_request_error","code":"resource_missing","message":"x"}}`)
		}
	}))
	t.Cleanup(srv.Close)
	return func(gateway.Provider) gateway.Provider { return stripe.New(srv.URL, "sk", srv.Client()) }
}

// The merchant's backend makes a PaymentIntent and reports its id, while the customer fills in the form.
func paymentsFormBeingFilledIn(t *testing.T) {
	t.Parallel()
	s := &intents{}
	r := newEnv(t, setup{silent: true, provider: s.on(t, "requires_payment_method")})
	id := r.register(t, commands.External{ExpiresIn: 30 * time.Minute}).ID
	reply, err := r.report(t, commands.Report{AttemptID: id, ProviderPaymentID: "pi_1"})
	require.NoError(t, err)
	require.Equal(t, "awaiting_customer", reply.Stage())
	r.everyOperation(t, id)
	r.everyOperation(t, id)
	require.Zero(t, s.cancels.Load(), "the customer is filling in the form")
	require.Equal(t, fsm.AwaitingCustomer, r.attempt(t, id).State)
	r.lateNow(t, id)
	r.recheck(t, id)
	r.lateNow(t, id)
	r.recheck(t, id)
	require.True(t, r.attempt(t, id).Failed(), "its time is over")
	require.EqualValues(t, 1, s.cancels.Load())
	require.Empty(t, r.about(t, id))
}

// intent is a signed event of Stripe about a PaymentIntent.
func (r *env) intent(t *testing.T, id payment.AttemptID, event, kind, intent string) {
	t.Helper()
	v, err := stripehooks.New(webhooks.Config{Secrets: []string{"a-secret"}})
	require.NoError(t, err)
	stands := `"status":"requires_payment_method","last_payment_error":{"type":"card_error","code":"card_declined"}`
	if kind == "payment_intent.succeeded" {
		stands = `"status":"succeeded","amount_received":1999,"latest_charge":"ch_` + intent + `"`
	}
	d := webhooks.Delivery{Body: fmt.Appendf(nil, `{"id":%q,"type":%q,"created":%d,"livemode":false,"data":{"object":{"id":%q,"object":"payment_intent",
		"amount":1999,"currency":"eur","metadata":{"payment_attempt_id":%q},%s}}}`, event, kind, time.Now().Unix(), intent, id, stands), ReceivedAt: time.Now()}
	require.NoError(t, v.Sign(&d))
	r.notify(t, v, d)
}

// The form shows the decline, and takes another card.
func paymentsDeclineInTheForm(t *testing.T) {
	t.Parallel()
	s := &intents{}
	r := newEnv(t, setup{silent: true, provider: s.on(t, "requires_payment_method")})
	id := r.register(t, commands.External{ExpiresIn: 30 * time.Minute}).ID
	r.intent(t, id, "evt_1", "payment_intent.payment_failed", "pi_1")
	r.everyOperation(t, id)
	r.everyOperation(t, id)
	require.Zero(t, s.cancels.Load())
	require.Equal(t, fsm.AwaitingCustomer, r.attempt(t, id).State)
	s.status.Store("succeeded")
	r.intent(t, id, "evt_2", "payment_intent.succeeded", "pi_1")
	require.True(t, r.attempt(t, id).Succeeded())
	require.Empty(t, r.about(t, id))
}

// Two PaymentIntents of one registered attempt are both paid.
func paymentsTwoIntents(t *testing.T) {
	t.Parallel()
	s := &intents{}
	r := newEnv(t, setup{silent: true, provider: s.on(t, "succeeded")})
	id := r.register(t, commands.External{}).ID
	r.intent(t, id, "evt_1", "payment_intent.succeeded", "pi_1")
	r.intent(t, id, "evt_2", "payment_intent.succeeded", "pi_2")
	require.EqualValues(t, 2*price, r.attempt(t, id).Captured)
	require.Equal(t, []string{"needs_review second_payment pi_2"}, r.about(t, id))
}

// T-Bank refunds by the same call that cancels. The customer pays between our lookup and our cancel, and the money is
// refunded. The order is not reported as paid, unless the bank's own notice of the payment arrives before the response
// to the cancel.
func paymentsGivenBack(t *testing.T) {
	t.Parallel()
	for _, when := range []string{"never", "before the response", "after the response", "never, and the response is lost", "never, the response is lost, and the refund is slow"} {
		t.Run("the notice comes "+when, func(t *testing.T) {
			t.Parallel()
			var r *env
			var id payment.AttemptID
			notice := func(at string) {
				if at == when {
					e := under(webhooks.KindSucceeded, id, "700")
					e.Money = &webhooks.Money{Minor: price, Currency: "EUR"}
					r.tell(t, e)
				}
			}
			status := atomic.Pointer[string]{}
			status.Store(new("NEW"))
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
				answer := `"Status":"` + *status.Load() + `"`
				switch q.URL.Path {
				case "/v2/Init":
					answer += `,"PaymentURL":"https://pay.example/700"`
				case "/v2/Cancel":
					notice("before the response")
					status.Store(new("REFUNDED"))
					if strings.HasSuffix(when, "slow") {
						status.Store(new("ASYNC_REFUNDING"))
					}
					if strings.Contains(when, "lost") {
						panic(http.ErrAbortHandler)
					}
					answer = `"Status":"REFUNDED","OriginalAmount":1999,"NewAmount":0`
				}
				_, _ = fmt.Fprintf(w, `{"Success":true,"ErrorCode":"0","TerminalKey":"term","PaymentId":"700","OrderId":%q,"Amount":1999,%s}`, id, answer)
			}))
			t.Cleanup(srv.Close)
			bank, err := tbank.New(srv.URL, "term", "password", "EUR", srv.Client())
			require.NoError(t, err)
			r = newEnv(t, setup{silent: true, provider: func(gateway.Provider) gateway.Provider { return bank }})
			id = r.paid(t, "A-1", "redirect").ID
			require.Equal(t, "700", r.attempt(t, id).ProviderPaymentID)
			_, err = r.Cancel(t.Context(), shop, request("cancel", "cancel-key", ""), id)
			require.NoError(t, err)
			notice("after the response")
			for range 3 {
				r.exec(t, "UPDATE operations SET next_at = now() - interval '1 s' WHERE open")
				r.everyOperation(t, id)
			}
			a := r.attempt(t, id)
			t.Logf("%s, captured %d, refunded %d, %v, %v", a.State, a.Captured, a.Refunded, r.orderSays(t, "A-1"), r.about(t, id))
			require.Zero(t, a.Held())
			require.Contains(t, r.discrepancies(t, id), "payment_reversed", "a person is told")
			require.Empty(t, r.verify(t))
			if when == "before the response" {
				return // it was paid, and is reversed
			}
			require.NotContains(t, r.orderSays(t, "A-1"), "order.paid")
			require.NotEqual(t, payment.OrderPaid, r.orderOf(t, "A-1").Status())
			require.True(t, a.Failed(), "the customer may pay again")
		})
	}
}

// A hold beside the payment that pays is released by us: it takes no money, and would keep the customer's.
func paymentsSecondHold(t *testing.T) {
	t.Parallel()
	p := newTill(map[string]gateway.Outcome{"pi_a": ofEuros(fsm.EventSucceeded, price), "pi_b": ofEuros(fsm.EventAuthorized, price)})
	r := newEnv(t, setup{silent: true, provider: p.on})
	id := r.register(t, commands.External{}).ID
	r.tell(t, under(webhooks.KindSucceeded, id, "pi_a"), under(webhooks.KindAuthorized, id, "pi_b"))
	require.Equal(t, []string{"pi_b"}, r.wantedCancels(t, id))
	r.tell(t, under(webhooks.KindAuthorized, id, "pi_b"))
	require.Equal(t, []string{"pi_b"}, r.wantedCancels(t, id), "once")
	r.everyOperation(t, id)
	calls := p.asked()
	require.Equal(t, "cancel pi_b", calls[len(calls)-1])
	require.NotContains(t, calls, "cancel pi_a")
	require.Equal(t, map[string]fsm.PaymentState{"pi_a": fsm.PaymentCaptured, "pi_b": fsm.PaymentFailed}, r.stands(t, id))
	a := r.attempt(t, id)
	require.True(t, a.Succeeded())
	require.EqualValues(t, price, a.Held())
	require.Zero(t, a.Authorized)
	require.Empty(t, rows[string](t, r, "SELECT kind FROM operations WHERE open"))
	require.Empty(t, r.about(t, id))
}

// A person decides if the account is configured so.
func paymentsSecondHoldReviewed(t *testing.T) {
	t.Parallel()
	p := newTill(map[string]gateway.Outcome{"pi_a": ofEuros(fsm.EventSucceeded, price), "pi_b": ofEuros(fsm.EventAuthorized, price)})
	r := newEnv(t, setup{silent: true, provider: p.on, change: func(o *options) {
		o.Accounts["sandbox"] = gateway.Account{Provider: o.Accounts["sandbox"].Provider, SecondHold: gateway.SecondHoldReviewed}
	}})
	id := r.register(t, commands.External{}).ID
	r.tell(t, under(webhooks.KindSucceeded, id, "pi_a"), under(webhooks.KindAuthorized, id, "pi_b"))
	r.everyOperation(t, id)
	require.Empty(t, r.wantedCancels(t, id))
	require.NotContains(t, p.asked(), "cancel pi_b")
	require.Equal(t, []string{"needs_review second_payment pi_b"}, r.about(t, id))
}

// The cancel of a second hold is handed over right after the commit that wanted it, and carried out without the reconciler.
func paymentsWantedAtOnce(t *testing.T) {
	t.Parallel()
	cancelled := make(chan string, 1)
	p := newTill(map[string]gateway.Outcome{"pi_a": ofEuros(fsm.EventSucceeded, price), "pi_b": ofEuros(fsm.EventAuthorized, price)})
	p.done = func(call string) { cancelled <- call }
	var r *env
	prompt := runner.NewPrompt(func(ctx context.Context, name payment.OperationName, cause payment.Cause) (payment.Attempt, error) {
		return r.Execute(ctx, name, cause)
	})
	var handed []payment.OperationName
	r = newEnv(t, setup{silent: true, provider: p.on, change: func(o *options) {
		o.Wanted = func(names []payment.OperationName) {
			handed = append(handed, names...)
			prompt.Wanted(names)
		}
	}})
	id := r.register(t, commands.External{}).ID
	r.tell(t, under(webhooks.KindSucceeded, id, "pi_a"))
	handed = nil
	r.tell(t, under(webhooks.KindAuthorized, id, "pi_b"))
	require.Equal(t, []payment.OperationName{{AttemptID: id, Kind: payment.OperationCancel, Number: 0}}, handed)
	select {
	case call := <-cancelled:
		require.Equal(t, "cancel pi_b", call)
	case <-time.After(waitFor):
		t.Fatal("the cancel waits for the reconciler")
	}
	prompt.Close()
	require.Equal(t, fsm.PaymentFailed, r.stands(t, id)["pi_b"])
	handed = nil
	r.tell(t, under(webhooks.KindAuthorized, id, "pi_b"))
	require.Empty(t, handed, "nothing is new")
	require.Empty(t, r.verify(t))
}

// lockedAttempt is an attempt with its operations.
func (r *env) lockedAttempt(t *testing.T, id payment.AttemptID) (a payment.Attempt) {
	t.Helper()
	err := r.store.InCommandTx(t.Context(), func(ctx context.Context, tx commands.Tx) (err error) {
		a, _, err = tx.AttemptLock(ctx, id)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return a
}
