package paddle_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/paddle"
	"github.com/paylatch/paylatch/internal/provider/providertest"
	"github.com/paylatch/paylatch/webhooks"
	hooks "github.com/paylatch/paylatch/webhooks/paddle"
)

func TestATransactionIsMadeOfAnItemInNoCatalogue(t *testing.T) {
	t.Parallel()
	c, got := serve(t, payments())
	c.TaxCategory = "saas"
	ch := charge("redirect")
	ch.ProviderData = map[string]json.RawMessage{"checkout": json.RawMessage(`{"url":"https://shop.example/other"}`), "custom_data": json.RawMessage(`{}`)}
	o := charged(t, c, ch)
	require.Equal(t, gateway.Outcome{
		Event: fsm.EventActionRequired, ProviderPaymentID: o.ProviderPaymentID, References: []string{ch.Attempt.String()},
		NextAction: payment.Redirect("https://shop.example/other?_ptxn=" + o.ProviderPaymentID),
	}, o)
	require.JSONEq(t, `{"items":[{"quantity":1,"price":{"description":"A-1","tax_mode":"internal","unit_price":{"amount":"1999","currency_code":"EUR"},
		"quantity":{"minimum":1,"maximum":1},"product":{"name":"Order A-1","tax_category":"saas"}}}],"currency_code":"EUR","collection_mode":"automatic",
		"custom_data":{"payment_attempt_id":"`+ch.Attempt.String()+`","order_id":"A-1","payment_method":"redirect"},"checkout":{"url":"https://shop.example/other"}}`, (<-got).body)
	require.Empty(t, got)
}

// Paddle.js on the shop's own page opens the transaction by its id. It also does so if the account has no page.
func TestTheScriptOpensTheTransaction(t *testing.T) {
	t.Parallel()
	f := payments()
	c, _ := serve(t, f)
	o := charged(t, c, charge("checkout"))
	want := &payment.NextAction{Type: payment.ActionSDK, Data: json.RawMessage(`{"transactionId":"` + o.ProviderPaymentID + `"}`)}
	require.Equal(t, want, o.NextAction)
	now, err := c.Lookup(t.Context(), o.ProviderPaymentID)
	require.NoError(t, err)
	require.Equal(t, o, now)
	o = charged(t, c, charge("redirect"))
	f.find(o.ProviderPaymentID).url = ""
	now, err = c.Lookup(t.Context(), o.ProviderPaymentID)
	require.NoError(t, err)
	require.Equal(t, payment.ActionSDK, now.NextAction.Type)
}

// Lines become items only if they add up to the amount.
func TestWhichLinesAreItems(t *testing.T) {
	t.Parallel()
	for want, amounts := range map[int][]int64{2: {1500, 499}, 1: {1999, 100}, 3: {1000, 500, 499}} {
		c, got := serve(t, payments())
		ch := charge("redirect")
		for _, minor := range amounts {
			ch.Lines = append(ch.Lines, gateway.Line{Description: "Ticket", Quantity: "1", UnitAmount: minor, Amount: minor})
		}
		charged(t, c, ch)
		var in created
		require.NoError(t, json.Unmarshal([]byte((<-got).body), &in))
		require.Len(t, in.Items, want)
	}
	c, got := serve(t, payments())
	ch := charge("redirect")
	ch.Lines = []gateway.Line{{Description: "Ticket", Amount: 2999}, {Description: "Voucher", Amount: -1000}}
	charged(t, c, ch)
	require.Contains(t, (<-got).body, `"Order A-1"`)
}

func TestWhatPaddleTakesNoChargeOf(t *testing.T) {
	t.Parallel()
	c, got := serve(t, payments())
	for member, change := range map[string]func(*gateway.Charge){
		"payment_method.token": func(c *gateway.Charge) { c.Token, c.Stored = "paymtd_01", true },
		"capture":              func(c *gateway.Charge) { c.Capture = payment.CaptureManual },
	} {
		ch := charge("redirect")
		change(&ch)
		require.ErrorContains(t, c.Accepts(ch), member)
		_, err := c.Charge(t.Context(), ch)
		require.ErrorIs(t, err, gateway.ErrUnsupportedRequest, member)
	}
	ch := charge("redirect")
	ch.Save = true
	require.ErrorContains(t, c.Accepts(ch), "save_payment_method")
	ch = charge("redirect")
	ch.ProviderData = map[string]json.RawMessage{"discount_id": json.RawMessage(`"dsc_01"`)}
	require.ErrorContains(t, c.Accepts(ch), "provider_data.discount_id")
	require.NoError(t, c.Accepts(charge("checkout")))
	require.Empty(t, got)
}

