package robokassa_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/providertest"
	"github.com/paylatch/paylatch/internal/provider/robokassa"
	"github.com/paylatch/paylatch/webhooks"
	hooks "github.com/paylatch/paylatch/webhooks/robokassa"
)

// linked returns the link of a charge by a shop.
func linked(t *testing.T, of robokassa.Shop, ch gateway.Charge) (gateway.Outcome, url.Values) {
	t.Helper()
	o, err := client(t, "", of, http.DefaultClient).Charge(t.Context(), ch)
	require.NoError(t, err)
	to, err := url.Parse(o.NextAction.URL)
	require.NoError(t, err)
	require.Equal(t, "https://auth.robokassa.ru/Merchant/Index.aspx", "https://"+to.Host+to.Path)
	return o, to.Query()
}

// at returns an attempt of 2026-03-14T12:00:00.123Z.
func at() payment.AttemptID {
	return payment.AttemptID(uuid.MustParse("019cec41-6a7b-7c31-9d3e-2f6a8b1c4d5e"))
}

// TestTheSameAttemptHasTheSameLink: a lost answer loses nothing.
func TestTheSameAttemptHasTheSameLink(t *testing.T) {
	t.Parallel()
	ch := charge("redirect")
	first, _ := linked(t, shop(), ch)
	again, _ := linked(t, shop(), ch)
	require.Equal(t, first, again)
	require.Equal(t, fsm.EventActionRequired, first.Event)
	require.Regexp(t, `^[1-9][0-9]{0,18}$`, first.ProviderPaymentID)
	ch.Attempt = at()
	other, _ := linked(t, shop(), ch)
	require.Equal(t, "8728613253096610585", other.ProviderPaymentID, "another number is another payment")
}

func TestLink(t *testing.T) {
	t.Parallel()
	ch := charge("BankCard")
	ch.Attempt, ch.Capture, ch.Customer.Locale = at(), payment.CaptureManual, "ru-RU"
	ch.Customer.Email = "jane@shop.example"
	of := shop()
	of.Test = true
	o, got := linked(t, of, ch)
	began := time.UnixMilli(0x019cec416a7b)
	want := map[string]string{
		"MerchantLogin": shopLogin, "OutSum": "19.99", "InvId": o.ProviderPaymentID, "Description": "A-1", "Encoding": "utf-8", "Culture": "ru",
		"IncCurrLabel": "BankCard", "IsTest": "1", "StepByStep": "true", "Shp_payment_attempt_id": ch.Attempt.String(),
		"SuccessUrl2": ch.ReturnURL, "SuccessUrl2Method": "GET", "FailUrl2": ch.ReturnURL, "FailUrl2Method": "GET",
		"ExpirationDate": began.Add(24*time.Hour).In(time.FixedZone("", 3*60*60)).Format("2006-01-02T15:04:05.0000000") + "+03:00",
		"SignatureValue": signature(shopLogin, "19.99", o.ProviderPaymentID, "true", ch.ReturnURL, "GET", ch.ReturnURL, "GET", password1,
			"Shp_payment_attempt_id="+ch.Attempt.String()),
	}
	require.ElementsMatch(t, slices.Collect(maps.Keys(want)), slices.Collect(maps.Keys(got)))
	for name, value := range want {
		require.Equal(t, []string{value}, got[name], name)
	}
}

func TestHashes(t *testing.T) {
	t.Parallel()
	ch := charge("redirect")
	for name, digits := range map[string]int{"": 32, "md5": 32, "SHA1": 40, "sha256": 64, "sha384": 96, "sha512": 128} {
		of := shop()
		of.Hash = name
		_, got := linked(t, of, ch)
		require.Len(t, got.Get("SignatureValue"), digits, name)
	}
	for _, of := range []robokassa.Shop{{Hash: "ripemd160"}, {Taxation: "none"}} {
		_, err := robokassa.New("", of, http.DefaultClient)
		require.ErrorIs(t, err, webhooks.ErrConfig)
	}
}

// TestANoticeNamesTheLink: a notification contains the parameters of its link, and they find the attempt.
func TestANoticeNamesTheLink(t *testing.T) {
	t.Parallel()
	ch := charge("redirect")
	o, got := linked(t, shop(), ch)
	v, err := hooks.New(webhooks.Config{Secrets: []string{password2}})
	require.NoError(t, err)
	notice := url.Values{"OutSum": {got.Get("OutSum")}, "InvId": {got.Get("InvId")}, "Shp_payment_attempt_id": got["Shp_payment_attempt_id"]}
	d := webhooks.Delivery{Method: http.MethodPost, Body: []byte(notice.Encode())}
	require.NoError(t, v.Sign(&d))
	events, err := v.Verify(t.Context(), d)
	require.NoError(t, err)
	require.Len(t, events, 1)
	require.Equal(t, o.ProviderPaymentID, events[0].ProviderPaymentID)
	require.Contains(t, events[0].References, ch.Attempt.String())
	c, _ := opened(t)
	providertest.NamedAlike(t, providertest.Paid{Provider: c, Charged: o, Webhook: events[0]})
}

