package comgate_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/comgate"
	"github.com/paylatch/paylatch/internal/provider/comgate/comgatetest"
	"github.com/paylatch/paylatch/internal/provider/kit"
	"github.com/paylatch/paylatch/internal/provider/providertest"
	"github.com/paylatch/paylatch/webhooks"
	hooks "github.com/paylatch/paylatch/webhooks/comgate"
)

func TestCarries(t *testing.T) {
	t.Parallel()
	providertest.Carries(t, suite(), comgate.Adapter(),
		func(c *gateway.Charge) { c.Token, c.Save = "redirect", true },
		func(c *gateway.Charge) { c.Token, c.Stored, c.Unattended = comgatetest.Initial, true, true },
	)
}

func TestBeginsAPayment(t *testing.T) {
	t.Parallel()
	c, got := serve(t, comgatetest.New())
	ch := charge("redirect")
	ch.StatementDescriptor, ch.Capture = "Ještě delší než šestnáct znaků", payment.CaptureManual
	ch.Customer.Locale, ch.Customer.Billing = "en-GB", &gateway.Address{Country: "GR"}
	ch.ProviderData = map[string]json.RawMessage{"expirationTime": json.RawMessage(`"30m"`), "dynamicExpiration": json.RawMessage(`false`)}
	require.NoError(t, c.Accepts(ch))
	o := charged(t, c, ch)
	require.Equal(t, gateway.Outcome{
		Event: fsm.EventActionRequired, ProviderPaymentID: o.ProviderPaymentID, References: []string{ch.Attempt.String()},
		NextAction: payment.Redirect("https://payments.comgate.cz/client/instructions/index?id=" + o.ProviderPaymentID),
	}, o)
	form := (<-got).form
	for name, want := range map[string]string{
		"price": "1999", "curr": "CZK", "refId": ch.Attempt.String(), "label": "Ještě delší než ", "method": "ALL", "email": "a@shop.example", "lang": "en",
		"prepareOnly": "true", "preauth": "true", "country": "ALL", "expirationTime": "30m", "dynamicExpiration": "false", "test": "", "initRecurring": "",
		"url_paid": "https://shop.example/back", "url_cancelled": "https://shop.example/back", "url_pending": "https://shop.example/back",
	} {
		require.Equal(t, want, form.Get(name), name)
	}
}

// A payment that was marked for recurrence is charged again for its customer, without the customer's presence.
func TestRecurrence(t *testing.T) {
	t.Parallel()
	f := comgatetest.New()
	c, got := serve(t, f)
	first := charge("CARD_ALL")
	first.Save = true
	id := charged(t, c, first).ProviderPaymentID
	require.Equal(t, "true", (<-got).form.Get("initRecurring"))
	f.Pay(id)
	paid, err := c.Lookup(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, &payment.SavedMethod{Token: id, Type: "CARD_CZ_CSOB_2"}, paid.Saved)
	require.NoError(t, c.CheckOwner(t.Context(), paid.Saved.Token, comgatetest.Owner))
	require.ErrorIs(t, c.CheckOwner(t.Context(), paid.Saved.Token, "u-8"), payment.ErrMethodNotYours)
	require.ErrorIs(t, c.CheckOwner(t.Context(), paid.Saved.Token, ""), payment.ErrMethodNotYours)
	for len(got) > 0 {
		<-got
	}

	again := charge(paid.Saved.Token)
	again.Stored, again.Unattended = true, true
	require.NoError(t, c.Accepts(again))
	o := charged(t, c, again)
	require.Equal(t, fsm.EventSucceeded, o.Event)
	require.Nil(t, o.Saved)
	require.Equal(t, []string{again.Attempt.String()}, o.References)
	request := <-got
	require.Equal(t, "/v1.0/recurring", request.path)
	require.Equal(t, id, request.form.Get("initRecurringId"))
	require.Empty(t, request.form.Get("method"))
}

