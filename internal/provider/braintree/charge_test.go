package braintree_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/braintree"
	"github.com/paylatch/paylatch/internal/provider/providertest"
)

func TestCarries(t *testing.T) {
	t.Parallel()
	providertest.Carries(t, suite(), braintree.Adapter(),
		func(c *gateway.Charge) { c.Token = good },
		func(c *gateway.Charge) { c.Token, c.Save = good, true },
		func(c *gateway.Charge) {
			c.Token, c.Stored, c.Unattended, c.Customer.Reference = vaulted, true, true, owner
		},
	)
}

func TestANonceIsOneRequest(t *testing.T) {
	t.Parallel()
	c, got := serve(t, serving())
	c.MerchantAccount = "shop_eur"
	ch := charge(good)
	ch.ProviderData = map[string]json.RawMessage{
		"device_data": json.RawMessage(`"{\"correlation_id\":\"c1\"}"`), "options": json.RawMessage(`{"three_d_secure":{"required":true},"submit_for_settlement":false}`),
		"amount": json.RawMessage(`"1.00"`),
	}
	o := charged(t, c, ch)
	require.Equal(t, gateway.Outcome{Event: fsm.EventSucceeded, Payee: "shop_eur", ProviderPaymentID: o.ProviderPaymentID, References: []string{ch.Attempt.String()}, Money: new(euro(1999))}, o)
	sent := <-got
	require.Equal(t, "POST "+base+"/transactions", sent.line)
	require.JSONEq(t, `{"transaction":{"type":"sale","amount":"19.99","order_id":"`+ch.Attempt.String()+`","api_request_key":"`+ch.IdempotencyKey+`",
		"merchant_account_id":"shop_eur","payment_method_nonce":"`+good+`","device_data":"{\"correlation_id\":\"c1\"}",
		"options":{"submit_for_settlement":true,"three_d_secure":{"required":true}}}}`, sent.body)
	require.Empty(t, got)
}

// A vaulted method is charged as a vaulted method, together with its customer. As a nonce, or with another customer, it
// is refused.
func TestAVaultedMethodIsChargedWithItsCustomer(t *testing.T) {
	t.Parallel()
	c, got := serve(t, serving())
	ch := charge(vaulted)
	ch.Stored, ch.Unattended, ch.Customer.Reference = true, true, owner
	o := charged(t, c, ch)
	require.Equal(t, fsm.EventSucceeded, o.Event)
	require.Nil(t, o.Saved, "it was stored before")
	var in struct {
		Transaction map[string]any `json:"transaction"`
	}
	require.NoError(t, json.Unmarshal([]byte((<-got).body), &in))
	require.Equal(t, []any{vaulted, owner, "unscheduled", nil}, []any{
		in.Transaction["payment_method_token"], in.Transaction["customer_id"], in.Transaction["transaction_source"], in.Transaction["payment_method_nonce"],
	})
	ch = charge(vaulted)
	require.Equal(t, gateway.Outcome{Event: fsm.EventFailed, Refused: true, Failure: payment.NewFailure("provider_rejected", "91565")}, charged(t, c, ch))
	ch.Stored, ch.Customer.Reference = true, "stranger-1"
	ch.IdempotencyKey = "another"
	require.Equal(t, "91516", charged(t, c, ch).Failure.ProviderCode)
}

// The customer of a method to store is created first, once. The same charge again sends the same request.
func TestAMethodIsStoredForItsCustomer(t *testing.T) {
	t.Parallel()
	c, got := serve(t, serving())
	ch := charge(good)
	ch.Save, ch.Customer = true, gateway.Customer{Reference: "jane-1", Email: "jane@shop.example", Phone: "+4930901820"}
	first := charged(t, c, ch)
	require.Equal(t, &payment.SavedMethod{Token: "vaulted2", Type: "credit_card", Display: "Visa •••• 1881", Expires: "2031-02"}, first.Saved)
	made, sold := <-got, <-got
	require.Equal(t, "POST "+base+"/customers", made.line)
	require.JSONEq(t, `{"customer":{"id":"jane-1","email":"jane@shop.example","phone":"+4930901820"}}`, made.body)
	require.NotContains(t, sold.body, "jane@shop.example")
	require.Equal(t, first, charged(t, c, ch))
	require.Equal(t, sold.body, func() string { <-got; return (<-got).body }())

	ch.Customer.Reference = "all"
	require.Equal(t, gateway.Outcome{Event: fsm.EventFailed, Refused: true, Failure: payment.NewFailure("provider_rejected", "91611")}, charged(t, c, ch))
	require.Equal(t, []string{"POST " + base + "/customers"}, lines(got), "nothing was charged")
}