// TestNoLinkWithoutAPermit: a runner that lost its lease creates no link.
func TestNoLinkWithoutAPermit(t *testing.T) {
	t.Parallel()
	c := client(t, "", shop(), http.DefaultClient)
	for _, l := range []gateway.Permit{{}, gateway.NewPermit(time.Now(), 0, time.Now)} {
		ch := charge("redirect")
		ch.Permit = l
		o, err := c.Charge(t.Context(), ch)
		require.ErrorIs(t, err, gateway.ErrNotSent)
		require.ErrorIs(t, err, gateway.ErrPermitEnded)
		require.Nil(t, o.NextAction)
	}
	for _, change := range []func(*gateway.Charge){
		func(ch *gateway.Charge) { ch.Money.Currency = "EUR" },
		func(ch *gateway.Charge) { ch.Token, ch.Stored = saved, true },
		func(ch *gateway.Charge) { ch.Token = saved },
	} {
		ch := charge("redirect")
		change(&ch)
		_, err := c.Charge(t.Context(), ch)
		require.ErrorIs(t, err, gateway.ErrUnsupportedRequest)
	}
}

func TestAccepts(t *testing.T) {
	t.Parallel()
	c := client(t, "", shop(), http.DefaultClient)
	receipt := func(r gateway.LineReceipt) func(*gateway.Charge) {
		return func(ch *gateway.Charge) {
			ch.Customer.Email, ch.Lines = "jane@shop.example", []gateway.Line{{Description: "Ticket", Quantity: "1", UnitAmount: 1999, Amount: 1999, Receipt: &r}}
		}
	}
	data := func(name, value string) func(*gateway.Charge) {
		return func(ch *gateway.Charge) { ch.ProviderData = map[string]json.RawMessage{name: json.RawMessage(value)} }
	}
	for name, test := range map[string]struct {
		change func(*gateway.Charge)
		field  string
	}{
		"the page":             {func(*gateway.Charge) {}, ""},
		"another currency":     {func(ch *gateway.Charge) { ch.Money.Currency = "EUR" }, "amount"},
		"a method":             {func(ch *gateway.Charge) { ch.Token = "BankCard" }, ""},
		"no method":            {func(ch *gateway.Charge) { ch.Token = "4111 1111" }, "payment_method.token"},
		"a saved card":         {func(ch *gateway.Charge) { ch.Token, ch.Stored = saved, true }, "payment_method.token"},
		"a description":        {data("Description", `"Two tickets"`), ""},
		"no text":              {data("Description", `1`), "provider_data.Description"},
		"another parameter":    {data("Recurring", `true`), "provider_data.Recurring"},
		"a receipt":            {receipt(gateway.LineReceipt{VATCode: 11, PaymentSubject: "service"}), ""},
		"no rate":              {receipt(gateway.LineReceipt{VATCode: 13}), "lines[0].receipt.vat_code"},
		"no word for the mode": {receipt(gateway.LineReceipt{VATCode: 1, PaymentMode: "barter"}), "lines[0].receipt.payment_mode"},
		"no word for the line": {receipt(gateway.LineReceipt{VATCode: 1, PaymentSubject: "casino"}), "lines[0].receipt.payment_subject"},
	} {
		ch := charge("redirect")
		test.change(&ch)
		err := c.Accepts(ch)
		if test.field == "" {
			require.NoError(t, err, name)
			continue
		}
		var wrong *payment.ValidationError
		require.ErrorAs(t, err, &wrong, name)
		require.Len(t, wrong.Fields, 1, name)
		require.Equal(t, test.field, wrong.Fields[0].Field, name)
	}
}

func TestProviderDataReplacesOurs(t *testing.T) {
	t.Parallel()
	ch := charge("redirect")
	ch.ProviderData = map[string]json.RawMessage{"Description": json.RawMessage(`"Билет"`), "ExpirationDate": json.RawMessage(`"2030-01-02T10:00:00.0000000+03:00"`)}
	_, got := linked(t, shop(), ch)
	require.Equal(t, "Билет", got.Get("Description"))
	require.Equal(t, "2030-01-02T10:00:00.0000000+03:00", got.Get("ExpirationDate"))
}