// A transaction whose answer was lost is found in the list. Nothing is sent again, and nothing can be paid twice,
// because the transaction's page was never passed on.
func TestALostAnswerIsFoundInTheList(t *testing.T) {
	t.Parallel()
	f := payments()
	for range 40 {
		f.transactions = append(f.transactions, &transaction{id: fmt.Sprintf("txn_old%023d", len(f.transactions)), status: "completed", currency: "EUR", custom: json.RawMessage(`null`), items: []int64{1}, at: time.Now()})
	}
	f.transactions[0].at = time.Now().Add(-time.Hour)
	lost, got := serve(t, losing(f, "POST /transactions"))
	ch := charge("redirect")
	_, err := lost.Charge(t.Context(), ch)
	require.Error(t, err)
	require.NotErrorIs(t, err, gateway.ErrNotSent)
	found, err := lost.Find(t.Context(), ch.Attempt)
	require.NoError(t, err)
	require.Equal(t, fsm.EventActionRequired, found.Event)
	require.NotNil(t, found.NextAction)
	require.Equal(t, []string{"POST /transactions", "GET /transactions", "GET /transactions"}, lines(got))
	require.Zero(t, lost.Capabilities().KeyLife, "a charge is never sent a second time")
}

// A subscription's renewals have the same mark, and the first payment decides.
func TestFindTakesTheFirstOfThoseThatWentFurthest(t *testing.T) {
	t.Parallel()
	f := payments()
	c, _ := serve(t, f)
	attempt := payment.AttemptID(uuid.Must(uuid.NewV7()))
	for i, status := range []string{"canceled", "draft", "completed", "completed", "ready"} {
		f.transactions = append(f.transactions, &transaction{
			id: fmt.Sprintf("txn_%d", i), status: status, currency: "EUR", custom: json.RawMessage(`{"payment_attempt_id":"` + attempt.String() + `"}`), items: []int64{1999}, at: time.Now(),
		})
	}
	found, err := c.Find(t.Context(), attempt)
	require.NoError(t, err)
	require.Equal(t, "txn_2", found.ProviderPaymentID)
}

// A list that is too long or unreadable proves nothing.
func TestAListThatIsNotReadToItsEndIsNoProof(t *testing.T) {
	t.Parallel()
	pages := 0
	endless, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		pages++
		_, _ = fmt.Fprintf(w, `{"data":[{"id":"txn_%d","status":"draft"}],"meta":{"pagination":{"has_more":true}}}`, pages)
	}))
	attempt := payment.AttemptID(uuid.New())
	_, err := endless.Find(t.Context(), attempt)
	require.ErrorIs(t, err, gateway.ErrInconclusive)
	require.NotErrorIs(t, err, gateway.ErrNoSuchPayment)
	require.Equal(t, 20, pages)
	for _, a := range []struct {
		status int
		body   string
	}{
		{200, `{"data":[]}`},
		{200, `{"meta":{}}`},
		{200, `{"data":[{"status":"draft"}],"meta":{}}`},
		{404, `{"error":{"type":"request_error","code":"not_found"}}`},
		{200, `{"data":[],"meta":{"pagination":{"has_more":true}}}`},
	} {
		_, err := answers(t, a.status, a.body).Find(t.Context(), attempt)
		require.Error(t, err, a.body)
		require.NotErrorIs(t, err, gateway.ErrNoSuchPayment, a.body)
	}
}

// A waiting or paid transaction counts, even if the list is too long. A failed transaction does not, because a later
// transaction of the same attempt might be paid.
func TestAListThatIsTooLongHidesNoPayment(t *testing.T) {
	t.Parallel()
	attempt := payment.AttemptID(uuid.New())
	for status, want := range map[string]fsm.Event{"draft": fsm.EventActionRequired, "completed": fsm.EventSucceeded, "canceled": "", "past_due": ""} {
		pages := 0
		c, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/adjustments" {
				_, _ = io.WriteString(w, `{"data":[],"meta":{"pagination":{"has_more":false}}}`)
				return
			}
			pages++
			mark := "another"
			if pages == 1 {
				mark = attempt.String()
			}
			_, _ = fmt.Fprintf(w, `{"data":[{"id":"txn_%d","status":%q,"currency_code":"EUR","custom_data":{"payment_attempt_id":%q},"details":{"totals":{"grand_total":"1999"}}}],`+
				`"meta":{"pagination":{"has_more":true}}}`, pages, status, mark)
		}))
		found, err := c.Find(t.Context(), attempt)
		if want == "" {
			require.ErrorIs(t, err, gateway.ErrInconclusive)
			continue
		}
		require.NoError(t, err, status)
		require.Equal(t, []any{want, "txn_1"}, []any{found.Event, found.ProviderPaymentID})
	}
}