// A payment whose payerId was set by the shop's own call is not a stored method.
func TestOthersPayersAreNotStored(t *testing.T) {
	t.Parallel()
	got, err := answering(t, found+"&status=PAID&payerId="+comgatetest.Owner).Lookup(t.Context(), "AB12-EF34")
	require.NoError(t, err)
	require.Nil(t, got.Saved)
	shown, err := answering(t, found+"&status=PAID&payerId=recurring%3A"+comgatetest.Owner+"&method=CARD_ALL&cardNumber=411111******1234").Lookup(t.Context(), "AB12-EF34")
	require.NoError(t, err)
	require.Equal(t, &payment.SavedMethod{Token: "AB12-EF34", Type: "CARD_ALL", Display: "•••• 1234"}, shown.Saved)
}

// A recurring payment that is undecided or can't be looked up is under way. It has its id, and is not sent again.
func TestRecurrenceThatIsNotDecided(t *testing.T) {
	t.Parallel()
	f := comgatetest.New()
	f.Slow = true
	c, _ := serve(t, f)
	lost, _ := serve(t, losing(f, "/v1.0/status"))
	for _, client := range []*comgate.Client{c, lost} {
		o := charged(t, client, charge(comgatetest.Initial))
		require.Equal(t, fsm.EventProcessing, o.Event)
		require.NotEmpty(t, o.ProviderPaymentID)
		require.Nil(t, o.Money)
	}
	ch := charge(comgatetest.Initial)
	ch.Capture = payment.CaptureManual
	_, err := c.Charge(t.Context(), ch)
	require.ErrorIs(t, err, gateway.ErrUnsupportedRequest)
	require.Equal(t, 2, f.Count("recurring"))
}

// Comgate has neither keys nor a search. A charge whose answer was lost is sent once, its outcome is unknown, and its
// notification names it.
func TestALostChargeIsNamedByItsNotification(t *testing.T) {
	t.Parallel()
	f := comgatetest.New()
	c, _ := serve(t, losing(f, "/v1.0/create", "/v1.0/recurring"))
	for _, token := range []string{"redirect", comgatetest.Initial} {
		ch := charge(token)
		_, err := c.Charge(t.Context(), ch)
		require.Error(t, err)
		require.NotErrorIs(t, err, gateway.ErrNotSent)
		require.NotContains(t, err.Error(), comgatetest.Secret)
		can := c.Capabilities()
		require.Zero(t, can.Resendable(), "a second charge would be a second payment")
		require.Equal(t, []any{payment.LookupByID, payment.ResendByKey}, []any{can.Lookup, can.Resend})
		told := notification(t, f, ch.Attempt.String())
		require.Equal(t, ch.Attempt.String(), told.References[0])
		require.True(t, told.NeedsFetch)
		now, err := c.Lookup(t.Context(), told.ProviderPaymentID)
		require.NoError(t, err)
		require.Contains(t, now.References, ch.Attempt.String())
	}
	require.Equal(t, []int{1, 1}, []int{f.Count("create"), f.Count("recurring")})
}

// notification returns Comgate's notification of the payment with this refId after it was paid.
func notification(t *testing.T, f *comgatetest.Fake, ref string) webhooks.Event {
	t.Helper()
	v, err := hooks.New(webhooks.Config{Secrets: []string{comgatetest.Secret}})
	require.NoError(t, err)
	id := f.Named(ref)
	require.NotEmpty(t, id, "no payment has the refId")
	f.Pay(id)
	d := webhooks.Delivery{Method: http.MethodPost, Header: http.Header{}, Body: []byte("transId=" + id + "&status=PAID&price=1999&curr=CZK&refId=" + ref)}
	require.NoError(t, v.Sign(&d))
	events, err := v.Verify(t.Context(), d)
	require.NoError(t, err)
	require.Len(t, events, 1)
	return events[0]
}

// Comgate's internal errors leave the outcome unknown. Errors about the request refuse it.
func TestCodes(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"1102", "1103", "1107", "1301", "1308", "1309", "1316", "1317", "1318", "1319", "1400"} {
		c, _ := serve(t, says("code="+code+"&message=x"))
		o := charged(t, c, charge("redirect"))
		require.True(t, o.Refused, code)
		require.Equal(t, payment.NewFailure("provider_rejected", code), o.Failure)
	}
	for _, answer := range []string{"code=1100", "code=1104", "code=1200", "code=1399", "code=1500", "code=14", "code=2400", "code=0", "code=0&transId=A", "code=0&redirect=x"} {
		c, _ := serve(t, says(answer))
		_, err := c.Charge(t.Context(), charge("redirect"))
		require.Error(t, err, answer)
		require.NotErrorIs(t, err, gateway.ErrNotSent, answer)
	}
}

