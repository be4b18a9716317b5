package e2e_test

import (
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// withScripts are actions of a person, and faults of the network, in a checkout.
func withScripts() map[string]func(b *tab, s *demoShop) {
	return map[string]func(b *tab, s *demoShop){
		"double click":              doubleClick,
		"enter twice":               enterTwice,
		"press twice by the button": pressTwice,
		"reload while pending":      reloadWhilePending,
		"back and again":            backAndAgain,
		"two tabs":                  twoTabs,
		"two devices":               twoDevices,
		"network cut":               networkCut,
		"network lost by the demo":  networkLost,
		"declined, then paid":       declinedThenPaid,
		"declined, paid elsewhere":  declinedThenPaidElsewhere,
		"money after a failure":     lateMoney,
		"nothing inline":            nothingInline,
		"challenge on a page":       challengeOnAPage,
		"challenge in a window":     challengeInAWindow,
		"voucher":                   voucherPaid,
		"failed is red":             failedIsRed,
		"proof, counted":            proofCounted,
		"proof, past the client":    proofPastTheClient,
	}
}

func challengeOnAPage(b *tab, s *demoShop) {
	order := s.checkout(b, "tok_3ds")
	b.click("#pay")
	b.until(`location.pathname.startsWith("/pay/")`)
	b.click("button[value=approve]")
	s.paidOnce(b, order)
}

func challengeInAWindow(b *tab, s *demoShop) {
	order := s.checkout(b, "tok_3ds_sdk")
	b.doubleClick("#pay")
	b.until(`document.querySelectorAll("dialog[open]").length === 1`)
	b.click("dialog button[value=true]", 2)
	s.paidOnce(b, order)
}

func voucherPaid(b *tab, s *demoShop) {
	order := s.checkout(b, "tok_voucher")
	b.click("#pay")
	b.shows("action", "Your voucher is ready")
	require.NotEmpty(b.t, eval[string](b, `document.getElementById("reference").innerText`))
	b.do(chromedp.Reload())
	b.shows("action", "Your voucher is ready")
	b.click("#continue")
	b.until(`location.pathname.startsWith("/pay/")`)
	b.click("button[value=approve]")
	s.paidOnce(b, order)
}

func doubleClick(b *tab, s *demoShop) {
	order := s.checkout(b, "tok_async_success")
	b.doubleClick("#pay")
	s.paidOnce(b, order)
}

func enterTwice(b *tab, s *demoShop) {
	order := s.checkout(b, heldMethod)
	b.focus("#pay")
	b.do(chromedp.KeyEvent(kb.Enter), chromedp.KeyEvent(kb.Enter))
	b.until(`["Sending…", "Checking the payment…"].includes(document.getElementById("pay").innerText)`)
	require.Equal(b.t, "true", eval[string](b, `document.getElementById("pay").getAttribute("aria-disabled")`))
	require.Equal(b.t, "pay", eval[string](b, `document.activeElement.id`), "a button that waits keeps the focus")
	b.do(chromedp.KeyEvent(kb.Enter))
	s.reached(b.t, order)
	s.release(b.t, order)
	s.paidOnce(b, order)
	b.until(`document.activeElement.id === "status"`) // the focus goes where the news is
}

func pressTwice(b *tab, s *demoShop) {
	order := s.checkout(b, "tok_async_success")
	b.click("#twice")
	s.paidOnce(b, order)
}

func reloadWhilePending(b *tab, s *demoShop) {
	order := s.checkout(b, heldMethod)
	b.click("#pay")
	s.reached(b.t, order)
	for range 2 {
		b.do(chromedp.Reload())
		b.shows("checking", "Checking the payment…")
		require.False(b.t, eval[bool](b, `document.querySelector("main").innerText.includes("Sending")`))
	}
	s.release(b.t, order)
	s.paidOnce(b, order)
	b.do(chromedp.Reload())
	s.paidOnce(b, order)
}

func backAndAgain(b *tab, s *demoShop) {
	order := s.checkout(b, "tok_redirect")
	b.click("#pay")
	b.until(`location.pathname.startsWith("/pay/")`)
	eval[any](b, `history.back()`)
	b.shows("action", "approve")
	require.Equal(b.t, "/demo/orders/"+order, eval[string](b, "location.pathname"), "the page does not send them away again")
	b.click("#continue")
	b.until(`location.pathname.startsWith("/pay/")`)
	b.click("button[value=approve]")
	s.paidOnce(b, order)
	eval[any](b, `history.go(-2)`)
	b.until(`location.pathname === "/demo/orders/` + order + `"`)
	s.paidOnce(b, order)
}

func twoTabs(b *tab, s *demoShop) {
	order := s.checkout(b, heldMethod)
	two := b.another()
	two.open(s.base + "/demo/orders/" + order)
	two.until(`!document.getElementById("tricks").hidden`)
	two.choose("tok_success")
	b.click("#pay")
	two.shows("checking", "Another tab is at it.")
	s.reached(b.t, order)
	two.focus("#pay")
	two.do(chromedp.KeyEvent(kb.Enter))
	s.release(b.t, order)
	s.paidOnce(b, order)
	s.paidOnce(two, order)
}

func twoDevices(b *tab, s *demoShop) {
	other := b.other()
	order := s.checkout(b, heldMethod)
	other.open(s.base + "/demo/orders/" + order)
	other.until(`!document.getElementById("tricks").hidden`)
	other.choose("tok_success")
	b.click("#pay")
	s.reached(b.t, order)
	other.click("#pay")
	other.shows("checking", "another page or device")
	s.release(b.t, order)
	s.paidOnce(b, order)
	s.paidOnce(other, order)
}

func networkCut(b *tab, s *demoShop) {
	order := s.checkout(b, heldMethod)
	b.click("#pay")
	s.reached(b.t, order)
	b.offline(true)
	b.shows("checking", "The network is gone")
	s.release(b.t, order)
	b.offline(false)
	s.paidOnce(b, order)
	require.False(b.t, eval[bool](b, `document.getElementById("status").innerText.includes("network")`))
}

func networkLost(b *tab, s *demoShop) {
	order := s.checkout(b, "tok_async_success")
	b.click("#lose")
	b.click("#pay")
	b.shows("checking", "The network is gone")
	s.reached(b.t, order)
	eventually(b.t, "the money", func() bool { return len(s.ledger(b.t, s.attemptsOf(b.t, order)[0])) == 1 })
	b.shows("checking", "The network is gone")
	b.click("#lose")
	s.paidOnce(b, order)
}

func declinedThenPaid(b *tab, s *demoShop) {
	order := s.checkout(b, "tok_decline")
	b.click("#pay")
	b.shows("failed", "The card was declined.")
	require.Equal(b.t, "Pay 19.99 EUR again", eval[string](b, `document.getElementById("pay").innerText`))
	require.Empty(b.t, s.ledger(b.t, s.attemptsOf(b.t, order)[0]))
	b.choose("tok_async_success")
	b.click("#pay")
	b.shows("succeeded", "Paid. Thank you!")
	attempts := s.attemptsOf(b.t, order)
	require.Len(b.t, attempts, 2)
	s.charged(b.t, attempts[1], 1999)
	require.Len(b.t, column[string](b.t, s.rig, `SELECT DISTINCT client_request_id FROM payment_attempts WHERE order_id = $1`, order), 2)
}

// declinedThenPaidElsewhere: this browser's memory of its own failure does not prevail over the state of the order.
func declinedThenPaidElsewhere(b *tab, s *demoShop) {
	order := s.checkout(b, "tok_decline")
	b.click("#pay")
	b.shows("failed", "The card was declined.")
	other := b.other()
	other.open(s.base + "/demo/orders/" + order)
	other.choose("tok_async_success")
	other.click("#pay")
	other.shows("succeeded", "Paid. Thank you!")
	b.do(chromedp.Reload())
	b.until(`JSON.parse(localStorage.getItem("paylatch:` + order + `")).end === "succeeded"`)
	b.shows("succeeded", "Paid. Thank you!")
	require.True(b.t, eval[bool](b, `document.getElementById("pay-form").hidden`))
}

// lateMoney: the failure that was shown allowed another try; the press finds out
// that the money came after all, unless the page has seen it before.
func lateMoney(b *tab, s *demoShop) {
	order := s.checkout(b, "tok_late_success")
	b.click("#pay")
	b.shows("failed", "The card was declined.")
	eventually(b.t, "the money", func() bool {
		return one[int](b.t, s.rig, `SELECT amount_captured FROM payment_attempts WHERE order_id = $1`, order) == 1999
	})
	b.choose("tok_success")
	b.click("#pay")
	b.until(`/can't be paid again|arrived after all/.test(document.getElementById("status").innerText)`)
	require.Len(b.t, s.attemptsOf(b.t, order), 1)
	s.charged(b.t, s.attemptsOf(b.t, order)[0], 1999)
}
