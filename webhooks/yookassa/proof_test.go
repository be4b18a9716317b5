package yookassa_test

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/internal/providertest"
	"github.com/paylatch/paylatch/webhooks/yookassa"
)

// yookassaSender sends from an address of YooKassa's, which is all the proof that there is.
type yookassaSender struct{ *yookassa.Verifier }

func (yookassaSender) Sign(d *webhooks.Delivery) error {
	d.RemoteAddr = netip.MustParseAddr("185.71.76.1")
	return nil
}

func newVerifier(tb testing.TB, allowed ...netip.Prefix) yookassaSender {
	tb.Helper()
	v, err := yookassa.New(webhooks.Config{AllowedIPs: allowed})
	require.NoError(tb, err)
	return yookassaSender{v}
}

// yookassaBody returns a notification about an object with these further members.
func yookassaBody(event, members string) string {
	return fmt.Sprintf(`{"type":"notification","event":%q,"object":{"id":"pay-1","amount":{"value":"19.99","currency":"RUB"}%s}}`, event, members)
}

func TestEvent(t *testing.T) {
	t.Parallel()
	require.Equal(t, webhooks.Event{
		ID: "payment.succeeded:pay-1:succeeded:2026-03-14T15%3A09%3A26Z", IDSource: webhooks.Derived,
		Type: "payment.succeeded", Kind: webhooks.KindSucceeded, NeedsFetch: true,
		References: []string{"att_1", "pay-1"}, ProviderPaymentID: "pay-1",
		Money:      &webhooks.Money{Minor: 1999, Currency: "RUB"},
		OccurredAt: time.Date(2026, 3, 14, 15, 9, 20, 0, time.UTC), Mode: webhooks.ModeTest, SecretIndex: -1,
	}, providertest.Parsed(t, newVerifier(t), yookassaBody("payment.succeeded", `,"status":"succeeded","test":true,`+
		`"captured_at":"2026-03-14T15:09:20Z","metadata":{"payment_attempt_id":"att_1","order_id":"A-17"}`)))
}

func TestKinds(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		event, members string
		kind           webhooks.Kind
		failure        string
	}{
		"held":                  {"payment.waiting_for_capture", ``, webhooks.KindAuthorized, ""},
		"paid":                  {"payment.succeeded", ``, webhooks.KindSucceeded, ""},
		"declined":              {"payment.canceled", `,"cancellation_details":{"reason":"insufficient_funds"}`, webhooks.KindFailed, "insufficient_funds"},
		"expired":               {"payment.canceled", `,"cancellation_details":{"reason":"expired_on_capture"}`, webhooks.KindFailed, "expired"},
		"cancelled by us":       {"payment.canceled", `,"cancellation_details":{"reason":"canceled_by_merchant"}`, webhooks.KindFailed, "canceled"},
		"cancelled, no details": {"payment.canceled", `,"cancellation_details":null`, webhooks.KindFailed, "provider_rejected"},
		"refunded":              {"refund.succeeded", `,"payment_id":"pay-0"`, webhooks.KindRefundSucceeded, ""},
		"payout":                {"payout.succeeded", ``, webhooks.KindIgnored, ""},
		"unknown, of any shape": {"deal.closed", `,"amount":7,"metadata":[]`, webhooks.KindIgnored, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := providertest.Parsed(t, newVerifier(t), yookassaBody(test.event, test.members))
			require.Equal(t, test.kind, e.Kind)
			require.Equal(t, test.failure, string(e.FailureCode))
			require.Equal(t, test.kind != webhooks.KindIgnored, e.NeedsFetch, "what nobody signed must be asked for")
		})
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	e := providertest.Parsed(t, newVerifier(t), yookassaBody("refund.succeeded", `,"payment_id":"pay-0","metadata":{"refund_id":"rf_1"}`))
	require.Equal(t, "pay-0", e.ProviderPaymentID)
	require.Equal(t, []string{"pay-1", "rf_1"}, []string{e.RefundID, e.RefundReference})
	require.Equal(t, []string{"pay-0"}, e.References)
	e = providertest.Parsed(t, newVerifier(t), yookassaBody("payment.succeeded", `,"metadata":{"order_id":"A-17"}`))
	require.Equal(t, []string{"pay-1", "A-17"}, e.References, "the order's name only where there is no attempt's")
}

// TestNotificationIsNeverADuplicate: a forged notification must not prevent the lookup for the real notification.
func TestNotificationIsNeverADuplicate(t *testing.T) {
	t.Parallel()
	v := newVerifier(t)
	first := providertest.Signed(t, v, yookassaBody("payment.succeeded", ``))
	second := first
	second.ReceivedAt = providertest.Now.Add(time.Second)
	a, err := v.Verify(t.Context(), first)
	require.NoError(t, err)
	b, err := v.Verify(t.Context(), second)
	require.NoError(t, err)
	require.NotEqual(t, a[0].ID, b[0].ID)
}