func says(answer string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(answer)) })
}

// Test payments and their refunds are marked, because Comgate has no other address for tests.
func TestTestPayments(t *testing.T) {
	t.Parallel()
	f := comgatetest.New()
	c, got := serve(t, f)
	c.Test = true
	id := charged(t, c, charge("redirect")).ProviderPaymentID
	charged(t, c, charge(comgatetest.Initial))
	f.Pay(id)
	_, err := c.Refund(t.Context(), refundOf(id, 1))
	require.NoError(t, err)
	for _, path := range []string{"/v1.0/create", "/v1.0/recurring", "/v1.0/status", "/v1.0/refund"} {
		request := <-got
		require.Equal(t, path, request.path)
		require.Equal(t, path != "/v1.0/status", request.form.Get("test") == "true", path)
	}
	for text, test := range map[string]bool{"": false, "false": false, "true": true} {
		p, err := comgate.Adapter().New(kit.Settings{Params: map[string]string{"test_payments": text}})
		require.NoError(t, err)
		made, ok := p.(*comgate.Client)
		require.True(t, ok)
		require.Equal(t, test, made.Test, text)
		require.Equal(t, test, comgate.Adapter().Tests(kit.Settings{Params: map[string]string{"test_payments": text}}))
	}
}

func TestAccepts(t *testing.T) {
	t.Parallel()
	data := func(name, value string) func(*gateway.Charge) {
		return func(c *gateway.Charge) { c.ProviderData = map[string]json.RawMessage{name: json.RawMessage(value)} }
	}
	c := comgate.New("", comgatetest.Merchant, comgatetest.Secret, nil)
	for name, tt := range map[string]struct {
		change func(*gateway.Charge)
		field  string
	}{
		"a currency of nobody's": {func(c *gateway.Charge) { c.Money.Currency = "RUB" }, "amount"},
		"a part of a forint":     {func(c *gateway.Charge) { c.Money = payment.Money{Minor: 10050, Currency: "HUF"} }, "amount"},
		"no e-mail address":      {func(c *gateway.Charge) { c.Customer.Email = "" }, "customer.email"},
		"a recurring payment on hold": {func(c *gateway.Charge) {
			c.Token, c.Stored, c.Capture = comgatetest.Initial, true, payment.CaptureManual
		}, "capture"},
		"what is stored already":        {func(c *gateway.Charge) { c.Token, c.Stored, c.Save = comgatetest.Initial, true, true }, "save_payment_method"},
		"stored for nobody":             {func(c *gateway.Charge) { c.Save, c.Customer.Reference = true, "" }, "customer.reference"},
		"another amount":                {data("price", `"1"`), "provider_data.price"},
		"a payment that takes nothing":  {data("verification", `true`), "provider_data.verification"},
		"an object in a form":           {data("name", `{"a":1}`), "provider_data.name"},
		"a hold that we don't know of":  {data("preauth", `true`), "provider_data.preauth"},
		"recurrence that nobody stores": {data("initRecurring", `true`), "provider_data.initRecurring"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ch := charge("redirect")
			tt.change(&ch)
			var invalid *payment.ValidationError
			require.ErrorAs(t, c.Accepts(ch), &invalid)
			require.Len(t, invalid.Fields, 1)
			require.Equal(t, tt.field, invalid.Fields[0].Field)
		})
	}
	ch := charge("redirect")
	ch.Money = payment.Money{Minor: 10000, Currency: "HUF"}
	ch.ProviderData = map[string]json.RawMessage{"account": json.RawMessage(`12`)}
	require.NoError(t, c.Accepts(ch))
	ch.Money.Minor++
	_, err := c.Charge(t.Context(), ch)
	require.ErrorIs(t, err, gateway.ErrUnsupportedRequest)
}
