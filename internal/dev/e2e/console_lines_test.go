package e2e_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// keyed is an order with a refunded payment, and with requests that were refused, under keys of their own: a press in another window, and a
// refund of too much. Another order was cancelled before it was paid.
type keyed struct {
	attempt                                       attempt
	refund                                        string
	refundKey, pressKey, tooMuchKey               string
	cancelled, cancelKey, afterCancel, refundedBy string
}

func (s *demoShop) keyed(t *testing.T) keyed {
	t.Helper()
	c := s.customer()
	shop := client{base: s.base, token: token("shop-backend", "service")}
	k := keyed{refundKey: unique("refund"), pressKey: unique("window"), tooMuchKey: unique("much"), cancelled: unique("o"), cancelKey: unique("cancel"), afterCancel: unique("after")}
	k.attempt = c.settled(t, s.bought(t, unique("o"), "tok_success").ID)
	refund := func(key, body string, status int) {
		shop.send(t.Context(), http.MethodPost, "/v1/payment-attempts/"+k.attempt.ID+"/refunds", body, "Idempotency-Key: "+key, "On-Behalf-Of: u1").is(t, status)
	}
	refund(k.refundKey, `{"amount":500}`, http.StatusCreated)
	refund(k.tooMuchKey, `{"amount":5000}`, http.StatusConflict)
	c.pay(t.Context(), k.attempt.OrderID, k.pressKey, "tok_success").is(t, http.StatusConflict)
	c.createOrder(t.Context(), k.cancelled, unique("order")).is(t, http.StatusCreated)
	c.send(t.Context(), http.MethodPost, "/v1/orders/"+k.cancelled+"/cancel", `{}`, "Idempotency-Key: "+k.cancelKey).is(t, http.StatusOK)
	c.pay(t.Context(), k.cancelled, k.afterCancel, "tok_success").is(t, http.StatusConflict)
	k.refund = one[string](t, s.rig, `SELECT refund_id::text FROM refunds WHERE attempt_id = $1`, k.attempt.ID)
	k.refundedBy = one[string](t, s.rig, `SELECT provider_refund_id FROM refunds WHERE attempt_id = $1`, k.attempt.ID)
	eventually(t, "what was requested", func() bool {
		return one[int](t, s.rig, `SELECT count(*)::int FROM attempt_log WHERE key = $1`, k.afterCancel) == 1
	})
	return k
}

// TestAKeyLeadsToItsLine: the page marks the lines of a request's key, and of a refund by any of its ids, without scripts, too.
func TestAKeyLeadsToItsLine(t *testing.T) {
	t.Parallel()
	s := openConsole(t)
	k := s.keyed(t)
	sam := signedIn(t, s.base, "sam", "support")
	payment, ordered, whole := "/support/attempts/"+k.attempt.ID, "/support/orders?id="+k.attempt.OrderID, "/support/orders?id="+k.cancelled
	leads := map[string]struct{ to, says string }{
		k.refundKey:  {payment + "#refund-" + k.refund, "A refund of €5.00 was requested."},
		k.refund:     {payment + "#refund-" + k.refund, "A refund of €5.00 was requested."},
		k.refundedBy: {payment + "#refund-" + k.refund, "A refund of €5.00 was requested."},
		k.pressKey:   {ordered + "#key-" + k.pressKey, "it was refused because the order was paid already"},
		k.tooMuchKey: {payment + "#key-" + k.tooMuchKey, "it was refused because the amount was larger than the refundable amount"},
		k.cancelKey:  {whole + "#key-" + k.cancelKey, "requested the cancellation of the order"},
		k.afterCancel: {
			whole + "#key-" + k.afterCancel, "it was refused because the order was cancelled",
		},
		*k.attempt.ClientRequestID: {payment, ""},
	}
	for quoted, want := range leads {
		found := sam.get("/support?" + formOf("q", quoted))
		found.is(t, http.StatusSeeOther)
		require.Equal(t, want.to, found.header.Get("Location"), quoted)
	}
	t.Run("in a browser", func(t *testing.T) {
		t.Parallel()
		b := scriptless(t)
		b.signIn(s.base, token("pat", "support"))
		for quoted, want := range leads {
			b.open(s.base + "/support?" + formOf("q", quoted))
			to, err := url.Parse(want.to)
			require.NoError(t, err)
			b.until(`location.hash === ` + quote("#"+to.Fragment) + ` || location.hash + ` + quote(to.Fragment) + ` === ""`)
			marked := eval[string](b, `[...document.querySelectorAll(":target")].map((e) => e.innerText).join("|")`)
			if want.says == "" {
				require.Empty(t, marked)
				continue
			}
			require.Contains(t, marked, "What was searched for:")
			require.Contains(t, marked, want.says)
			require.Equal(t, 1, eval[int](b, `[...document.querySelectorAll(".sought")].filter((e) => e.checkVisibility()).length`), "one line is marked")
			require.Equal(t, "2px solid", eval[string](b, `(({outlineWidth, outlineStyle}) => outlineWidth + " " + outlineStyle)(getComputedStyle(document.querySelector(":target")))`))
		}
		for _, width := range []int64{360, 1280} {
			b.do(chromedp.EmulateViewport(width, 900))
			for name, to := range map[string]string{"press": leads[k.pressKey].to, "refund": leads[k.refundKey].to, "cancelled": leads[k.cancelKey].to} {
				b.open(s.base + to)
				require.LessOrEqual(t, int64(b.width()), width)
				for _, dark := range []bool{true, false} {
					b.dark(dark)
					b.picture(name + map[bool]string{true: "-dark", false: "-light"}[dark] + map[bool]string{true: "-phone", false: "-wide"}[width == 360])
				}
			}
		}
	})
}

// TestAccessibleLines has axe look at a page with a marked line.
func TestAccessibleLines(t *testing.T) {
	t.Parallel()
	newTab(t)
	s := openConsole(t)
	k := s.keyed(t)
	b := newTab(t)
	b.signIn(s.base, token("pat", "support"))
	for name, path := range map[string]string{
		"line": "/support/attempts/" + k.attempt.ID + "#key-" + k.tooMuchKey, "refund's line": "/support/attempts/" + k.attempt.ID + "#refund-" + k.refund,
		"order's line": "/support/orders?id=" + k.cancelled + "#key-" + k.cancelKey,
	} {
		b.open(s.base + path)
		b.accessible(name)
	}
}