// If the customer can't be created, nothing is charged, and the error is ErrNotSent.
func TestWithoutItsCustomerAMethodIsNotCharged(t *testing.T) {
	t.Parallel()
	ch := charge(good)
	ch.Save, ch.Customer.Reference = true, "jane-1"
	for _, a := range []answer{{http.StatusBadGateway, ""}, {http.StatusCreated, "<customer><id>other</id></customer>"}, {http.StatusOK, "{}"}} {
		_, err := answers(t, a.status, a.body).Charge(t.Context(), ch)
		require.ErrorIs(t, err, gateway.ErrNotSent, a.body)
	}
}

// A request names no currency, so an amount in another currency would be charged in the merchant account's currency.
func TestMoneyOfAnotherCurrencyIsNotSent(t *testing.T) {
	t.Parallel()
	c, got := serve(t, serving())
	dollars := payment.Money{Minor: 1999, Currency: "USD"}
	ch := charge(good)
	ch.Money = dollars
	require.ErrorContains(t, c.Accepts(ch), "another currency")
	_, err := c.Charge(t.Context(), ch)
	require.ErrorIs(t, err, gateway.ErrUnsupportedRequest)
	_, err = c.Capture(t.Context(), gateway.Capture{ProviderPaymentID: "bt000001", Money: dollars, Permit: permit()})
	require.ErrorIs(t, err, gateway.ErrUnsupportedRequest)
	_, err = c.Refund(t.Context(), gateway.RefundCall{ProviderPaymentID: "bt000001", Money: dollars, Permit: permit()})
	require.ErrorIs(t, err, gateway.ErrUnsupportedRequest)
	c.Currency = ""
	_, err = c.Charge(t.Context(), charge(good))
	require.ErrorIs(t, err, gateway.ErrUnsupportedRequest)
	require.ErrorContains(t, c.Accepts(charge(good)), "has no currency")
	require.Empty(t, got)
}

func TestAccepts(t *testing.T) {
	t.Parallel()
	c := client("", http.DefaultClient)
	for want, change := range map[string]func(*gateway.Charge){
		"": func(c *gateway.Charge) {
			c.StatementDescriptor, c.Save, c.Customer.Reference = "SHOP123*TICKET", true, "Jane_1-2"
			c.ProviderData = map[string]json.RawMessage{"options": json.RawMessage(`{"skip_avs":true}`), "device_data": json.RawMessage(`"d"`)}
		},
		"provider_data.merchant_account_id": func(c *gateway.Charge) {
			c.ProviderData = map[string]json.RawMessage{"merchant_account_id": json.RawMessage(`"usd"`)}
		},
		"provider_data.options.submit_for_settlement": func(c *gateway.Charge) {
			c.ProviderData = map[string]json.RawMessage{"options": json.RawMessage(`{"submit_for_settlement":true}`)}
		},
		"provider_data.options":       func(c *gateway.Charge) { c.ProviderData = map[string]json.RawMessage{"options": json.RawMessage(`1`)} },
		"statement_descriptor":        func(c *gateway.Charge) { c.StatementDescriptor = "SHOP*TICKET" },
		"customer.reference":          func(c *gateway.Charge) { c.Save, c.Customer.Reference = true, "jane@shop.example" },
		"save_payment_method":         func(c *gateway.Charge) { c.Save, c.Stored, c.Customer.Reference = true, true, "jane" },
		"customer.reference: 37 long": func(c *gateway.Charge) { c.Save, c.Customer.Reference = true, strings.Repeat("j", 37) },
	} {
		ch := charge(good)
		change(&ch)
		err := c.Accepts(ch)
		member, _, _ := strings.Cut(want, ":")
		if member == "" {
			require.NoError(t, err)
			continue
		}
		var wrong *payment.ValidationError
		require.ErrorAs(t, err, &wrong, want)
		require.Len(t, wrong.Fields, 1, want)
		require.Equal(t, member, wrong.Fields[0].Field)
	}
}

