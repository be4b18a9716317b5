package gopay_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/gopay"
)

func TestAPayment(t *testing.T) {
	t.Parallel()
	c, g := opened(t)
	ch := charge("redirect")
	ch.Customer.Phone, ch.Customer.Locale = "+420777456123", "cs-CZ"
	ch.Customer.Billing = &gateway.Address{Line1: "Planá 67", City: "České Budějovice", PostalCode: "37301", Country: "CZ"}
	ch.Lines = []gateway.Line{
		{Description: "Ticket", Quantity: "2", UnitAmount: 1000, Amount: 2000},
		{Description: "Rope", Quantity: "0.5", UnitAmount: 200, Amount: 100},
		{Description: "Post", Quantity: "1", UnitAmount: 99, Amount: 99, Type: gateway.LineShipping},
		{Description: "Voucher", Quantity: "1", UnitAmount: -200, Amount: -200, Type: gateway.LineDiscount},
	}
	o := charged(t, c, ch)
	require.Equal(t, gateway.Outcome{
		Event: fsm.EventActionRequired, ProviderPaymentID: "3000000501", Payee: goid, References: []string{ch.Attempt.String()},
		NextAction: payment.Redirect("https://gw.sandbox.gopay.com/gw/v3/3000000501"),
	}, o)
	require.JSONEq(t, `{
		"amount": 1999, "currency": "CZK", "order_number": "A1", "order_description": "A-1", "lang": "CS",
		"target": {"type": "ACCOUNT", "goid": "8123456789"},
		"callback": {"return_url": "https://shop.example/back", "notification_url": "https://paylatch.example/hooks/gopay"},
		"additional_params": [{"name": "payment_attempt_id", "value": "`+ch.Attempt.String()+`"}, {"name": "order_id", "value": "A-1"}],
		"payer": {"contact": {"first_name": "Jane van", "last_name": "Dyke", "email": "jane@shop.example", "phone_number": "+420777456123",
			"city": "České Budějovice", "street": "Planá 67", "postal_code": "37301"}},
		"items": [
			{"type": "ITEM", "name": "Ticket", "amount": 2000, "count": 2}, {"type": "ITEM", "name": "Rope", "amount": 100, "count": 1},
			{"type": "DELIVERY", "name": "Post", "amount": 99, "count": 1}, {"type": "DISCOUNT", "name": "Voucher", "amount": -200, "count": 1}
		]}`, g.bodies[0])
}

// TestASavedCard: the id of the payment that saves a card names the card, and later payments are its recurrences.
func TestASavedCard(t *testing.T) {
	t.Parallel()
	c, g := opened(t)
	ch := charge("redirect")
	ch.Save, ch.Capture = true, payment.CaptureManual
	first := charged(t, c, ch)
	require.Nil(t, first.Saved)
	require.Contains(t, g.bodies[0], `"recurrence":{"recurrence_cycle":"ON_DEMAND","recurrence_date_to":"2099-12-30"}`)
	require.Contains(t, g.bodies[0], `"default_payment_instrument":"PAYMENT_CARD","allowed_payment_instruments":["PAYMENT_CARD"]`)
	require.Contains(t, g.bodies[0], `"preauthorization":true`)
	g.pay(first.ProviderPaymentID)
	paid, err := c.Lookup(t.Context(), first.ProviderPaymentID)
	require.NoError(t, err)
	require.Equal(t, fsm.EventAuthorized, paid.Event)
	require.Equal(t, &payment.SavedMethod{Token: first.ProviderPaymentID, Type: "PAYMENT_CARD", Display: "VISA •••• 0003", Expires: "2030-09"}, paid.Saved)
	require.NoError(t, c.CheckOwner(t.Context(), paid.Saved.Token, savedFor))

	again := charge("redirect")
	again.Token, again.Stored, again.Unattended = paid.Saved.Token, true, true
	o := charged(t, c, again)
	require.Equal(t, fsm.EventProcessing, o.Event, "it waits for no customer")
	require.Nil(t, o.NextAction)
	require.NotEqual(t, first.ProviderPaymentID, o.ProviderPaymentID)
	var body map[string]json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(g.bodies[1]), &body))
	require.Len(t, body, 6)
	require.NotContains(t, body, "payer")
	now, err := c.Lookup(t.Context(), o.ProviderPaymentID)
	require.NoError(t, err)
	require.Equal(t, fsm.EventSucceeded, now.Event)
	require.Nil(t, now.Saved)
	g.payments[o.ProviderPaymentID].state = "CREATED"
	now, err = c.Lookup(t.Context(), o.ProviderPaymentID)
	require.NoError(t, err)
	require.Equal(t, fsm.EventProcessing, now.Event)

	g.payments[first.ProviderPaymentID].stopped = true
	over, err := c.Lookup(t.Context(), first.ProviderPaymentID)
	require.NoError(t, err)
	require.Nil(t, over.Saved, "it is charged no more")
}