func TestHowAPaymentStands(t *testing.T) {
	t.Parallel()
	for status, want := range map[string]gateway.Outcome{
		"draft":      {Event: fsm.EventActionRequired, NextAction: payment.Redirect("https://shop.example/pay?_ptxn=txn_1")},
		"ready":      {Event: fsm.EventActionRequired, NextAction: payment.Redirect("https://shop.example/pay?_ptxn=txn_1")},
		"billed":     {Event: fsm.EventProcessing},
		"marinating": {Event: fsm.EventProcessing},
		"paid":       {Event: fsm.EventSucceeded, Money: new(euro(1999))},
		"completed":  {Event: fsm.EventSucceeded, Money: new(euro(1999))},
		"canceled":   {Event: fsm.EventFailed, Failure: payment.NewFailure("canceled", "")},
		"past_due":   {Event: fsm.EventSoftFailed, Failure: payment.NewFailure("provider_rejected", "past_due")},
	} {
		f := payments()
		f.transactions = []*transaction{{id: "txn_1", status: status, currency: "EUR", url: "https://shop.example/pay?_ptxn=txn_1", custom: json.RawMessage(`{}`), items: []int64{1999}}}
		c, _ := serve(t, f)
		want.ProviderPaymentID = "txn_1"
		now, err := c.Lookup(t.Context(), "txn_1")
		require.NoError(t, err)
		require.Equal(t, want, now, status)
	}
}

// A webhook and a lookup give a payment the same names and the same money.
func TestLookupsAndWebhooksAgree(t *testing.T) {
	t.Parallel()
	f := payments()
	c, _ := serve(t, f)
	ch := charge("redirect")
	id := charged(t, c, ch).ProviderPaymentID
	f.pay(id)
	f.adjustments = []*adjustment{{id: "adj_1", action: "chargeback", status: "approved", transaction: id, currency: "EUR", total: 1299}}
	now, err := c.Lookup(t.Context(), id)
	require.NoError(t, err)
	event := func(kind string, entity object) webhooks.Event {
		raw, err := json.Marshal(object{"event_id": "evt_1", "event_type": kind, "occurred_at": "2026-01-02T10:00:00Z", "data": entity})
		require.NoError(t, err)
		return read(t, raw)
	}
	e := event("transaction.completed", f.find(id).render())
	require.Equal(t, webhooks.KindSucceeded, e.Kind)
	require.Equal(t, []string{now.ProviderPaymentID, ch.Attempt.String()}, []string{e.ProviderPaymentID, e.References[0]})
	require.Equal(t, &webhooks.Money{Minor: now.Money.Minor, Currency: string(now.Money.Currency)}, e.Money)
	e = event("adjustment.created", f.adjustments[0].render())
	require.Equal(t, webhooks.KindChargeback, e.Kind)
	require.Equal(t, []payment.MovementReport{{Kind: payment.MovementChargeback, ID: e.MovementID, Money: euro(e.Money.Minor)}}, now.Movements)
}

func cancel(t *testing.T, c *paddle.Client, id string) gateway.Outcome {
	t.Helper()
	o, err := c.Cancel(t.Context(), gateway.Cancel{ProviderPaymentID: id, Permit: permit()})
	require.NoError(t, err)
	return o
}

func TestWhatIsReadyIsCancelled(t *testing.T) {
	t.Parallel()
	f := payments()
	c, got := serve(t, f)
	ch := charge("redirect")
	ch.ProviderData = map[string]json.RawMessage{"customer_id": json.RawMessage(`"ctm_01"`)}
	id := charged(t, c, ch).ProviderPaymentID
	want := gateway.Outcome{Event: fsm.EventFailed, ProviderPaymentID: id, References: []string{ch.Attempt.String()}, Failure: payment.NewFailure("canceled", "")}
	lines(got)
	require.Equal(t, want, cancel(t, c, id))
	require.Equal(t, "canceled", f.find(id).status)
	require.Equal(t, want, cancel(t, c, id))
	require.Equal(t, []string{"GET /transactions/" + id, "PATCH /transactions/" + id, "GET /transactions/" + id}, lines(got))
}

