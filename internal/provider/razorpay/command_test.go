package razorpay_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/razorpay"
)

// onPage returns a link that its customer has paid.
func onPage(t *testing.T, f *fake, c *razorpay.Client, ch gateway.Charge) gateway.Outcome {
	t.Helper()
	id := charged(t, c, ch).Container
	f.pay(id)
	o, err := c.Lookup(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, fsm.EventSucceeded, o.Event)
	return o
}

// A webhook that arrives first may give the attempt the id of the payment on the link.
func TestThePaymentsOwnIDWillDo(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	c, _ := serve(t, f)
	ch := charge("redirect")
	paid := onPage(t, f, c, ch)
	own := f.links[0].payment
	require.Equal(t, own, paid.ProviderPaymentID)
	require.Equal(t, []string{paid.Container, "order_" + paid.Container}, paid.References, "by which webhooks name it")
	o, err := c.Lookup(t.Context(), own)
	require.NoError(t, err)
	require.Equal(t, fsm.EventSucceeded, o.Event)
	require.Equal(t, rupees(199900), *o.Money)

	over, err := c.Cancel(t.Context(), gateway.Cancel{Attempt: ch.Attempt, ProviderPaymentID: own, Permit: permit()})
	require.NoError(t, err)
	require.True(t, over.Refused)
	require.Equal(t, fsm.EventSucceeded, over.Event)

	back := gateway.RefundCall{Refund: payment.RefundID(uuid.New()), ProviderPaymentID: own, Money: rupees(500), IdempotencyKey: uuid.NewString(), Permit: permit()}
	made, err := c.Refund(t.Context(), back)
	require.NoError(t, err)
	found, err := c.LookupRefund(t.Context(), gateway.RefundRef{Refund: back.Refund, Container: paid.Container})
	require.NoError(t, err)
	require.Equal(t, made, found)
	_, err = c.LookupRefund(t.Context(), gateway.RefundRef{ProviderRefundID: made.ProviderRefundID, ProviderPaymentID: "pay_another"})
	require.ErrorIs(t, err, gateway.ErrNoSuchPayment, "a refund of another payment")
}

func TestARefundNamesItself(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	c, got := serve(t, f)
	paid := onPage(t, f, c, charge("redirect"))
	back := gateway.RefundCall{
		Refund: payment.RefundID(uuid.New()), Attempt: payment.AttemptID(uuid.New()), ProviderPaymentID: paid.ProviderPaymentID,
		Money: rupees(500), Reason: "Damaged.", IdempotencyKey: uuid.NewString(), Permit: permit(),
	}
	_, err := c.Refund(t.Context(), back)
	require.NoError(t, err)
	for range 3 { // the lookups of the link before and after the payment, and of its refunds
		<-got
	}
	sent := <-got
	require.Equal(t, "POST /v1/payments/"+f.links[0].payment+"/refund", sent.line)
	require.Equal(t, back.IdempotencyKey, sent.header.Get("X-Refund-Idempotency"))
	require.JSONEq(t, fmt.Sprintf(`{"amount":500,"receipt":%q,"notes":{"refund_id":%q,"payment_attempt_id":%q}}`, back.Refund, back.Refund, back.Attempt), sent.body)

	back.Money = rupees(501)
	_, err = c.Refund(t.Context(), back)
	require.Error(t, err, "the key is another refund's: what became of that is to be looked up")
	require.NotErrorIs(t, err, gateway.ErrNotSent)
}

func TestARefundOfALinkThatIsNotPaid(t *testing.T) {
	t.Parallel()
	c, _ := serve(t, newFake(t))
	open := charged(t, c, charge("redirect"))
	o, err := c.Refund(t.Context(), gateway.RefundCall{Container: open.Container, Money: rupees(100), IdempotencyKey: uuid.NewString(), Permit: permit()})
	require.NoError(t, err)
	require.Equal(t, payment.NewFailure("provider_rejected", "created"), o.Failure)
	_, err = c.LookupRefund(t.Context(), gateway.RefundRef{Container: open.Container})
	require.ErrorIs(t, err, gateway.ErrNoSuchPayment)

	odd := says(t, http.StatusOK, `{"id":"plink_1","status":"paid","payments":null}`)
	_, err = odd.Refund(t.Context(), gateway.RefundCall{Container: "plink_1", Money: rupees(100), IdempotencyKey: uuid.NewString(), Permit: permit()})
	require.ErrorIs(t, err, gateway.ErrNotSent, "a paid link without a payment is not understood")
}

