package e2e_test

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// withoutScripts: the page is a form then, and can't pay twice either.
func withoutScripts() map[string]func(b *tab, s *demoShop) {
	return map[string]func(b *tab, s *demoShop){
		"form, double click":      plainDoubleClick,
		"form, sent again":        plainBackAndAgain,
		"form, two tabs":          plainTwoTabs,
		"form, then with scripts": plainThenScripts,
		"form, declined":          plainDeclined,
		"form, challenge":         plainChallenge,
		"form, proof":             proofWithoutScript,
	}
}

// scriptless is a tab whose pages run no scripts.
func scriptless(t *testing.T) *tab {
	t.Helper()
	b := newTab(t)
	b.scripts(false)
	return b
}

func plainDoubleClick(b *tab, s *demoShop) {
	order := s.checkout(b, "tok_async_success")
	require.True(b.t, eval[bool](b, `document.getElementById("tricks").hidden`), "no script has run")
	b.doubleClick("#pay")
	s.paidOnce(b, order) // it looks again by itself
	b.do(chromedp.Reload())
	s.paidOnce(b, order)
}

func plainBackAndAgain(b *tab, s *demoShop) {
	order := s.checkout(b, "tok_success")
	b.click("#pay")
	b.shows("succeeded", "Paid. Thank you!")
	b.scripts(true) // the history can't be gone back in otherwise
	eval[any](b, `history.back()`)
	b.scripts(false)
	if !eval[bool](b, `document.getElementById("pay-form").hidden`) {
		b.click("#pay") // the page as it was, out of the cache
	}
	s.paidOnce(b, order)
}

func plainTwoTabs(b *tab, s *demoShop) {
	order := s.checkout(b, heldMethod)
	two := b.another()
	two.scripts(false)
	two.open(s.base + "/demo/orders/" + order)
	two.choose("tok_success")
	b.do(chromedp.Click(chromedp.CSS("#pay"), chromedp.NodeVisible))
	s.reached(b.t, order)
	two.do(chromedp.Evaluate[chromedp.Void](`document.getElementById("pay").focus()`), chromedp.KeyEvent(kb.Enter))
	s.release(b.t, order)
	s.paidOnce(b, order)
	s.paidOnce(two, order)
}

// plainThenScripts: a form's payment is followed by a page that has its script
// back, and not begun again.
func plainThenScripts(b *tab, s *demoShop) {
	order := s.checkout(b, "tok_never")
	b.click("#pay")
	b.shows("checking", "Checking the payment…")
	b.until(`document.querySelector("noscript a")?.innerText === "Check again"`) // in each of the pages that it loads until then
	b.scripts(true)
	b.do(chromedp.Reload())
	b.until(`document.getElementById("pay").getAttribute("aria-busy") === "true"`)
	var id string
	eventually(b.t, "the provider's response", func() bool {
		id = one[string](b.t, s.rig, `SELECT coalesce(provider_payment_id, '') FROM payment_attempts WHERE order_id = $1`, order)
		return id != ""
	})
	client{base: s.sandbox}.send(b.t.Context(), "POST", "/v1/charges/"+id+"/cancel", "{}", "Idempotency-Key: by-the-dashboard").is(b.t, 200)
	b.shows("failed", "The payment was cancelled. Nothing was charged.")
	b.choose("tok_success")
	b.click("#pay")
	b.shows("succeeded", "Paid. Thank you!")
	require.Len(b.t, s.attemptsOf(b.t, order), 2)
}

func plainDeclined(b *tab, s *demoShop) {
	order := s.checkout(b, "tok_decline")
	b.click("#pay")
	b.shows("failed", "The card was declined.")
	b.choose("tok_success")
	b.click("#pay")
	b.shows("succeeded", "Paid. Thank you!")
	attempts := s.attemptsOf(b.t, order)
	require.Len(b.t, attempts, 2)
	s.charged(b.t, attempts[1], 1999)
}

// The shop's backend completes the payment with the parameters that the customer brings back.
func plainChallenge(b *tab, s *demoShop) {
	order := s.checkout(b, "tok_3ds")
	b.click("#pay")
	b.click("#continue")
	b.until(`location.pathname.startsWith("/pay/")`)
	b.click("button[value=approve]")
	s.paidOnce(b, order)
}
