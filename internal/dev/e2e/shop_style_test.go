package e2e_test

import (
	"github.com/stretchr/testify/require"
)

// failedIsRed: a failure looks the same in the shop and on the provider's page, in light and dark, and not by its colour alone.
func failedIsRed(b *tab, s *demoShop) {
	order := s.checkout(b, "tok_redirect")
	b.click("#pay")
	b.until(`location.pathname.startsWith("/pay/")`)
	hosted := eval[string](b, `location.href`)
	b.accessible("the provider's page")
	require.LessOrEqual(b.t, b.width(), 360)
	b.picture("asked")
	b.click("button[value=decline]")
	b.shows("failed", "The payment failed")
	b.looks("failed", "✕ ", "rgb(163, 36, 29)", "rgb(238, 127, 120)")
	b.open(hosted)
	b.until(`document.querySelector(".status")?.innerText === "Nothing was charged."`)
	b.looks("failed", "✕ ", "rgb(163, 36, 29)", "rgb(238, 127, 120)")
	b.accessible("the provider's page of a declined payment")
	b.picture("declined")
	b.open(s.base + "/demo/orders/" + order)
	b.choose("tok_success")
	b.click("#pay")
	b.shows("succeeded", "Paid. Thank you!")
	b.looks("succeeded", "✓ ", "rgb(27, 110, 32)", "rgb(127, 208, 135)")
}

// looks requires the mark and the colours of a status line.
func (b *tab) looks(state, mark, light, dark string) {
	b.t.Helper()
	for on, colour := range map[bool]string{false: light, true: dark} {
		b.dark(on)
		require.Equal(b.t, colour, eval[string](b, `getComputedStyle(document.querySelector(".status.`+state+`")).color`), "dark: %v", on)
	}
	require.Contains(b.t, eval[string](b, `getComputedStyle(document.querySelector(".status.`+state+`"), "::before").content`), mark)
}
