package square_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/providertest"
	"github.com/paylatch/paylatch/internal/provider/square"
)

func TestCarries(t *testing.T) {
	t.Parallel()
	providertest.Carries(t, suite(), square.Adapter(),
		func(c *gateway.Charge) { c.Token = cardOK },
		func(c *gateway.Charge) { c.Token, c.Stored = cardOnFile, true },
	)
}

// described returns a client of the fake, checked against Square's own description.
func described(t *testing.T) (*square.Client, *fake, <-chan request) {
	t.Helper()
	f := newFake()
	h := providertest.Described(t, document, "", f)
	c, seen := serve(t, h)
	return c, f, seen
}

func TestAPaymentWithAllThatItCarries(t *testing.T) {
	t.Parallel()
	c, _, seen := described(t)
	ch := charge(cardOK)
	ch.StatementDescriptor = "SHOP A-1"
	ch.Customer = gateway.Customer{
		Reference: "u-1", Email: "jane@shop.example", Phone: "+4930901820", Name: "Jane Doe", IP: "203.0.113.9",
		Billing:  &gateway.Address{Line1: "Billing Street 1", Line2: "3rd floor", City: "Berlin", PostalCode: "10115", State: "BE", Country: "DE"},
		Shipping: &gateway.Address{Line1: "Shipping Street 2", Country: "DE"},
	}
	ch.ProviderData = map[string]json.RawMessage{
		"verification_token": json.RawMessage(`"verf:CBASEL"`), "amount_money": json.RawMessage(`{"amount":1}`), "customer_id": json.RawMessage(`"ANOTHER"`),
	}
	require.Equal(t, euro(1999), *charged(t, c, ch).Money)
	require.JSONEq(t, `{"source_id":"cnon:card-nonce-ok","idempotency_key":"0123-pay","amount_money":{"amount":1999,"currency":"EUR"},
		"autocomplete":true,"reference_id":"`+ch.Attempt.String()+`","note":"Order A-1","statement_description_identifier":"SHOP A-1",
		"buyer_email_address":"jane@shop.example","buyer_phone_number":"+4930901820","verification_token":"verf:CBASEL",
		"billing_address":{"address_line_1":"Billing Street 1","address_line_2":"3rd floor","locality":"Berlin","administrative_district_level_1":"BE","postal_code":"10115","country":"DE"},
		"shipping_address":{"address_line_1":"Shipping Street 2","country":"DE"}}`, (<-seen).body)
}

// A card on file is charged with its customer, or by the merchant alone.
func TestWhoChargesACardOnFile(t *testing.T) {
	t.Parallel()
	for unattended, want := range map[bool]string{
		false: `{"customer_initiated":true,"seller_keyed_in":false}`, true: `{"customer_initiated":false,"seller_keyed_in":false}`,
	} {
		c, _, seen := described(t)
		ch := charge(cardOnFile)
		ch.Customer.Reference, ch.Unattended = cardHolder, unattended
		require.Equal(t, fsm.EventSucceeded, charged(t, c, ch).Event)
		var sent map[string]json.RawMessage
		require.NoError(t, json.Unmarshal([]byte((<-seen).body), &sent))
		require.JSONEq(t, want, string(sent["customer_details"]))
		require.JSONEq(t, `"`+cardHolder+`"`, string(sent["customer_id"]))
	}
}

func TestAccepts(t *testing.T) {
	t.Parallel()
	c := square.New("", secret, http.DefaultClient)
	for name, test := range map[string]struct {
		change func(*gateway.Charge)
		fields []string
	}{
		"a card":               {func(*gateway.Charge) {}, nil},
		"a descriptor":         {func(c *gateway.Charge) { c.StatementDescriptor = strings.Repeat("ä", 20) }, nil},
		"a long descriptor":    {func(c *gateway.Charge) { c.StatementDescriptor = strings.Repeat("a", 21) }, []string{"statement_descriptor"}},
		"a long address":       {func(c *gateway.Charge) { c.Customer.Email = strings.Repeat("a", 244) + "@shop.example" }, []string{"customer.email"}},
		"a telephone":          {func(c *gateway.Charge) { c.Customer.Phone = "+4930901820" }, nil},
		"a short telephone":    {func(c *gateway.Charge) { c.Customer.Phone = "+49309018" }, []string{"customer.phone"}},
		"a card of nobody":     {func(c *gateway.Charge) { c.Token, c.Stored, c.Customer.Reference = cardOnFile, true, "" }, []string{"customer.reference"}},
		"a source of no money": {func(c *gateway.Charge) { c.Token = "CASH" }, []string{"payment_method.token"}},
		"their own members": {
			func(c *gateway.Charge) {
				c.ProviderData = map[string]json.RawMessage{"verification_token": nil, "team_member_id": nil}
			}, nil,
		},
		"ours": {
			func(c *gateway.Charge) {
				c.ProviderData = map[string]json.RawMessage{"amount_money": nil, "app_fee_money": nil, "customer_id": nil, "idempotency_key": nil, "reference_id": nil}
			},
			[]string{"provider_data.amount_money", "provider_data.app_fee_money", "provider_data.customer_id", "provider_data.idempotency_key", "provider_data.reference_id"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ch := charge(cardOK)
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
