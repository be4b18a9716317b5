package e2e_test

import (
	"slices"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// TestShopIsKilled: the program dies between its two commits while pages wait for it. The pages find out the results of their
// payments by themselves.
func TestShopIsKilled(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	methods := []string{heldMethod, heldMethod, "tok_hang_charged", "tok_500_charged"}
	tabs, orders := make([]*tab, len(methods)), make([]string, len(methods))
	for i, method := range methods {
		tabs[i] = newTab(t)
		orders[i] = s.checkout(tabs[i], method)
	}
	for i := range slices.Backward(tabs) {
		tabs[i].click("#pay")
		s.reached(t, orders[i])
	}
	s.kill()
	tabs[0].shows("checking", "The network is gone")
	s.run(t)
	tabs[1].do(chromedp.Reload())
	s.release(t, orders[0])
	s.release(t, orders[1])
	for i, b := range tabs {
		s.paidOnce(b, orders[i])
	}
	require.Len(t, s.movements(t), len(methods))
}
