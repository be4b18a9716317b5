package stripe_test

import (
	"bufio"
	"encoding/json"
	"net/http"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/stripe"
)

// startMock runs stripe-mock, Stripe's own server. It checks requests against Stripe's OpenAPI description and answers
// with examples. It stores nothing.
func startMock(t *testing.T) *stripe.Client {
	t.Helper()
	built, err := exec.CommandContext(t.Context(), "../../../scripts/tool", "stripe-mock").Output()
	if err != nil {
		t.Skipf("stripe-mock can't be built here: %v", err)
	}
	mock := exec.CommandContext(t.Context(), strings.TrimSpace(string(built)), "-http-addr", "127.0.0.1:0", "-https-addr", "127.0.0.1:0")
	out, err := mock.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, mock.Start())
	t.Cleanup(func() {
		_ = mock.Process.Kill()
		_ = mock.Wait()
	})
	address := regexp.MustCompile(`HTTP at address: (\S+)`)
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if found := address.FindStringSubmatch(lines.Text()); found != nil {
			client := &http.Client{Transport: &http.Transport{}}
			t.Cleanup(client.CloseIdleConnections)
			return stripe.New("http://"+found[1], "sk_test_123", client)
		}
	}
	require.Fail(t, "stripe-mock ended without an address")
	return nil
}

// carrying sets all members that Stripe accepts.
func carrying(c *gateway.Charge) {
	home := &gateway.Address{Line1: "Street 1", Line2: "3rd floor", City: "Berlin", PostalCode: "10115", State: "BE", Country: "DE"}
	c.Save, c.StatementDescriptor = true, "SHOP A-1"
	c.Customer = gateway.Customer{
		Reference: "cus_1", Email: "jane@shop.example", Name: "Jane Doe", Phone: "+4930901820", IP: "203.0.113.7", Billing: home, Shipping: home,
	}
	c.Browser = &gateway.Browser{UserAgent: "Mozilla/5.0"}
	c.Lines = []gateway.Line{
		{Description: "Ticket", Quantity: "2", UnitAmount: 1000, Amount: 2000, SKU: "T-1"}, {Description: "Voucher", Quantity: "1", UnitAmount: -1, Amount: -1},
	}
	c.ProviderData = map[string]json.RawMessage{
		"transfer_data": json.RawMessage(`{"destination":"acct_1"}`), "application_fee_amount": json.RawMessage(`123`),
		"on_behalf_of": json.RawMessage(`"acct_1"`), "payment_method_options": json.RawMessage(`{"card":{"request_three_d_secure":"any"}}`),
		"payment_method_types": json.RawMessage(`["card","klarna"]`), "transfer_group": json.RawMessage(`"G"`), "use_stripe_sdk": json.RawMessage(`true`),
		"radar_options": json.RawMessage(`{"session":"rse_1"}`),
	}
}

func TestRequestsFitStripesDescription(t *testing.T) {
	t.Parallel()
	c := startMock(t)
	t.Run("charge", func(t *testing.T) {
		t.Parallel()
		for _, change := range []func(*gateway.Charge){
			func(*gateway.Charge) {},
			func(c *gateway.Charge) { c.ReturnURL = "" },
			func(c *gateway.Charge) { c.Capture = payment.CaptureManual },
			func(c *gateway.Charge) { c.Token = "ctoken_1" },
			func(c *gateway.Charge) { c.Money = payment.Money{Minor: 500, Currency: "JPY"} },
			carrying,
			func(c *gateway.Charge) { carrying(c); c.MethodType = "klarna" },
			func(c *gateway.Charge) { carrying(c); c.Token, c.Save, c.ProviderData = "klarna", false, nil },
			func(c *gateway.Charge) {
				c.Token, c.Stored, c.Unattended, c.Customer.Reference = "pm_1", true, true, "cus_1"
			},
		} {
			ch := charge("pm_card_visa")
			change(&ch)
			o := charged(t, c, ch)
			require.NotEmpty(t, o.ProviderPaymentID)
			require.NotEqual(t, fsm.EventFailed, o.Event)
		}
	})
	t.Run("commands", func(t *testing.T) {
		t.Parallel()
		o, err := c.Capture(t.Context(), gateway.Capture{
			ProviderPaymentID: "pi_1", Money: payment.Money{Minor: 5, Currency: "EUR"}, IdempotencyKey: "1-capture-0", Permit: permit(),
		})
		require.NoError(t, err)
		require.False(t, o.Refused)
		_, err = c.Complete(t.Context(), gateway.Completion{ProviderPaymentID: "pi_1", IdempotencyKey: "1-complete-0", Permit: permit()})
		require.NoError(t, err)
		o, err = c.Cancel(t.Context(), gateway.Cancel{ProviderPaymentID: "pi_1", IdempotencyKey: "1-cancel-0", Permit: permit()})
		require.NoError(t, err)
		require.False(t, o.Refused)
		r, err := c.Refund(t.Context(), gateway.RefundCall{
			ProviderPaymentID: "pi_1", Money: payment.Money{Minor: 5, Currency: "EUR"}, IdempotencyKey: "2-refund", Permit: permit(),
		})
		require.NoError(t, err)
		require.Equal(t, fsm.EventSucceeded, r.Event)
		require.EqualValues(t, 5, r.Money.Minor)
	})
	t.Run("questions", func(t *testing.T) {
		t.Parallel()
		o, err := c.Lookup(t.Context(), "pi_1")
		require.NoError(t, err)
		require.Equal(t, "pi_1", o.ProviderPaymentID)
		r, err := c.LookupRefund(t.Context(), gateway.RefundRef{ProviderRefundID: "re_1"})
		require.NoError(t, err)
		require.Equal(t, "re_1", r.ProviderRefundID)
		// The mock's examples have other references.
		_, err = c.Find(t.Context(), payment.AttemptID(uuid.New()))
		require.ErrorIs(t, err, gateway.ErrNoSuchPayment)
		_, err = c.LookupRefund(t.Context(), gateway.RefundRef{Refund: payment.RefundID(uuid.New()), ProviderPaymentID: "pi_1"})
		require.ErrorIs(t, err, gateway.ErrNoSuchPayment)
	})
	// The description lacks card tokens of the Tokens API, so the mock refuses them. This also shows that the mock
	// checks requests.
	t.Run("refusal", func(t *testing.T) {
		t.Parallel()
		o := charged(t, c, charge("tok_visa"))
		require.Equal(t, gateway.Outcome{Event: fsm.EventFailed, Refused: true, Failure: payment.NewFailure("provider_rejected", "")}, o)
	})
}