func TestSenders(t *testing.T) {
	t.Parallel()
	own := netip.MustParsePrefix("10.0.0.0/8")
	mapped := netip.MustParsePrefix("::ffff:10.0.0.0/104")
	for name, test := range map[string]struct {
		address string
		allowed []netip.Prefix
		want    error
	}{
		"documented":            {"77.75.156.11", nil, nil},
		"documented, mapped":    {"::ffff:77.75.156.11", nil, nil},
		"another":               {"77.75.156.35", nil, nil},
		"first network":         {"185.71.76.31", nil, nil},
		"second network":        {"185.71.77.31", nil, nil},
		"third network":         {"77.75.153.127", nil, nil},
		"fourth network":        {"77.75.154.255", nil, nil},
		"beside the first":      {"185.71.76.32", nil, webhooks.ErrSender},
		"beside the fourth":     {"77.75.154.127", nil, webhooks.ErrSender},
		"beside it":             {"77.75.156.12", nil, webhooks.ErrSender},
		"IPv6":                  {"2a02:5180::1", nil, nil},
		"with a zone":           {"2a02:5180::1%eth0", nil, nil},
		"none":                  {"", nil, webhooks.ErrSender},
		"own list":              {"10.1.2.3", []netip.Prefix{own}, nil},
		"own list, mapped":      {"::ffff:10.1.2.3", []netip.Prefix{own}, nil},
		"mapped list":           {"10.1.2.3", []netip.Prefix{mapped}, nil},
		"own list in its place": {"77.75.156.11", []netip.Prefix{own}, webhooks.ErrSender},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := providertest.Unsigned(yookassaBody("payment.succeeded", ``))
			if test.address != "" {
				d.RemoteAddr = netip.MustParseAddr(test.address)
			}
			_, err := newVerifier(t, test.allowed...).Verify(t.Context(), d)
			require.ErrorIs(t, err, test.want)
		})
	}
}

func TestUnreadable(t *testing.T) {
	t.Parallel()
	v := newVerifier(t)
	for name, body := range map[string]string{
		"not JSON":           `event`,
		"no object":          `{"event":"payment.succeeded"}`,
		"no id":              `{"event":"payment.succeeded","object":{}}`,
		"id is a path":       yookassaBody("payment.succeeded", `,"id":"../refunds/1"`),
		"payment is a path":  yookassaBody("refund.succeeded", `,"payment_id":"a?b"`),
		"amount is no money": yookassaBody("payment.succeeded", `,"amount":{"value":"1,5","currency":"RUB"}`),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			providertest.RequireUnreadable(t, v, providertest.Signed(t, v, body))
		})
	}
	require.Equal(t, webhooks.Ack{Status: http.StatusOK}, v.Ack(webhooks.Delivery{}, nil), "any other code counts as not delivered")
}

func ExampleVerifier_Verify() {
	yookassa, err := yookassa.New(webhooks.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	events, err := yookassa.Verify(context.Background(), webhooks.Delivery{
		Body: []byte(`{"type":"notification","event":"payment.succeeded","object":{"id":"2d6d597","status":"succeeded",` +
			`"amount":{"value":"2.00","currency":"RUB"},"metadata":{"payment_attempt_id":"att_1"}}}`),
		RemoteAddr: netip.MustParseAddr("::ffff:185.71.76.1"),
	})
	fmt.Println(err)
	for _, e := range events {
		fmt.Println(e.Kind, e.NeedsFetch, e.References, *e.Money)
	}
	// Output:
	// <nil>
	// succeeded true [att_1 2d6d597] {200 RUB}
}

func FuzzVerify(f *testing.F) {
	for _, body := range []string{
		yookassaBody("payment.canceled", `,"cancellation_details":{"reason":"expired_on_capture"}`),
		yookassaBody("refund.succeeded", `,"payment_id":"a"`), `{"event":"payout.succeeded","object":7}`, `null`, ``,
	} {
		f.Add([]byte(body), []byte{185, 71, 76, 31})
	}
	f.Add([]byte(`{}`), []byte{77, 75, 156, 12})
	v := newVerifier(f)
	f.Fuzz(func(t *testing.T, body, address []byte) {
		d := providertest.Signed(t, v, string(body))
		providertest.Parse(t, v, d)
		addr, ok := netip.AddrFromSlice(address)
		if !ok {
			return
		}
		d.RemoteAddr = addr
		_, first := v.Verify(t.Context(), d)
		if addr.Is4() {
			d.RemoteAddr = netip.AddrFrom16(addr.As16())
			_, mapped := v.Verify(t.Context(), d)
			require.Equal(t, fmt.Sprint(first), fmt.Sprint(mapped), "a mapped address is the same sender")
		}
	})
}

// TestFailureCode: a shop's page shows the customer the next step by this code.
func TestFailureCode(t *testing.T) {
	t.Parallel()
	providertest.Reasons(t, yookassa.FailureCode, map[string]string{
		"card_declined":      "call_issuer|card_expired|general_decline|invalid_card_number|invalid_csc",
		"insufficient_funds": "insufficient_funds|payment_method_limit_exceeded", "authentication_failed": "3d_secure_failed",
		"fraud_suspected": "fraud_suspected", "canceled": "canceled_by_merchant|permission_revoked",
		"expired": "expired_on_confirmation|expired_on_capture|deal_expired|internal_timeout", "provider_rejected": "|new",
	})
}