// After a lost answer, the same charge again returns the existing transaction: by its key, or, without a key, by a
// search.
func TestALostAnswerIsNoSecondTransaction(t *testing.T) {
	t.Parallel()
	for _, keyless := range []bool{false, true} {
		f := serving()
		f.keyless, f.slow = keyless, true
		lost, _ := serve(t, losing(f, "POST "+base+"/transactions"))
		c, _ := serve(t, f)
		lost.Keyless, c.Keyless = keyless, keyless
		can := c.Capabilities()
		require.Equal(t, []bool{keyless, !keyless}, []bool{can.KeyLife == 0, can.Resend == payment.ResendUnfound})
		ch := charge(once)
		_, err := lost.Charge(t.Context(), ch)
		require.Error(t, err)
		require.NotErrorIs(t, err, gateway.ErrNotSent)
		found, err := c.Find(t.Context(), ch.Attempt)
		require.NoError(t, err)
		require.Equal(t, fsm.EventSucceeded, found.Event)
		again, err := c.Charge(t.Context(), ch)
		require.NoError(t, err)
		if keyless {
			require.Equal(t, gateway.Outcome{Event: fsm.EventFailed, Refused: true, Failure: payment.NewFailure("provider_rejected", "91564")}, again, "the nonce is consumed")
		} else {
			require.Equal(t, found, again)
		}
		require.Len(t, f.transactions, 1)
	}
}

// Without a key, Braintree rejects the second of two equal charges. That is not a decline, and the first charge is
// found.
func TestADuplicateIsNoDecline(t *testing.T) {
	t.Parallel()
	f := serving()
	c, _ := serve(t, f)
	c.Keyless = true
	ch := charge(good)
	made := charged(t, c, ch)
	_, err := c.Charge(t.Context(), ch)
	require.ErrorContains(t, err, "duplicate")
	require.NotErrorIs(t, err, gateway.ErrNotSent)
	require.Len(t, f.transactions, 2)
	found, err := c.Find(t.Context(), ch.Attempt)
	require.NoError(t, err)
	require.Equal(t, made, found)
}

// A lagging search may show only the rejected duplicate, or the duplicate and a decline. Another transaction must exist.
func TestADuplicateThatIsFoundAloneIsNoDecline(t *testing.T) {
	t.Parallel()
	for _, others := range [][]string{nil, {"processor_declined"}} {
		f := serving()
		c, _ := serve(t, f)
		attempt := payment.AttemptID(uuid.New())
		for _, status := range others {
			f.made(&transaction{kind: "sale", status: status, order: attempt.String(), amount: 1999})
		}
		f.made(&transaction{kind: "sale", status: "gateway_rejected", rejection: "duplicate", order: attempt.String(), amount: 1999})
		_, err := c.Find(t.Context(), attempt)
		require.ErrorContains(t, err, "duplicate")
		require.NotErrorIs(t, err, gateway.ErrNoSuchPayment)
	}
}

// If an attempt has more transactions than Find looks up, the outcome is unknown, because an omitted transaction may
// have taken the money.
func TestFindLeavesNoTransactionOut(t *testing.T) {
	t.Parallel()
	f := serving()
	c, _ := serve(t, f)
	attempt := payment.AttemptID(uuid.New())
	for range 10 {
		f.made(&transaction{kind: "sale", status: "processor_declined", order: attempt.String(), amount: 1999})
	}
	found, err := c.Find(t.Context(), attempt)
	require.NoError(t, err)
	require.Equal(t, fsm.EventFailed, found.Event)
	f.made(&transaction{kind: "sale", status: "settled", order: attempt.String(), amount: 1999})
	_, err = c.Find(t.Context(), attempt)
	require.ErrorIs(t, err, gateway.ErrInconclusive)
}

