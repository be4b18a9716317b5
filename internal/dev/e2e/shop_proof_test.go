package e2e_test

import (
	"strings"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// proofCounted: the presses are counted by the page, the requests by the shop, and the charges by the ledger. The client sends
// its one request again if the machine is too slow for it.
func proofCounted(b *tab, s *demoShop) {
	order := s.checkout(b, heldMethod)
	b.proves("0", "0", "0 ×")
	b.click("#twice")
	s.reached(b.t, order)
	b.until(`document.getElementById("presses").innerText === "2" && document.getElementById("requests").innerText !== "0"`)
	require.Equal(b.t, "0 ×", eval[string](b, `document.getElementById("charged").innerText`), "the provider has not heard of it yet")
	s.release(b.t, order)
	s.paidOnce(b, order)
	b.until(`document.getElementById("charged").innerText === "1 ×"`)
	require.Contains(b.t, eval[string](b, `document.getElementById("receipt").innerText`), order)
	requests := eval[string](b, `document.getElementById("requests").innerText`)
	b.do(chromedp.Reload())
	b.proves("2", requests, "1 ×")
	attempt := s.attemptsOf(b.t, order)[0]
	require.Equal(b.t, "/support/attempts/"+attempt, eval[string](b, `document.querySelector("#support a").getAttribute("href")`))
	b.open(s.base + "/support/attempts/" + attempt)
	b.until(`location.pathname === "/support/sign-in" && location.search.includes(` + quote(attempt) + `)`)
}

// proofPastTheClient: without the client's care a key is still one payment, and another key finds it.
func proofPastTheClient(b *tab, s *demoShop) {
	order := s.checkout(b, "tok_success")
	b.click("#past")
	b.until(`document.querySelectorAll("#past-results li").length === 3`)
	results := eval[[]string](b, `[...document.querySelectorAll("#past-results li")].map((e) => e.innerText)`)
	require.Equal(b.t, 1, strings.Count(strings.Join(results, "\n"), "201 created"), "%v", results)
	if strings.HasSuffix(results[2], "201 created") {
		require.Contains(b.t, results[0]+results[1], "409")
	} else {
		require.Contains(b.t, results[0]+results[1], "201 reused")
		require.Contains(b.t, results[2], "409")
	}
	s.paidOnce(b, order)
	b.proves("0", "3", "1 ×")
}

// proofWithoutScript has the server's numbers alone.
func proofWithoutScript(b *tab, s *demoShop) {
	order := s.checkout(b, "tok_success")
	b.click("#pay")
	s.paidOnce(b, order)
	require.True(b.t, eval[bool](b, `document.getElementById("pressed").hidden`))
	require.Equal(b.t, "1", eval[string](b, `document.getElementById("requests").innerText`))
	require.Equal(b.t, "1 ×", eval[string](b, `document.getElementById("charged").innerText`))
	require.Contains(b.t, eval[string](b, `document.getElementById("receipt").innerText`), order)
}

// proves waits for the numbers of the proof.
func (b *tab) proves(presses, requests, charged string) {
	b.t.Helper()
	b.until(`JSON.stringify(["presses", "requests", "charged"].map((id) => document.getElementById(id)?.innerText)) === JSON.stringify([` +
		quote(presses) + `,` + quote(requests) + `,` + quote(charged) + `])`)
}
