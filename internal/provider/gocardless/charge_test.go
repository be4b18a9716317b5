package gocardless_test

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/dev/published"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/gocardless"
	"github.com/paylatch/paylatch/internal/provider/gocardless/gocardlesstest"
	"github.com/paylatch/paylatch/internal/provider/providertest"
)

func TestCarries(t *testing.T) {
	t.Parallel()
	s := suite()
	s.Aside = nil
	providertest.Carries(t, s, gocardless.Adapter(),
		func(c *gateway.Charge) { c.Token, c.Save = "redirect", true },
		func(c *gateway.Charge) { c.Token, c.Customer.Reference = "faster_payments", gocardlesstest.Owner },
		func(c *gateway.Charge) { c.Token, c.Stored, c.Unattended = gocardlesstest.Mandate, true, true },
	)
}

// A mandate is charged without the customer, and the bank takes days.
func TestCollectsByAMandate(t *testing.T) {
	t.Parallel()
	f := gocardlesstest.New()
	c, got := serve(t, f)
	ch := charge(gocardlesstest.Mandate)
	ch.Unattended = true
	ch.ProviderData = map[string]json.RawMessage{"retry_if_possible": json.RawMessage(`true`), "reference": json.RawMessage(`"WINEBOX001"`)}
	require.NoError(t, c.Accepts(ch))
	o := charged(t, c, ch)
	require.Equal(t, gateway.Outcome{Event: fsm.EventProcessing, ProviderPaymentID: o.ProviderPaymentID, References: []string{ch.Attempt.String()}}, o)
	request := <-got
	require.Equal(t, []string{"POST /payments", ch.IdempotencyKey}, []string{request.line, request.key})
	providertest.RequireMembers(t, map[string]string{
		"amount": "1999", "currency": `"EUR"`, "description": `"A-1"`, "links": `{"mandate":"` + gocardlesstest.Mandate + `"}`, "retry_if_possible": "true", "reference": `"WINEBOX001"`,
		"metadata": `{"payment_attempt_id":"` + ch.Attempt.String() + `","order_id":"A-1"}`,
	}, request.body)
	f.Set(o.ProviderPaymentID, "confirmed")
	now, err := c.Lookup(t.Context(), o.ProviderPaymentID)
	require.NoError(t, err)
	require.Equal(t, fsm.EventSucceeded, now.Event)

	ch = charge("MD0DEAD")
	ch.Stored = true
	o = charged(t, c, ch)
	require.True(t, o.Refused)
	require.Equal(t, payment.NewFailure("provider_rejected", "mandate_is_inactive"), o.Failure)
}

// A billing request has a page. Its mandate is stored besides the payment, for the customer of the reference.
func TestABillingRequestStoresAMandate(t *testing.T) {
	t.Parallel()
	f := gocardlesstest.New()
	c, got := serve(t, f)
	ch := charge("redirect")
	ch.Save, ch.Customer = true, gateway.Customer{Reference: "u-7", Name: "Jane Mary Doe", Locale: "de-DE"}
	ch.ProviderData = map[string]json.RawMessage{"fallback_enabled": json.RawMessage(`true`), "app_fee": json.RawMessage(`7`)}
	require.NoError(t, c.Accepts(ch))
	o := charged(t, c, ch)
	require.Equal(t, fsm.EventActionRequired, o.Event)
	require.Equal(t, payment.ActionRedirect, o.NextAction.Type)
	marks := `{"payment_attempt_id":"` + ch.Attempt.String() + `","order_id":"A-1"}`
	request, page := <-got, <-got
	providertest.RequireMembers(t, map[string]string{
		"payment_request": `{"amount":1999,"app_fee":7,"currency":"EUR","description":"A-1","metadata":` + marks + `}`, "metadata": marks, "links": "",
		"mandate_request": `{"currency":"EUR","metadata":{"customer_reference":"u-7"}}`, "fallback_enabled": "true",
	}, request.body)
	providertest.RequireMembers(t, map[string]string{
		"redirect_uri": `"https://shop.example/back"`, "exit_uri": `"https://shop.example/back"`, "language": `"de"`,
		"prefilled_customer": `{"given_name":"Jane Mary","family_name":"Doe"}`, "links": `{"billing_request":"` + o.Container + `"}`,
	}, page.body)

	made := f.Authorise(o.Container)
	paid, err := c.Lookup(t.Context(), o.Container)
	require.NoError(t, err)
	require.Equal(t, made, paid.ProviderPaymentID)
	require.Equal(t, []string{ch.Attempt.String(), o.Container}, paid.References)
	require.Equal(t, "sepa_core", paid.Saved.Type)
	require.Equal(t, "BARCLAYS BANK PLC •••• 11", paid.Saved.Display)
	require.Equal(t, gateway.TokenStored, c.TokenKind(paid.Saved.Token))
	require.NoError(t, c.CheckOwner(t.Context(), paid.Saved.Token, "u-7"))
	require.NoError(t, c.CheckOwner(t.Context(), paid.Saved.Token, "CU0002"))
	require.ErrorIs(t, c.CheckOwner(t.Context(), paid.Saved.Token, "u-8"), payment.ErrMethodNotYours)
	require.ErrorIs(t, c.CheckOwner(t.Context(), gocardlesstest.Mandate, ""), payment.ErrMethodNotYours, "nobody's reference is in no metadata")
}