// The list ends with a page that is not full.
func TestARefundIsFoundOnALaterPage(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	c, _ := serve(t, f)
	paid := onPage(t, f, c, charge("redirect"))
	var first payment.RefundID
	for i := range 101 {
		back := gateway.RefundCall{
			Refund: payment.RefundID(uuid.New()), ProviderPaymentID: f.links[0].payment, Money: rupees(100),
			IdempotencyKey: uuid.NewString(), Permit: permit(),
		}
		_, err := c.Refund(t.Context(), back)
		require.NoError(t, err)
		if i == 0 {
			first = back.Refund
		}
	}
	found, err := c.LookupRefund(t.Context(), gateway.RefundRef{Refund: first, ProviderPaymentID: paid.ProviderPaymentID})
	require.NoError(t, err)
	require.Equal(t, fsm.EventSucceeded, found.Event)
	_, err = c.LookupRefund(t.Context(), gateway.RefundRef{Refund: payment.RefundID(uuid.New()), ProviderPaymentID: paid.ProviderPaymentID})
	require.ErrorIs(t, err, gateway.ErrNoSuchPayment)
}

// A lagging list shows an old state of the link.
func TestFindAsksTheLinkItself(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	ch := charge("redirect")
	c, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("reference_id") {
			write(w, http.StatusOK, object{"payment_links": []object{
				{"id": "plink_1", "status": "paid", "reference_id": "another"},
				{"id": f.links[0].id, "status": "created", "reference_id": ch.Attempt.String()},
			}})
			return
		}
		f.ServeHTTP(w, r)
	}))
	paid := onPage(t, f, c, ch)
	found, err := c.Find(t.Context(), ch.Attempt)
	require.NoError(t, err)
	require.Equal(t, paid, found)
	_, err = c.Find(t.Context(), payment.AttemptID(uuid.New()))
	require.ErrorIs(t, err, gateway.ErrNoSuchPayment, "another's link is no hit")
}

func TestRefundsThatAreNoListAreNoAnswer(t *testing.T) {
	t.Parallel()
	_, err := says(t, http.StatusOK, `{"entity":"collection"}`).LookupRefund(t.Context(), gateway.RefundRef{ProviderPaymentID: "pay_1"})
	require.Error(t, err)
	require.NotErrorIs(t, err, gateway.ErrNoSuchPayment)
}

// A rejected key is no evidence about an earlier call, which may have succeeded.
func TestAKeyThatIsTurnedAwayRefusesOneCall(t *testing.T) {
	t.Parallel()
	raw, err := json.Marshal(problem("Authentication failed", "NA", ""))
	require.NoError(t, err)
	r, err := says(t, http.StatusUnauthorized, string(raw)).Refund(t.Context(), gateway.RefundCall{ProviderPaymentID: "pay_1", Money: rupees(100), Permit: permit()})
	require.NoError(t, err)
	require.Equal(t, gateway.RefusedRefund("BAD_REQUEST_ERROR"), r)
}

func TestWithoutABaseAddressRazorpayIsCalled(t *testing.T) {
	t.Parallel()
	var called string
	c := razorpay.New("", keyID, secret, &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		called = r.URL.String()
		return nil, http.ErrHandlerTimeout
	})})
	_, err := c.Lookup(t.Context(), "plink_1")
	require.ErrorIs(t, err, http.ErrHandlerTimeout)
	require.Equal(t, "https://api.razorpay.com/v1/payment_links/plink_1", called)
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
