package tbank_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/providertest"
	"github.com/paylatch/paylatch/webhooks"
	hooks "github.com/paylatch/paylatch/webhooks/tbank"
)

// due is provider_data with the end of a QR code.
func due(text string) map[string]json.RawMessage {
	return map[string]json.RawMessage{"RedirectDueDate": json.RawMessage(text)}
}

// The suite's tests of a page pass with each bank's app, too.
func TestConformanceOfApps(t *testing.T) {
	t.Parallel()
	for _, token := range []string{"sbp", "tpay", "sberpay"} {
		t.Run(token, func(t *testing.T) {
			t.Parallel()
			s := suite()
			s.Tokens.Redirect = token
			providertest.Run(t, s)
		})
	}
}

// mobile is the browser of a telephone.
func mobile() *gateway.Browser {
	return &gateway.Browser{UserAgent: "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148 Safari/604.1"}
}

func TestALinkToAnAppIsTheSecondCall(t *testing.T) {
	t.Parallel()
	for method, want := range map[string]struct{ line, data, url, shown string }{
		"sbp": {
			"POST /v2/GetQr", `{"OperationInitiatorType":"0"}`,
			"https://qr.nspk.ru/ID?type=02&sum=1999&cur=RUB", `{"type":"sbp","qr":"https://qr.nspk.ru/ID?type=02&sum=1999&cur=RUB"}`,
		},
		"tpay": {
			"GET /v2/TinkoffPay/transactions/ID/versions/2.0/link", `{"OperationInitiatorType":"0","TinkoffPayWeb":"true","Device":"Mobile"}`,
			"https://o.tbank.ru/tpay/ID", `{"type":"tpay","qr_url":"https://securepay.tinkoff.ru/tpay/qr/ID"}`,
		},
		"sberpay": {
			"GET /v2/SberPay/transactions/ID/link", `{"OperationInitiatorType":"0","SberPayWeb":"true","Device":"Mobile"}`,
			"https://sberpay.ru/app/ID", `{"type":"sberpay"}`,
		},
	} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			c, got := serve(t, newFake(t))
			ch := charge(method)
			ch.Stored, ch.Browser, ch.ProviderData = false, mobile(), due(`"2026-03-01T12:28:00+03:00"`)
			o := charged(t, c, ch)
			id := o.ProviderPaymentID
			named := func(text string) string { return strings.ReplaceAll(text, "ID", id) }
			require.Equal(t, gateway.Outcome{
				Event: fsm.EventActionRequired, ProviderPaymentID: id, Payee: terminal, Live: new(false), NextAction: &payment.NextAction{
					Type: payment.ActionDisplay, URL: named(want.url), Data: o.NextAction.Data, ExpiresAt: time.Date(2026, 3, 1, 9, 28, 0, 0, time.UTC),
				},
			}, o)
			require.JSONEq(t, named(want.shown), string(o.NextAction.Data))

			begun, linked := <-got, <-got
			require.Empty(t, got)
			in := scalars([]byte(begun.body))
			require.Equal(t, "2026-03-01T12:28:00+03:00", in["RedirectDueDate"])
			require.JSONEq(t, want.data, in[objectName+"DATA"])
			require.Equal(t, named(want.line), linked.line)
			if method == "sbp" {
				require.Contains(t, linked.body, `"PaymentId":`+id+`,`, "a number, as the bank's description has it")
				in = scalars([]byte(linked.body))
				require.Equal(t, token(in), in["Token"])
			}
		})
	}
}

// The customer never gets a link that fails. Whether the call arrived or not, nobody can pay, and the payment is
// cancelled.
func TestAPaymentWithoutItsLinkIsCancelled(t *testing.T) {
	t.Parallel()
	for _, token := range []string{"sbp", "tpay", "sberpay"} {
		for name, test := range map[string]struct {
			change func(f *fake) http.Handler
			why    *payment.Failure
		}{
			"not on this terminal": {func(f *fake) http.Handler { f.noApps = true; return f }, payment.NewFailure("provider_rejected", "3001")},
			"an answer that is lost": {func(f *fake) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.URL.Path != "/v2/Init" && r.URL.Path != "/v2/GetState" && r.URL.Path != "/v2/Cancel" {
						f.ServeHTTP(httptest.NewRecorder(), r)
						w.WriteHeader(http.StatusBadGateway)
						return
					}
					f.ServeHTTP(w, r)
				})
			}, payment.NewFailure("not_started", "")},
		} {
			t.Run(token+"/"+name, func(t *testing.T) {
				t.Parallel()
				f := serving(nil)
				c, _ := serve(t, test.change(f))
				ch := charge(token)
				ch.Stored = false
				o := charged(t, c, ch)
				require.Equal(t, gateway.Outcome{Event: fsm.EventSoftFailed, ProviderPaymentID: o.ProviderPaymentID, Failure: test.why}, o)
				over, err := c.Cancel(t.Context(), gateway.Cancel{ProviderPaymentID: o.ProviderPaymentID, Permit: permit()})
				require.NoError(t, err)
				require.Equal(t, fsm.EventFailed, over.Event)
				require.Equal(t, "CANCELED", f.payments[o.ProviderPaymentID].status)
			})
		}
	}
}

// The bank's notification, or a lookup, ends a payment in an app. A QR code that nobody paid in time has expired.
func TestANotificationEndsAPaymentInAnApp(t *testing.T) {
	t.Parallel()
	v, err := hooks.New(webhooks.Config{Secrets: []string{password}, Params: map[string]string{"terminal_key": terminal}})
	require.NoError(t, err)
	for status, want := range map[string]struct {
		kind    webhooks.Kind
		event   fsm.Event
		failure string
	}{
		"CONFIRMED":        {webhooks.KindSucceeded, fsm.EventSucceeded, ""},
		"DEADLINE_EXPIRED": {webhooks.KindFailed, fsm.EventFailed, "expired"},
		"REJECTED":         {webhooks.KindFailed, fsm.EventFailed, "card_declined"},
	} {
		t.Run(status, func(t *testing.T) {
			t.Parallel()
			f := serving(nil)
			c, _ := serve(t, f)
			ch := charge("sbp")
			ch.Stored = false
			o := charged(t, c, ch)
			p := f.payments[o.ProviderPaymentID]
			p.status = status
			if status == "REJECTED" {
				p.code = "1005"
			}
			now, err := c.Lookup(t.Context(), o.ProviderPaymentID)
			require.NoError(t, err)
			require.Equal(t, want.event, now.Event)

			body, err := json.Marshal(object{
				"TerminalKey": terminal, "OrderId": p.order, "Success": want.failure == "", "Status": status, "PaymentId": json.Number(p.id), "ErrorCode": p.code,
				"Amount": 1999, "Data": object{"Source": "sbpqr"},
			})
			require.NoError(t, err)
			d := webhooks.Delivery{Body: body}
			require.NoError(t, v.Sign(&d))
			events, err := v.Verify(t.Context(), d)
			require.NoError(t, err)
			require.Equal(t, want.kind, events[0].Kind)
			require.Equal(t, o.ProviderPaymentID, events[0].ProviderPaymentID)
			require.Equal(t, want.failure, string(events[0].FailureCode))
			if want.failure != "" {
				require.Equal(t, want.failure, now.Failure.Code)
				return
			}
			require.Equal(t, rub(1999), *now.Money)
		})
	}
}