// Paddle can't cancel a draft. The draft counts as cancelled, and a later payment is a late success.
func TestADraftIsGivenUp(t *testing.T) {
	t.Parallel()
	f := payments()
	c, got := serve(t, f)
	id := charged(t, c, charge("redirect")).ProviderPaymentID
	lines(got)
	require.Equal(t, fsm.EventFailed, cancel(t, c, id).Event)
	require.Equal(t, []string{"GET /transactions/" + id}, lines(got))
	f.pay(id)
	late, err := c.Lookup(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, fsm.EventSucceeded, late.Event)
}

// No command is sent for a paid payment.
func TestWhatIsPaidIsNotCancelled(t *testing.T) {
	t.Parallel()
	f := payments()
	c, got := serve(t, f)
	id := paidFor(t, c, f, 1999)
	lines(got)
	require.True(t, cancel(t, c, id).Refused)
	require.Equal(t, []string{"GET /transactions/" + id}, lines(got))
}

// If the customer pays between the lookup and the command, the cancel is refused and the payment counts.
func TestAPaymentThatIsPaidWhileItIsCancelledIsPaid(t *testing.T) {
	t.Parallel()
	f := payments()
	c, _ := serve(t, f)
	ch := charge("redirect")
	ch.ProviderData = map[string]json.RawMessage{"customer_id": json.RawMessage(`"ctm_01"`)}
	id := charged(t, c, ch).ProviderPaymentID
	f.before = func(line string, f *fakePayments) {
		if line == "PATCH /transactions/"+id {
			f.find(id).status = "paid"
		}
	}
	o := cancel(t, c, id)
	require.True(t, o.Refused)
	require.Equal(t, fsm.EventSucceeded, o.Event)
	require.Equal(t, euro(1999), *o.Money)
}

func TestAnAccountThatIsTurnedAwayRefusesOneCall(t *testing.T) {
	t.Parallel()
	for _, status := range []int{400, 401, 403, 404, 422} {
		c := answers(t, status, `{"error":{"type":"request_error","code":"forbidden","detail":"Jane Doe"}}`)
		require.Equal(t, gateway.Outcome{Event: fsm.EventFailed, Refused: true, Failure: payment.NewFailure("provider_rejected", "forbidden")}, charged(t, c, charge("redirect")))
	}
	_, err := answers(t, 409, `{"error":{"type":"request_error","code":"conflict","detail":"Jane Doe"}}`).Charge(t.Context(), charge("redirect"))
	require.ErrorContains(t, err, "conflict")
	require.NotContains(t, err.Error(), "Jane")
	_, err = answers(t, 400, `{"error":{"type":"api_error","code":"x"}}`).Charge(t.Context(), charge("redirect"))
	require.Error(t, err)
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestTheKeyChoosesTheAddress(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{"pdl_live_1": "https://api.paddle.com/transactions/txn_1", "pdl_sdbx_1": "https://sandbox-api.paddle.com/transactions/txn_1"} {
		var called string
		c := paddle.New("", key, &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			called = r.URL.String()
			return nil, io.ErrUnexpectedEOF
		})})
		_, err := c.Lookup(t.Context(), "txn_1")
		require.Error(t, err)
		require.Equal(t, want, called)
	}
}

// TestOnePayment: Paddle names a payment by its transaction, beginning with the answer to its creation.
func TestOnePayment(t *testing.T) {
	t.Parallel()
	f, ok := newPayments(t).(*fakePayments)
	require.True(t, ok)
	c, _ := serve(t, f)
	o, err := c.Charge(t.Context(), charge("checkout"))
	require.NoError(t, err)
	f.pay(o.ProviderPaymentID)
	v, err := hooks.New(webhooks.Config{Secrets: []string{"secret"}})
	require.NoError(t, err)
	body := `{"event_id":"evt_1","event_type":"transaction.paid","data":{"id":"` + o.ProviderPaymentID + `","currency_code":"EUR","details":{"totals":{"grand_total":"1999"}}}}`
	providertest.NamedAlike(t, providertest.Paid{Provider: c, Charged: o, Webhook: v.Read(webhooks.Delivery{Body: []byte(body)})[0]})
}

// A later charge of a subscription has the mark of its first transaction, and is not found by it.
func TestFind_passes_renewals_by(t *testing.T) {
	t.Parallel()
	attempt := payment.AttemptID(uuid.New())
	c, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, `{"data":[{"id":"txn_1","status":"completed","origin":"subscription_recurring","currency_code":"EUR","custom_data":{"payment_attempt_id":%q},`+
			`"details":{"totals":{"grand_total":"1999"}}}],"meta":{"pagination":{"has_more":false}}}`, attempt)
	}))
	_, err := c.Find(t.Context(), attempt)
	require.ErrorIs(t, err, gateway.ErrNoSuchPayment)
}
