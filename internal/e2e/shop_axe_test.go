package e2e_test

import (
	"os"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// everybodyCanUseIt lets axe-core look at each screen of the shop, in light and
// dark, at a phone's width, and keeps a picture of each.
func (s *demoShop) everybodyCanUseIt(t *testing.T) {
	t.Parallel()
	axe, err := os.ReadFile("testdata/axe-core-4.14.1.min.js")
	require.NoError(t, err)
	for name, show := range map[string]func(b *tab){
		"shop":      func(b *tab) { b.open(s.base + "/demo") },
		"none":      func(b *tab) { b.open(s.base + "/demo/orders/none") },
		"idle":      func(b *tab) { s.checkout(b, "tok_never") },
		"checking":  s.pressed("tok_never", "checking"),
		"offline":   s.cutOff,
		"action":    func(b *tab) { s.pressed("tok_redirect", "")(b); s.comeBack(b) },
		"succeeded": s.pressed("tok_success", "succeeded"),
		"failed":    s.pressed("tok_decline", "failed"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newTab(t)
			show(b)
			for _, dark := range []bool{false, true} {
				b.dark(dark)
				b.do(chromedp.Evaluate[chromedp.Void](string(axe)))
				found := eval[struct {
					Passes     int
					Violations []string
				}](b, `axe.run().then((r) => ({
					Passes: r.passes.length,
					Violations: r.violations.map((v) => v.id + ": " + v.nodes.map((n) => n.html + " " + n.failureSummary).join("; ")),
				}))`)
				require.Empty(t, found.Violations, "dark: %v", dark)
				require.NotZero(t, found.Passes)
				require.LessOrEqual(t, eval[int](b, `document.documentElement.scrollWidth`), 360, "nothing sticks out to the side")
				b.picture(map[bool]string{false: "light", true: "dark"}[dark])
			}
		})
	}
}

// pressed is a checkout at which the button was pressed.
func (s *demoShop) pressed(method, phase string) func(b *tab) {
	return func(b *tab) {
		b.t.Helper()
		s.checkout(b, method)
		b.click("#pay")
		if phase != "" {
			b.shows(phase, "")
			b.until(`document.getElementById("pay").innerText !== "Sending…"`)
		}
	}
}

func (s *demoShop) comeBack(b *tab) {
	b.t.Helper()
	b.until(`location.pathname.startsWith("/pay/")`)
	eval[any](b, `history.back()`)
	b.shows("action", "approve")
}

func (s *demoShop) cutOff(b *tab) {
	b.t.Helper()
	s.checkout(b, "tok_never")
	b.click("#lose")
	b.click("#pay")
	b.shows("checking", "The network is gone")
}

// nothingInline: what a page of the shop may run comes from files.
func (s *demoShop) nothingInline(t *testing.T) {
	t.Parallel()
	a := client{base: s.base}.send(t.Context(), "GET", "/demo", "")
	a.is(t, 200)
	policy := a.header.Get("Content-Security-Policy")
	require.Contains(t, policy, "default-src 'none'")
	require.NotContains(t, policy, "unsafe")
	b := newTab(t)
	s.checkout(b, "tok_never")
	require.Equal(t, "blocked", eval[string](b, `new Promise((resolve) => {
		document.addEventListener("securitypolicyviolation", () => resolve("blocked"));
		const script = document.createElement("script");
		script.textContent = "document.title = 'ran'";
		document.body.append(script);
		setTimeout(() => resolve(document.title), 1000);
	})`))
	for _, name := range []string{"demo.js", "demo.css", "pico.min.css", "icon.svg"} {
		file := client{base: s.base}.send(t.Context(), "GET", "/demo/assets/"+name, "")
		file.is(t, 200)
		require.NotContains(t, file.header.Get("Content-Type"), "text/plain", name)
	}
}