// A shop's own id that looks like a GoCardless customer's id must not be sent as one, because GoCardless would refuse
// each payment with it.
func TestACustomerOfGoCardless(t *testing.T) {
	t.Parallel()
	c, got := serve(t, gocardlesstest.New())
	for reference, link := range map[string]string{"CU0000CSEVM5FQ": `{"customer":"CU0000CSEVM5FQ"}`, "CUSTOMER-7": "", "CUSTOMER7": "", "CU-17": "", "u-7": ""} {
		ch := charge("redirect")
		ch.Customer = gateway.Customer{Reference: reference}
		charged(t, c, ch)
		providertest.RequireMembers(t, map[string]string{"links": link}, (<-got).body)
		<-got
	}
}

// After a lost answer, no second payment is created: GoCardless answers the key with the object that it created.
func TestALostChargeIsMadeOnce(t *testing.T) {
	t.Parallel()
	for token, line := range map[string]string{gocardlesstest.Mandate: "POST /payments", "redirect": "POST /billing_requests"} {
		f := gocardlesstest.New()
		lossy, _ := serve(t, losing(f, line))
		c, _ := serve(t, f)
		ch := charge(token)
		_, err := lossy.Charge(t.Context(), ch)
		require.Error(t, err)
		require.NotErrorIs(t, err, gateway.ErrNotSent)
		o := charged(t, c, ch)
		require.Equal(t, 1, f.Count("PM")+f.Count("BRQ"))
		require.Equal(t, ch.Attempt.String(), o.References[0])

		other := charge(token)
		other.IdempotencyKey = ch.IdempotencyKey
		_, err = c.Charge(t.Context(), other)
		require.Error(t, err, "the key is another attempt's")
		require.NotErrorIs(t, err, gateway.ErrNoSuchPayment)
	}
}

// If the object that a key created can't be read, it does not count as never created. Neither an inconsistent answer nor
// a transient answer decides the outcome.
func TestAConflictThatLeadsNowhere(t *testing.T) {
	t.Parallel()
	for answer, status := range map[string]int{
		`{"error":{"type":"invalid_state","code":409,"errors":[{"reason":"idempotent_creation_conflict","links":{"conflicting_resource_id":"PM9"}}]}}`: http.StatusConflict,
		`{"error":{"type":"invalid_state","code":409,"errors":[{"reason":"idempotent_creation_conflict"}]}}`:                                           http.StatusConflict,
		`{"error":{"type":"validation_failed","code":422,"errors":[]}}`:                                                                                http.StatusBadRequest,
		`{"error":{"type":"invalid_api_usage","code":429,"errors":[]}}`:                                                                                http.StatusTooManyRequests,
		`{"error":{"type":"gocardless","code":500,"errors":[]}}`:                                                                                       http.StatusInternalServerError,
	} {
		f := gocardlesstest.New()
		c, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				f.ServeHTTP(w, r)
				return
			}
			w.WriteHeader(status)
			_, _ = io.WriteString(w, answer)
		}))
		_, err := c.Charge(t.Context(), charge(gocardlesstest.Mandate))
		require.Error(t, err, answer)
		require.NotErrorIs(t, err, gateway.ErrNoSuchPayment)
		require.NotErrorIs(t, err, gateway.ErrNotSent)
	}
}

// The token may be the name of a scheme.
func TestAScheme(t *testing.T) {
	t.Parallel()
	for token, scheme := range map[string]string{"redirect": "", "sepa_credit_transfer": `"sepa_credit_transfer"`} {
		c, got := serve(t, gocardlesstest.New())
		charged(t, c, charge(token))
		var pay map[string]json.RawMessage
		require.NoError(t, json.Unmarshal((<-got).body["payment_request"], &pay))
		providertest.RequireMembers(t, map[string]string{"scheme": scheme}, pay)
	}
}

// If the answer about its page is lost, the outcome of a billing request is unknown, and its key finds it again. A
// billing request whose page was refused can't be paid, and must be cancelled.
func TestTheRequestForAPageIsLost(t *testing.T) {
	t.Parallel()
	f := gocardlesstest.New()
	lossy, _ := serve(t, losing(f, "POST /billing_request_flows"))
	c, _ := serve(t, f)
	ch := charge("redirect")
	_, err := lossy.Charge(t.Context(), ch)
	require.Error(t, err)
	require.NotErrorIs(t, err, gateway.ErrNotSent)
	require.NotNil(t, charged(t, c, ch).NextAction)
	require.Equal(t, 1, f.Count("BRQ"))

	ch = charge("redirect")
	ch.ReturnURL = "nowhere"
	o := charged(t, c, ch)
	require.Equal(t, fsm.EventSoftFailed, o.Event)
	over, err := c.Cancel(t.Context(), closeOf(o.Container))
	require.NoError(t, err)
	require.Equal(t, fsm.EventFailed, over.Event)
	require.False(t, over.Refused)
}

