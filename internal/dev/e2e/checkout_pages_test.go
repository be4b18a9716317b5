package e2e_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// TestCheckoutPages runs the pages of examples/checkout in a browser, with a stand-in for the provider's script and one for the shop's
// backend, which answers as paylatch does: the sandbox has no actions for a script.
func TestCheckoutPages(t *testing.T) {
	t.Parallel()
	for name, run := range map[string]func(b *tab, s *pageShop){
		"stripe/paid": stripePaid, "stripe/incomplete": stripeIncomplete, "stripe/authentication_fails": stripeFails,
		"stripe/cut_then_continued": stripeCut, "stripe/reload": stripeReload, "stripe/answer_lost": stripeLost,
		"adyen/two_steps": adyenTwoSteps, "adyen/refused_then_continued": adyenRefused, "adyen/redirect": adyenRedirect, "adyen/voucher": adyenVoucher, "adyen/two_tabs": adyenTwoTabs,
		"paypal/paid": paypalPaid, "paypal/closed_then_paid": paypalClosed, "paypal/not_approved_then_paid": paypalNotApproved, "paypal/refused": paypalRefused,
		"paypal/reload": paypalReload,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newTab(t)
			provider, _, _ := strings.Cut(name, "/")
			s := newPageShop(t, provider)
			b.open(s.URL + "/checkout/A-1")
			run(b, s)
		})
	}
}

// phase waits until the example's page shows a phase.
func (b *tab) phase(phase string) {
	b.t.Helper()
	b.until(`document.getElementById("checkout")?.dataset.phase === ` + quote(phase))
}

const (
	stripeAction = `{"type":"sdk","data":{"client_secret":"pi_1_secret_x","payment_intent":"pi_1"}}`
	fingerprint  = `{"type":"sdk","data":{"action":{"type":"threeDS2","subtype":"fingerprint","paymentData":"p1"}}}`
	challenge    = `{"type":"sdk","data":{"action":{"type":"threeDS2","subtype":"challenge","paymentData":"p2"}}}`
	paypalAction = `{"type":"redirect","url":"https://www.paypal.com/checkoutnow?token=5O190127TN364715T"}`
)

func stripePaid(b *tab, s *pageShop) {
	b.click("#pay")
	b.click("#approve")
	b.phase("succeeded")
	require.Equal(b.t, []string{`{"payment_intent":"pi_1"}`}, s.details())
	require.Contains(b.t, s.pays()[0].body, `"token":"ctoken_1"`)
}

func stripeIncomplete(b *tab, s *pageShop) {
	require.NotNil(b.t, eval[any](b, `document.getElementById("card").value = " "; document.getElementById("card").value = ""; 1`))
	b.click("#pay")
	b.until(`document.getElementById("status").textContent === "Your card number is incomplete."`)
	require.Empty(b.t, s.pays())
}

func stripeFails(b *tab, s *pageShop) {
	b.click("#pay")
	b.click("#fail")
	b.phase("failed")
	require.Len(b.t, s.details(), 1, "paylatch tells that it failed, not the script")
	require.Contains(b.t, eval[string](b, `document.getElementById("status").textContent`), "The bank said no.")
}

func stripeCut(b *tab, s *pageShop) {
	b.click("#pay")
	b.click("#cut")
	b.click("#continue")
	b.click("#approve")
	b.phase("succeeded")
	require.Len(b.t, s.details(), 1)
	require.Len(b.t, s.pays(), 1)
}

func stripeReload(b *tab, s *pageShop) {
	b.click("#pay")
	b.until(`document.getElementById("approve") !== null`)
	b.do(chromedp.Reload())
	b.click("#approve")
	b.phase("succeeded")
	require.Len(b.t, s.pays(), 1)
	require.Len(b.t, s.details(), 1)
}

func stripeLost(b *tab, s *pageShop) {
	b.click("#pay")
	b.until(`document.getElementById("approve") !== null`)
	s.set(func() { s.lose = true })
	b.click("#approve")
	eventually(b.t, "a complete without an answer", func() bool { return len(s.completes()) > 0 })
	b.phase("checking")
	b.do(chromedp.Reload())
	s.set(func() { s.lose = false })
	b.phase("succeeded")
	keys := map[string]bool{}
	for _, c := range s.completes() {
		keys[c.key] = true
	}
	require.Len(b.t, keys, 1, "the page that was reloaded sends the same")
	require.False(b.t, eval[bool](b, `document.getElementById("approve") !== null`), "the customer is not asked again")
}

