package robokassa_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/robokassa"
)

// reach returns a client of a fake for another shop.
func reach(t *testing.T, f http.Handler, of robokassa.Shop) *robokassa.Client {
	t.Helper()
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	return client(t, s.URL, of, s.Client())
}

// verdicts returns a client of a fake that gives all commands for holds the same answer.
func verdicts(t *testing.T, f http.Handler, body string) *robokassa.Client {
	t.Helper()
	return reach(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			_, _ = io.WriteString(w, body)
			return
		}
		f.ServeHTTP(w, r)
	}), shop())
}

func xmlOf(result int, rest string) string {
	return fmt.Sprintf(`<?xml version="1.0" encoding="utf-8"?><OperationStateResponse xmlns="http://merchant.roboxchange.com/WebService/"><Result><Code>%d</Code><Description>Not for the customer.</Description></Result>%s</OperationStateResponse>`, result, rest)
}

func TestStates(t *testing.T) {
	t.Parallel()
	money := &payment.Money{Minor: 10000, Currency: "RUB"}
	for state, want := range map[int]gateway.Outcome{
		5:   {Event: fsm.EventActionRequired},
		10:  {Event: fsm.EventSoftFailed, PageOpen: true, Failure: payment.NewFailure("not_paid", "10")},
		20:  {Event: fsm.EventAuthorized, Money: money},
		50:  {Event: fsm.EventProcessing},
		60:  {Event: fsm.EventFailed, Failure: payment.NewFailure("canceled", "60")},
		80:  {Event: fsm.EventProcessing},
		100: {Event: fsm.EventSucceeded, Money: money},
		999: {Event: fsm.EventProcessing},
	} {
		want.ProviderPaymentID, want.References = "58", []string{"att_1"}
		c := says(t, xmlOf(0, fmt.Sprintf(`<State><Code>%d</Code></State><Info><IncSum>103.000000</IncSum><OutCurrLabel>BANKR</OutCurrLabel><OutSum>100.000000</OutSum></Info>
			<UserField><Field><Name>Shp_a</Name><Value>1</Value></Field><Field><Name>shp_payment_attempt_id</Name><Value>att_1</Value></Field></UserField>`, state)))
		got, err := c.Lookup(t.Context(), "58")
		require.NoError(t, err, "%d", state)
		require.Equal(t, want, got, "%d", state)
	}
}

func TestNothingIsMadeOfOtherAnswers(t *testing.T) {
	t.Parallel()
	for _, answer := range []string{
		"", "<html></html>", "{}", xmlOf(1, ""), xmlOf(2, ""), xmlOf(4, ""), xmlOf(1000, ""), xmlOf(0, ""), xmlOf(0, "<State></State>"),
		`<OperationStateResponse><State><Code>100</Code></State></OperationStateResponse>`, xmlOf(0, "<State><Code>x</Code></State>"),
		xmlOf(0, "<State><Code>100</Code></State><Info><OutSum>1.999</OutSum></Info>"),
	} {
		_, err := says(t, answer).Lookup(t.Context(), "58")
		require.Error(t, err, answer)
		require.NotErrorIs(t, err, gateway.ErrNoSuchPayment, answer)
	}
	_, err := client(t, "http://127.0.0.1:1", shop(), http.DefaultClient).Lookup(t.Context(), "x")
	require.ErrorIs(t, err, gateway.ErrNoSuchPayment, "it is no invoice number, and nothing is sent")
}

// TestAnotherPaymentUnderTheNumber: an operation without our mark is no evidence about the attempt.
func TestAnotherPaymentUnderTheNumber(t *testing.T) {
	t.Parallel()
	c, f := opened(t)
	ch := charge("redirect")
	_, err := c.Find(t.Context(), ch.Attempt)
	require.ErrorIs(t, err, gateway.ErrNoSuchPayment)
	id := visited(t, c, f, ch).ProviderPaymentID
	found, err := c.Find(t.Context(), ch.Attempt)
	require.NoError(t, err)
	require.Equal(t, id, found.ProviderPaymentID)
	f.operations[id].shop["Shp_payment_attempt_id"] = "another"
	_, err = c.Find(t.Context(), ch.Attempt)
	require.ErrorIs(t, err, gateway.ErrInconclusive)
}

// TestErrorsHaveNoSignature: the address of a lookup contains a signature, which is made from a password.
func TestErrorsHaveNoSignature(t *testing.T) {
	t.Parallel()
	_, err := client(t, "http://127.0.0.1:1", shop(), &http.Client{Transport: &http.Transport{}}).Lookup(t.Context(), "58")
	require.ErrorContains(t, err, "OpStateExt")
	require.NotContains(t, err.Error(), signature(shopLogin, "58", password2))
}
