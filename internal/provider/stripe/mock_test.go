package stripe_test

import (
	"bufio"
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

// startMock runs stripe-mock, Stripe's own server that checks requests against
// its OpenAPI description and answers with examples. It keeps nothing.
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
		} {
			ch := charge("pm_card_visa")
			change(&ch)
			o := charged(t, c, ch)
			require.NotEmpty(t, o.ProviderPaymentID)
			require.NotEqual(t, fsm.NewsFailed, o.News)
		}
	})
	t.Run("commands", func(t *testing.T) {
		t.Parallel()
		o, err := c.Capture(t.Context(), gateway.Capture{
			ProviderPaymentID: "pi_1", Money: payment.Money{Minor: 5, Currency: "EUR"}, IdempotencyKey: "1-capture-0", Permit: permit(),
		})
		require.NoError(t, err)
		require.False(t, o.Refused)
		o, err = c.Cancel(t.Context(), gateway.Cancel{ProviderPaymentID: "pi_1", IdempotencyKey: "1-cancel-0", Permit: permit()})
		require.NoError(t, err)
		require.False(t, o.Refused)
		r, err := c.Refund(t.Context(), gateway.RefundCall{
			ProviderPaymentID: "pi_1", Money: payment.Money{Minor: 5, Currency: "EUR"}, IdempotencyKey: "2-refund", Permit: permit(),
		})
		require.NoError(t, err)
		require.Equal(t, fsm.NewsSucceeded, r.News)
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
		// Its examples are nobody's whom we ask for.
		_, err = c.Find(t.Context(), payment.AttemptID(uuid.New()))
		require.ErrorIs(t, err, gateway.ErrNoSuchPayment)
		_, err = c.LookupRefund(t.Context(), gateway.RefundRef{Refund: payment.RefundID(uuid.New()), ProviderPaymentID: "pi_1"})
		require.ErrorIs(t, err, gateway.ErrNoSuchPayment)
	})
	// The description leaves out how a card token of the Tokens API is sent, so
	// the mock refuses it: which shows, too, that it does check.
	t.Run("refusal", func(t *testing.T) {
		t.Parallel()
		o := charged(t, c, charge("tok_visa"))
		require.Equal(t, gateway.Outcome{News: fsm.NewsFailed, Refused: true, Failure: payment.NewFailure("provider_rejected", "")}, o)
	})
}