func adyenTwoSteps(b *tab, s *pageShop) {
	b.click("#dropin-pay")
	b.until(`document.getElementById("done")?.innerText === "fingerprint"`)
	b.click("#done")
	b.until(`document.getElementById("done")?.innerText === "challenge"`)
	b.click("#done")
	b.phase("succeeded")
	require.Equal(b.t, []string{
		`{"details":{"threeDSResult":"fingerprint"},"paymentData":"p1"}`, `{"details":{"threeDSResult":"challenge"},"paymentData":"p2"}`,
	}, s.details())
	require.Empty(b.t, eval[string](b, `document.getElementById("action").innerHTML`))
	require.Contains(b.t, s.pays()[0].body, `\"encryptedCardNumber\":\"enc\"`)
	require.Contains(b.t, s.pays()[0].body, `"color_depth":24`)
}

func adyenRefused(b *tab, s *pageShop) {
	s.set(func() { s.refuse = 1 })
	b.click("#dropin-pay")
	b.click("#done")
	b.until(`document.getElementById("status").textContent.includes("refused by the provider")`)
	b.click("#continue")
	b.click("#done")
	b.until(`document.getElementById("done")?.innerText === "challenge"`)
	b.click("#done")
	b.phase("succeeded")
	require.Len(b.t, s.details(), 3)
	require.NotEqual(b.t, s.completes()[0].key, s.completes()[1].key)
}

func adyenRedirect(b *tab, s *pageShop) {
	s.set(func() { s.action = `{"type":"redirect","url":"` + s.URL + `/bank"}` })
	b.click("#dropin-pay")
	b.until(`location.pathname === "/bank"`)
	b.click("#back")
	b.phase("succeeded")
	require.Equal(b.t, []string{`{"redirectResult":"r1"}`}, s.details())
	b.do(chromedp.Reload())
	b.phase("succeeded")
	require.Len(b.t, s.details(), 1)
}

func adyenVoucher(b *tab, s *pageShop) {
	s.set(func() { s.action = `{"type":"display","data":{"action":{"type":"voucher","reference":"R-1"}}}` })
	b.click("#dropin-pay")
	b.until(`document.getElementById("action").innerText === "R-1" && !document.getElementById("action").hidden`)
	b.phase("action")
	b.do(chromedp.Reload())
	b.until(`document.getElementById("action").innerText === "R-1"`)
	require.Len(b.t, s.pays(), 1)
}

func adyenTwoTabs(b *tab, s *pageShop) {
	b.click("#dropin-pay")
	b.until(`document.getElementById("done") !== null`)
	two := b.another()
	two.open(s.URL + "/checkout/A-1")
	two.phase("action")
	require.False(b.t, eval[bool](two, `document.getElementById("done") !== null`), "the action is in the first tab")
	b.open(s.URL + "/bank")
	two.until(`document.getElementById("done")?.innerText === "fingerprint"`)
	two.click("#done")
	two.until(`document.getElementById("done")?.innerText === "challenge"`)
	two.click("#done")
	two.phase("succeeded")
	require.Len(b.t, s.pays(), 1)
}

func paypalPaid(b *tab, s *pageShop) {
	b.click("#paypal")
	b.click("#approve")
	b.phase("succeeded")
	require.Equal(b.t, "/checkout/A-1", eval[string](b, "location.pathname"), "the page stays")
	require.Equal(b.t, []string{`{"orderID":"5O190127TN364715T"}`}, s.details())
}

func paypalClosed(b *tab, s *pageShop) {
	b.click("#paypal")
	b.click("#close")
	b.phase("action")
	b.click("#paypal")
	b.click("#approve")
	b.phase("succeeded")
	require.Len(b.t, s.pays(), 1, "it is the same payment")
}

func paypalNotApproved(b *tab, s *pageShop) {
	s.set(func() { s.refuse = 1 })
	b.click("#paypal")
	b.click("#approve")
	b.until(`document.getElementById("status").textContent.includes("refused by the provider")`)
	b.click("#approve") // PayPal's window is open again
	b.phase("succeeded")
	require.Len(b.t, s.pays(), 1)
	require.Len(b.t, s.details(), 2)
}

func paypalRefused(b *tab, s *pageShop) {
	s.set(func() { s.refusePay = true })
	b.click("#paypal")
	b.phase("refused")
	require.False(b.t, eval[bool](b, `document.querySelector("dialog") !== null`))
	s.set(func() { s.refusePay = false })
	b.click("#paypal")
	b.click("#approve")
	b.phase("succeeded")
}

func paypalReload(b *tab, s *pageShop) {
	b.click("#paypal")
	b.until(`document.getElementById("approve") !== null`)
	b.do(chromedp.Reload())
	b.phase("action")
	require.Equal(b.t, "/checkout/A-1", eval[string](b, "location.pathname"))
	b.click("#paypal")
	b.click("#approve")
	b.phase("succeeded")
	require.Len(b.t, s.pays(), 1)
}