// If the permit ends between the two requests, the outcome of the charge is unknown, because the first request was sent.
func TestAPermitEndsBeforeThePage(t *testing.T) {
	t.Parallel()
	f := gocardlesstest.New()
	c, _ := serve(t, f)
	ch := charge("redirect")
	ch.Permit = endsAfterOne()
	_, err := c.Charge(t.Context(), ch)
	require.Error(t, err)
	require.NotErrorIs(t, err, gateway.ErrNotSent)
	require.Equal(t, []int{1, 0}, []int{f.Count("BRQ"), f.Pages})
}

func TestAccepts(t *testing.T) {
	t.Parallel()
	data := func(token, name string) func(*gateway.Charge) {
		return func(c *gateway.Charge) {
			c.Token, c.Stored, c.ProviderData = token, token == gocardlesstest.Mandate, map[string]json.RawMessage{name: json.RawMessage(`"x"`)}
		}
	}
	c := gocardless.New("", "token", nil)
	for name, tt := range map[string]struct {
		change func(*gateway.Charge)
		field  string
	}{
		"money on hold":                  {func(c *gateway.Charge) { c.Capture = payment.CaptureManual }, "capture"},
		"a currency that needs mandates": {func(c *gateway.Charge) { c.Money.Currency = "SEK" }, "amount"},
		"another token":                  {func(c *gateway.Charge) { c.Token = "BRQ1" }, "payment_method.token"},
		"what is stored already":         {func(c *gateway.Charge) { c.Token, c.Stored, c.Save = gocardlesstest.Mandate, true, true }, "save_payment_method"},
		"stored for nobody":              {func(c *gateway.Charge) { c.Save, c.Customer.Reference = true, "" }, "customer.reference"},
		"our marks":                      {data("redirect", "metadata"), "provider_data.metadata"},
		"another mandate":                {data(gocardlesstest.Mandate, "links"), "provider_data.links"},
		"what only mandates have":        {data("redirect", "charge_date"), "provider_data.charge_date"},
		"what only pages have":           {data(gocardlesstest.Mandate, "fallback_enabled"), "provider_data.fallback_enabled"},
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
	ch := charge(gocardlesstest.Mandate)
	ch.Money.Currency = "SEK"
	require.NoError(t, c.Accepts(ch), "a mandate has a currency of its own")
	ch.Capture = payment.CaptureManual
	_, err := c.Charge(t.Context(), ch)
	require.ErrorIs(t, err, gateway.ErrUnsupportedRequest)
}

// TestFakeFitsTheSamples: each member of the fake's objects exists in the published samples of GoCardless's own client,
// if they are available.
func TestFakeFitsTheSamples(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(published.Path(t, published.Specs, "gocardless-samples.json"))
	require.NoError(t, err)
	var samples map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(raw, &samples))
	f := gocardlesstest.New()
	c, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		heard := &recorder{ResponseWriter: w}
		f.ServeHTTP(heard, r)
		fits(t, samples, heard.body)
	}))
	ch := charge("redirect")
	ch.Save = true
	o := charged(t, c, ch)
	_, err = c.Refund(t.Context(), refundOf(f.Authorise(o.Container), 700))
	require.NoError(t, err)
	charged(t, c, charge(gocardlesstest.Mandate))
	require.NoError(t, c.CheckOwner(t.Context(), gocardlesstest.Mandate, gocardlesstest.Owner))
	_, err = c.Lookup(t.Context(), o.Container)
	require.NoError(t, err)
}

type recorder struct {
	http.ResponseWriter
	body []byte
}

// Write implements io.Writer.
func (r *recorder) Write(b []byte) (int, error) {
	r.body = append(r.body, b...)
	return r.ResponseWriter.Write(b)
}

var _ io.Writer = (*recorder)(nil)

// fits compares an object, or a list of objects, with the sample of its collection.
func fits(t *testing.T, samples map[string]json.RawMessage, body []byte) {
	t.Helper()
	var answer map[string]any
	if err := json.Unmarshal(body, &answer); err != nil {
		t.Error(err)
	}
	for collection, got := range answer {
		var calls map[string]struct {
			Body map[string]any `json:"body"`
		}
		if json.Unmarshal(samples[collection], &calls) != nil { // meta, error
			continue
		}
		items, list := got.([]any)
		if !list {
			items = []any{got}
		}
		for _, item := range items {
			within(t, collection, calls["create"].Body[collection], item)
		}
	}
}

func within(t *testing.T, path string, sample, got any) {
	t.Helper()
	members, is := got.(map[string]any)
	if !is {
		return
	}
	known, is := sample.(map[string]any)
	if !is {
		t.Errorf("%s is no object in the sample", path)
		return
	}
	for name, value := range members {
		if _, there := known[name]; !there {
			t.Errorf("%s.%s is not in the sample", path, name)
		}
		if name != "metadata" { // metadata are the caller's
			within(t, path+"."+name, known[name], value)
		}
	}
}