// A refusal about a key leaves the outcome of the first request with this key unknown.
func TestErrorsAboutAKeyLeaveTheOutcomeOpen(t *testing.T) {
	t.Parallel()
	for code, open := range map[string]bool{"915230": false, "915231": false, "915232": true, "915233": true, "915234": true, "915235": true} {
		c, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			a := failure(code)
			if r.Method == http.MethodGet {
				a = (&transaction{id: "bt1", kind: "sale", status: "authorized", amount: 1999}).told(http.StatusOK)
			}
			w.WriteHeader(a.status)
			_, _ = io.WriteString(w, a.body)
		}))
		o, err := c.Charge(t.Context(), charge(good))
		captured, captureErr := c.Capture(t.Context(), gateway.Capture{ProviderPaymentID: "bt1", Money: euro(1), Permit: permit()})
		if open {
			for _, err := range []error{err, captureErr} {
				require.ErrorContains(t, err, code)
				require.NotErrorIs(t, err, gateway.ErrNotSent)
			}
			continue
		}
		require.NoError(t, errors.Join(err, captureErr))
		require.Equal(t, gateway.Outcome{Event: fsm.EventFailed, Refused: true, Failure: payment.NewFailure("provider_rejected", code)}, o)
		require.Equal(t, gateway.Outcome{Event: fsm.EventAuthorized, Refused: true, Payee: "shop_eur", ProviderPaymentID: "bt1", Money: new(euro(1999))}, captured)
	}
}

func TestADeclineHasItsReason(t *testing.T) {
	t.Parallel()
	for token, want := range map[string]*payment.Failure{
		declined: payment.NewFailure("card_declined", "2000"), poor: payment.NewFailure("insufficient_funds", "2001"),
		unproven: payment.NewFailure("authentication_failed", "three_d_secure"),
	} {
		c, _ := serve(t, serving())
		ch := charge(token)
		o := charged(t, c, ch)
		require.Equal(t, gateway.Outcome{Event: fsm.EventFailed, Payee: "shop_eur", ProviderPaymentID: o.ProviderPaymentID, References: []string{ch.Attempt.String()}, Failure: want}, o)
		now, err := c.Lookup(t.Context(), o.ProviderPaymentID)
		require.NoError(t, err)
		require.Equal(t, o, now)
	}
}

// Rejected API keys are a refusal of this call, with a body or without.
func TestAnAccountThatIsTurnedAwayRefusesOneCall(t *testing.T) {
	t.Parallel()
	for status, code := range map[int]string{http.StatusUnauthorized: "unauthorized", http.StatusForbidden: "forbidden", http.StatusNotFound: "not_found"} {
		c := answers(t, status, "")
		require.Equal(t, gateway.Outcome{Event: fsm.EventFailed, Refused: true, Failure: payment.NewFailure("provider_rejected", code)}, charged(t, c, charge(good)))
		_, err := c.Lookup(t.Context(), "bt000001")
		require.Equal(t, status == http.StatusNotFound, errors.Is(err, gateway.ErrNoSuchPayment))
		require.Error(t, err)
	}
}

func TestErrorsKeepBraintreesTexts(t *testing.T) {
	t.Parallel()
	_, err := answers(t, http.StatusUnprocessableEntity, failure("915233").body).Charge(t.Context(), charge(good))
	require.ErrorContains(t, err, "915233")
	require.NotContains(t, err.Error(), "Jane")
}

func TestAnswersThatLeaveTheOutcomeOpen(t *testing.T) {
	t.Parallel()
	for name, a := range map[string]answer{
		"no id":           {201, `<transaction><status>authorized</status><type>sale</type></transaction>`},
		"no status":       {201, `<transaction><id>bt1</id><type>sale</type></transaction>`},
		"a refund":        {201, `<transaction><id>bt1</id><status>settled</status><type>credit</type></transaction>`},
		"no currency":     {201, `<transaction><id>bt1</id><status>settled</status><type>sale</type><amount>19.99</amount></transaction>`},
		"half a cent":     {201, `<transaction><id>bt1</id><status>settled</status><type>sale</type><amount>19.995</amount><currency-iso-code>EUR</currency-iso-code></transaction>`},
		"another object":  {201, `<customer><id>bt1</id></customer>`},
		"cut":             {201, `<transaction><id>bt1</id><status>settled</status>`},
		"errors of none":  {422, `<api-error-response><errors><errors type="array"/></errors></api-error-response>`},
		"an error page":   {422, `<html>Unprocessable</html>`},
		"JSON":            {422, `{"error":{"code":"x"}}`},
		"too many":        {429, ``},
		"wrong version":   {426, ``},
		"no content":      {204, ``},
		"internal":        {500, failure("91564").body},
		"request timeout": {408, ``},
	} {
		_, err := answers(t, a.status, a.body).Charge(t.Context(), charge(good))
		require.Error(t, err, name)
		require.NotErrorIs(t, err, gateway.ErrNotSent, name)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestWithoutABaseAddressBraintreeIsCalled(t *testing.T) {
	t.Parallel()
	var called string
	c := client("", &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		called = r.URL.String()
		return nil, errors.New("no network")
	})})
	_, err := c.Lookup(t.Context(), "bt000001")
	require.ErrorContains(t, err, "no network")
	require.Equal(t, "https://api.braintreegateway.com/merchants/integration_merchant/transactions/bt000001", called)
}

