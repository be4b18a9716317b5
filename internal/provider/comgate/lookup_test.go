package comgate_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/comgate"
	"github.com/paylatch/paylatch/internal/provider/comgate/comgatetest"
	"github.com/paylatch/paylatch/internal/provider/providertest"
	"github.com/paylatch/paylatch/webhooks"
	hooks "github.com/paylatch/paylatch/webhooks/comgate"
)

// answering returns a client of a server that gives each status request this answer.
func answering(t *testing.T, answer string) *comgate.Client {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || r.URL.Path != "/v1.0/status" || r.PostFormValue("merchant") != "123456" ||
			r.PostFormValue("secret") != "shop-secret" || r.PostFormValue("transId") != "AB12-EF34" {
			t.Errorf("%s %s %v", r.Method, r.URL, r.PostForm)
		}
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(s.Close)
	return comgate.New(s.URL, "123456", "shop-secret", s.Client())
}

const found = "code=0&message=OK&merchant=123456&test=true&price=1999&curr=CZK&label=Order&refId=att_1&email=a%40shop.example&transId=AB12-EF34&secret=shop-secret"

func TestLookup(t *testing.T) {
	t.Parallel()
	czk := &payment.Money{Minor: 1999, Currency: "CZK"}
	for status, want := range map[string]gateway.Outcome{
		"PENDING":    {Event: fsm.EventActionRequired},
		"AUTHORIZED": {Event: fsm.EventAuthorized, Money: czk},
		"PAID":       {Event: fsm.EventSucceeded, Money: czk},
		"CANCELLED":  {Event: fsm.EventFailed, Failure: payment.NewFailure("canceled", "")},
		"UNHEARD_OF": {Event: fsm.EventProcessing},
	} {
		want.ProviderPaymentID, want.References, want.Payee, want.Live = "AB12-EF34", []string{"att_1"}, "123456", new(false)
		got, err := answering(t, found+"&status="+status).Lookup(t.Context(), "AB12-EF34")
		require.NoError(t, err, status)
		require.Equal(t, want, got, status)
	}
}

// The mode comes from the payment and not from the account.
func TestLookup_tells_the_mode(t *testing.T) {
	t.Parallel()
	for test, want := range map[string]*bool{"&test=true": new(false), "&test=false": new(true), "": nil} {
		got, err := answering(t, "code=0&transId=AB12-EF34&status=PENDING"+test).Lookup(t.Context(), "AB12-EF34")
		require.NoError(t, err)
		require.Equal(t, want, got.Live, test)
	}
}

// TestOnePayment: Comgate names a payment by its transId, beginning with the answer to create.
func TestOnePayment(t *testing.T) {
	t.Parallel()
	f := comgatetest.New()
	c, _ := serve(t, f)
	o := charged(t, c, charge("redirect"))
	f.Pay(o.ProviderPaymentID)
	v, err := hooks.New(webhooks.Config{Secrets: []string{comgatetest.Secret}})
	require.NoError(t, err)
	body := "merchant=" + comgatetest.Merchant + "&test=false&price=1999&curr=CZK&refId=x&status=PAID&transId=" + o.ProviderPaymentID
	providertest.NamedAlike(t, providertest.Paid{Provider: c, Charged: o, Webhook: v.Read(webhooks.Delivery{Body: []byte(body)})[0]})
}

func TestNothingIsMadeOfOtherAnswers(t *testing.T) {
	t.Parallel()
	_, err := answering(t, "code=1400&message=Payment+not+found").Lookup(t.Context(), "AB12-EF34")
	require.ErrorIs(t, err, gateway.ErrNoSuchPayment)
	for _, answer := range []string{
		"", "<html>", "null", `{"code":0}`, "code=1500&message=x&secret=shop-secret", found,
		"code=0&transId=OTHER&status=PAID", "code=0&merchant=654321&transId=AB12-EF34&status=PAID",
		"code=0&transId=AB12-EF34&status=PAID", "code=0&transId=AB12-EF34&status=PAID&price=-1&curr=CZK", "code=0&transId=AB12-EF34&status=PAID&price=19.99&curr=CZK",
	} {
		_, err := answering(t, answer).Lookup(t.Context(), "AB12-EF34")
		require.Error(t, err, answer)
		require.NotErrorIs(t, err, gateway.ErrNoSuchPayment, answer)
		require.NotContains(t, err.Error(), "shop-secret")
	}
}

// Comgate has one code for all wrong requests. A forbidden address is no proof that a payment was never made or belongs
// to another customer.
func TestARequestThatIsNotAllowed(t *testing.T) {
	t.Parallel()
	for _, answer := range []string{"code=1400&message=Access+from+unauthorized+location+%5B192.0.2.1%5D%21", "code=1400&message=Unauthorized+access%21", "code=1400"} {
		c := answering(t, answer)
		_, err := c.Lookup(t.Context(), "AB12-EF34")
		require.ErrorContains(t, err, "the address of this service")
		require.NotErrorIs(t, err, gateway.ErrNoSuchPayment, answer)
		require.Equal(t, err, c.CheckOwner(t.Context(), "AB12-EF34", comgatetest.Owner))
	}
}