func TestRefusedCards(t *testing.T) {
	t.Parallel()
	c, _ := opened(t)
	require.Equal(t, gateway.Outcome{Event: fsm.EventFailed, Failure: payment.NewFailure("card_declined", "PAYMENT_RECURRENCE_FAILED")}, charged(t, c, charge(emptyCard)))
	require.Equal(t, gateway.Outcome{Event: fsm.EventFailed, Refused: true, Failure: payment.NewFailure("provider_rejected", "PAYMENT_RECURRENCE_STOPPED")}, charged(t, c, charge(stoppedCard)))
	plain := charged(t, c, charge("redirect"))
	require.ErrorIs(t, c.CheckOwner(t.Context(), plain.ProviderPaymentID, savedFor), payment.ErrMethodNotYours, "it has saved nothing")
	require.ErrorIs(t, c.CheckOwner(t.Context(), plain.ProviderPaymentID, ""), payment.ErrMethodNotYours)
	require.ErrorIs(t, c.CheckOwner(t.Context(), "3999999999", savedFor), gateway.ErrNoSuchPayment)
}

// TestA401OfSomebodyElse: a command is sent again with another token only if GoPay has rejected the first.
func TestA401OfSomebodyElse(t *testing.T) {
	t.Parallel()
	for body, sends := range map[string]int32{"<html>": 1, `{"errors":[{"error_code":204}]}`: 2} {
		var sent atomic.Int32
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/oauth2/token") {
				_, _ = io.WriteString(w, `{"access_token":"t","expires_in":1800}`)
				return
			}
			sent.Add(1)
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, body)
		}))
		t.Cleanup(s.Close)
		_, err := gopay.New(s.URL, "id", "secret", goid, s.Client(), time.Now).Charge(t.Context(), charge("redirect"))
		require.Equal(t, sends == 1, err != nil)
		require.NotErrorIs(t, err, gateway.ErrNotSent)
		require.Equal(t, sends, sent.Load(), body)
	}
}

// TestSystemErrorsRefuseNothing: GoPay's own failure leaves the outcome unknown, with any status.
func TestSystemErrorsRefuseNothing(t *testing.T) {
	t.Parallel()
	_, err := says(t, http.StatusConflict, `{"errors":[{"message":"x"}]}`).Charge(t.Context(), charge("redirect"))
	require.Error(t, err, "it names no error")
	for _, status := range []int{http.StatusConflict, http.StatusInternalServerError} {
		_, err := says(t, status, `{"errors":[{"error_code":100,"error_name":"SYSTEM_ERROR"}]}`).Charge(t.Context(), charge("redirect"))
		require.ErrorContains(t, err, "SYSTEM_ERROR")
		require.NotErrorIs(t, err, gateway.ErrNotSent)
	}
	o := charged(t, says(t, http.StatusUnauthorized, `{"errors":[{"error_code":204}]}`), charge("redirect"))
	require.Equal(t, payment.NewFailure("provider_rejected", "204"), o.Failure)
	require.True(t, o.Refused)
	_, err = says(t, http.StatusUnauthorized, `<html>`).Charge(t.Context(), charge("redirect"))
	require.Error(t, err)
	_, err = says(t, http.StatusOK, `{"id":`+savedCard+`,"state":"PAID","amount":1999,"currency":"CZK"}`).Charge(t.Context(), charge(savedCard))
	require.Error(t, err, "it is the payment that saved the card")
}

func TestAccepts(t *testing.T) {
	t.Parallel()
	c, _ := opened(t)
	for name, test := range map[string]struct {
		change func(*gateway.Charge)
		fields []string
	}{
		"the page":        {func(*gateway.Charge) {}, nil},
		"an instrument":   {func(ch *gateway.Charge) { ch.Token = "BANK_ACCOUNT" }, nil},
		"no instrument":   {func(ch *gateway.Charge) { ch.Token = "bank account" }, []string{"payment_method.token"}},
		"nobody":          {func(ch *gateway.Charge) { ch.ReturnURL, ch.Customer.Email = "", "" }, []string{"return_url", "customer.email"}},
		"a card to save":  {func(ch *gateway.Charge) { ch.Save = true }, nil},
		"for nobody":      {func(ch *gateway.Charge) { ch.Save, ch.Customer.Reference = true, "" }, []string{"customer.reference"}},
		"no card to save": {func(ch *gateway.Charge) { ch.Save, ch.Token = true, "BANK_ACCOUNT" }, []string{"save_payment_method"}},
		"a saved card": {func(ch *gateway.Charge) {
			ch.Token, ch.Stored, ch.ReturnURL, ch.Customer.Email = savedCard, true, "", ""
		}, nil},
		"saved and held":   {func(ch *gateway.Charge) { ch.Token, ch.Stored, ch.Capture = savedCard, true, payment.CaptureManual }, []string{"capture"}},
		"a description":    {func(ch *gateway.Charge) { ch.ProviderData = map[string]json.RawMessage{"order_description": nil} }, nil},
		"another currency": {func(ch *gateway.Charge) { ch.ProviderData = map[string]json.RawMessage{"currency": nil} }, []string{"provider_data.currency"}},
	} {
		ch := charge("redirect")
		test.change(&ch)
		err := c.Accepts(ch)
		if test.fields == nil {
			require.NoError(t, err, name)
			continue
		}
		var wrong *payment.ValidationError
		require.ErrorAs(t, err, &wrong, name)
		var fields []string
		for _, f := range wrong.Fields {
			fields = append(fields, f.Field)
		}
		require.Equal(t, test.fields, fields, name)
	}
}