// Without a valid permit, the customer is not created either.
func TestWithoutAPermitNoCustomerIsMade(t *testing.T) {
	t.Parallel()
	c, got := serve(t, serving())
	ch := charge(good)
	ch.Save, ch.Customer.Reference = true, "jane-1"
	ch.Permit = gateway.NewPermit(time.Now(), 0, time.Now)
	_, err := c.Charge(t.Context(), ch)
	require.ErrorIs(t, err, gateway.ErrPermitEnded)
	require.Empty(t, got)
}

// A transaction that a search finds and a lookup does not is not missing.
func TestAListedTransactionIsNotMissing(t *testing.T) {
	t.Parallel()
	f := serving()
	c, _ := serve(t, f)
	ch := charge(good)
	charged(t, c, ch)
	f.before = func(line string, f *fake) {
		if strings.HasPrefix(line, "GET") {
			clear(f.transactions)
		}
	}
	_, err := c.Find(t.Context(), ch.Attempt)
	require.Error(t, err)
	require.NotErrorIs(t, err, gateway.ErrNoSuchPayment)
}

// A search may lag, so a transaction that it does not show may exist, however old it is.
func TestASearchThatLagsIsNoProof(t *testing.T) {
	t.Parallel()
	f := serving()
	f.lags = true
	c, _ := serve(t, f)
	ch := charge(good)
	charged(t, c, ch)
	_, err := c.Find(t.Context(), ch.Attempt)
	require.ErrorIs(t, err, gateway.ErrNoSuchPayment)
	can := c.Capabilities()
	require.Equal(t, payment.LookupByReference, can.Lookup)
	require.Positive(t, can.FindLag)
	for _, body := range []string{`<search-results><page-size type="integer">50</page-size></search-results>`, `<transaction/>`, ``} {
		_, err := answers(t, http.StatusOK, body).Find(t.Context(), payment.AttemptID(uuid.New()))
		require.Error(t, err, body)
		require.NotErrorIs(t, err, gateway.ErrNoSuchPayment, body)
	}
}

// If an attempt has several transactions, the transaction nearest to captured money decides, in any order.
func TestFindTakesTheTransactionThatWentFurthest(t *testing.T) {
	t.Parallel()
	for _, statuses := range [][]string{
		{"gateway_rejected", "settled", "processor_declined"}, {"authorized", "settling", "voided"}, {"voided", "authorizing", "submitted_for_settlement"},
	} {
		f := serving()
		c, _ := serve(t, f)
		attempt := payment.AttemptID(uuid.New())
		for i, status := range statuses {
			f.made(&transaction{kind: "sale", status: status, order: attempt.String(), amount: int64(1000 + i)})
		}
		found, err := c.Find(t.Context(), attempt)
		require.NoError(t, err)
		require.Equal(t, fsm.EventSucceeded, found.Event, statuses)
		f = serving()
		c, _ = serve(t, f)
		for _, status := range []string{"voided", "authorizing", "authorized", "failed"} {
			f.made(&transaction{kind: "sale", status: status, order: attempt.String(), amount: 1999})
		}
		found, err = c.Find(t.Context(), attempt)
		require.NoError(t, err)
		require.Equal(t, fsm.EventAuthorized, found.Event)
	}
}
