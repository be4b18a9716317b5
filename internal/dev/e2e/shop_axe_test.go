package e2e_test

import (
	"os"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// screens are all screens of the shop.
func screens() map[string]func(b *tab, s *demoShop) {
	return map[string]func(b *tab, s *demoShop){
		"shop":      func(b *tab, s *demoShop) { b.open(s.base + "/demo") },
		"none":      func(b *tab, s *demoShop) { b.open(s.base + "/demo/orders/none") },
		"idle":      func(b *tab, s *demoShop) { s.checkout(b, "tok_never") },
		"checking":  pressed("tok_never", "checking"),
		"offline":   cutOff,
		"action":    func(b *tab, s *demoShop) { pressed("tok_redirect", "")(b, s); comeBack(b) },
		"succeeded": pressed("tok_success", "succeeded"),
		"failed":    pressed("tok_decline", "failed"),
		"voucher":   pressed("tok_voucher", "action"),
		"challenge": func(b *tab, s *demoShop) {
			pressed("tok_3ds_sdk", "")(b, s)
			b.until(`document.querySelector("dialog")?.open`)
		},

		"provider's form":           func(b *tab, s *demoShop) { s.openForm(b) },
		"provider's form, checking": func(b *tab, s *demoShop) { s.openForm(b); b.paysByForm("tok_never"); b.shows("form", "Checking") },
		"provider's form, other":    func(b *tab, s *demoShop) { otherDevice(b, s, s.openForm(b.other())) },
		"provider's form, redirect": func(b *tab, s *demoShop) { s.openForm(b); b.paysByForm("tok_redirect"); comeBack(b) },
	}
}

// everybodyCanUse lets axe-core look at a screen, at a phone's width, and keeps
// pictures.
func everybodyCanUse(show func(b *tab, s *demoShop)) func(b *tab, s *demoShop) {
	return func(b *tab, s *demoShop) {
		b.t.Helper()
		show(b, s)
		b.accessible("the screen")
		require.LessOrEqual(b.t, b.width(), 360, "nothing sticks out to the side")
		b.picture("dark")
		b.dark(false)
		b.picture("light")
	}
}

// accessible lets axe-core look at a page, in light and dark.
func (b *tab) accessible(what string) {
	b.t.Helper()
	axe, err := os.ReadFile("testdata/axe-core-4.14.1.min.js")
	require.NoError(b.t, err)
	b.do(chromedp.Evaluate[chromedp.Void](string(axe)))
	for _, dark := range []bool{false, true} {
		b.dark(dark)
		found := evalWithin[struct {
			Passes     int
			Violations []string
		}](b, 8*soon, `axe.run().then((r) => ({
			Passes: r.passes.length,
			Violations: r.violations.map((v) => v.id + ": " + v.nodes.map((n) => n.html + " " + n.failureSummary).join("; ")),
		}))`)
		require.Empty(b.t, found.Violations, "%s, dark: %v", what, dark)
		require.NotZero(b.t, found.Passes, "%s, dark: %v", what, dark)
	}
}

// pressed is a checkout at which the button was pressed.
func pressed(method, phase string) func(b *tab, s *demoShop) {
	return func(b *tab, s *demoShop) {
		b.t.Helper()
		s.checkout(b, method)
		b.click("#pay")
		if phase != "" {
			b.shows(phase, "")
			b.until(`document.getElementById("pay").innerText !== "Sending…"`)
		}
	}
}

func comeBack(b *tab) {
	b.t.Helper()
	b.until(`location.pathname.startsWith("/pay/")`)
	eval[any](b, `history.back()`)
	b.shows("action", "approve")
}

func cutOff(b *tab, s *demoShop) {
	b.t.Helper()
	s.checkout(b, "tok_never")
	b.click("#lose")
	b.click("#pay")
	b.shows("checking", "The network is gone")
}

// nothingInline: all scripts and styles of a page of the shop come from files.
func nothingInline(b *tab, s *demoShop) {
	t := b.t
	a := client{base: s.base}.send(t.Context(), "GET", "/demo", "")
	a.is(t, 200)
	policy := a.header.Get("Content-Security-Policy")
	require.Contains(t, policy, "default-src 'none'")
	require.NotContains(t, policy, "unsafe")
	s.checkout(b, "tok_never")
	require.Equal(t, "blocked", eval[string](b, `new Promise((resolve) => {
		document.addEventListener("securitypolicyviolation", () => resolve("blocked"));
		const script = document.createElement("script");
		script.textContent = "document.title = 'ran'";
		document.body.append(script); // an allowed one would run here
		if (document.title === "ran") resolve("ran");
	})`))
	for _, name := range []string{"demo.js", "demo.css", "pico.min.css", "icon.svg"} {
		file := client{base: s.base}.send(t.Context(), "GET", "/demo/assets/"+name, "")
		file.is(t, 200)
		require.NotContains(t, file.header.Get("Content-Type"), "text/plain", name)
	}
}
