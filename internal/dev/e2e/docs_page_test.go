package e2e_test

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// TestSitePages: the pages that need no token, at a phone's width and at a desk's, with a script and without.
func TestSitePages(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	for name, path := range map[string]string{
		"start": "/", "docs": "/docs", "problems": "/problems", "problem": "/problems/order-already-paid",
		"guides": "/docs/index.html", "guide": "/docs/reference/providers/adyen.html",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newTab(t)
			b.open(s.base + path)
			b.accessible(name)
			require.LessOrEqual(t, b.width(), 360, "nothing sticks out to the side")
			b.dark(false)
			b.view(name, 360, 780)
			b.view(name+"-wide", 1280, 900)
			b.dark(true)
			b.view(name+"-dark", 1280, 900)
		})
	}
	t.Run("tabs", func(t *testing.T) { t.Parallel(); docsTabs(newTab(t), s) })
	t.Run("search", func(t *testing.T) { t.Parallel(); docsSearch(newTab(t), s) })
	t.Run("plain", func(t *testing.T) { t.Parallel(); docsPlain(scriptless(t), s) })
	t.Run("wide", func(t *testing.T) { t.Parallel(); docsWide(newTab(t), s) })
}

// view saves a picture of the visible part of a page in a window.
func (b *tab) view(name string, width, height int64) {
	b.t.Helper()
	b.do(chromedp.EmulateViewport(width, height))
	b.keep(name, chromedp.CaptureScreenshot())
}

// The language that is chosen at one sample applies to all samples, and to the next visit. The copied text is the sample.
func docsTabs(b *tab, s *demoShop) {
	b.open(s.base + "/docs#pay")
	b.until(`document.getElementById("pay-curl")?.getAttribute("aria-selected") === "true"`)
	require.Equal(b.t, []bool{false, true, true}, eval[[]bool](b, `["curl", "Go", "Node"].map((l) => document.getElementById("pay-" + l + "-panel").hidden)`))
	b.focus("#pay-curl")
	b.do(chromedp.KeyEvent(kb.ArrowRight))
	require.Equal(b.t, "pay-Go", eval[string](b, `document.activeElement.id`))
	require.Contains(b.t, eval[string](b, `document.getElementById("pay-Go-panel").innerText`), "c.Pay(ctx")
	require.False(b.t, eval[bool](b, `document.getElementById("createRefund-Go-panel").hidden`), "all are shown in the same language")
	b.click("#pay-Node")
	b.do(chromedp.Reload())
	b.until(`document.getElementById("createOrder-Node")?.getAttribute("aria-selected") === "true"`)
	eval[any](b, `navigator.clipboard.writeText = async (text) => { window.copied = text }`)
	b.listens("#heard")
	b.click("#pay-Node-panel .copy")
	b.until(`window.copied === document.querySelector("#pay-Node-panel code").textContent && window.copied.includes("await fetch(base")`)
	b.hears("Copied")
	require.Contains(b.t, eval[string](b, `document.getElementById("samples").nextElementSibling.nextElementSibling.innerText`), "API="+s.base)
}

// The search works by keys alone: / goes there, Enter goes to the first heading, the arrows go through them.
func docsSearch(b *tab, s *demoShop) {
	b.open(s.base + "/docs")
	b.until(`!document.getElementById("find").hidden`)
	require.False(b.t, eval[bool](b, `document.getElementById("contents").open`), "on a phone the text comes first")
	b.do(chromedp.KeyEvent("/"))
	require.Equal(b.t, "query", eval[string](b, `document.activeElement.id`))
	eval[any](b, `document.getElementById("query").value = ""`) // chromedp types the key although the page has taken it
	b.do(chromedp.KeyEvent("post refunds"))
	b.until(`document.getElementById("heard").textContent === "1 heading"`)
	require.Equal(b.t, []string{"refunds", "Refund an attempt"}, eval[[]string](b, `[...document.querySelectorAll("#contents a")].filter((a) => a.checkVisibility()).map((a) => a.innerText)`))
	b.do(chromedp.KeyEvent(kb.Enter))
	b.until(`location.hash === "#createRefund"`)
	b.do(chromedp.KeyEvent(kb.Escape))
	require.Empty(b.t, eval[string](b, `document.getElementById("query").value`))
	require.Equal(b.t, "query", eval[string](b, `document.activeElement.id`))
	b.do(chromedp.KeyEvent("healthz"))
	b.until(`document.getElementById("heard").textContent === "1 heading"`)
	b.do(chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.ArrowDown))
	require.Equal(b.t, "#healthz", eval[string](b, `document.activeElement.getAttribute("href")`))
}

// Without a script all is there: each language, and the contents behind a disclosure.
func docsPlain(b *tab, s *demoShop) {
	b.open(s.base + "/docs")
	require.True(b.t, eval[bool](b, `document.getElementById("find").hidden`))
	require.True(b.t, eval[bool](b, `[...document.querySelectorAll(".sample")].every((e) => e.checkVisibility())`))
	require.Greater(b.t, eval[int](b, `document.querySelectorAll(".sample").length`), 120)
	require.LessOrEqual(b.t, b.width(), 360)
	b.click("#contents summary")
	b.until(`document.querySelector('#contents a[href="#pay"]').checkVisibility()`)
}

// At a desk the contents stay beside the text.
func docsWide(b *tab, s *demoShop) {
	b.do(chromedp.EmulateViewport(1280, 900))
	b.open(s.base + "/docs#createRefund")
	b.until(`document.getElementById("contents").open`)
	b.until(`window.scrollY > 1000 && document.querySelector(".contents").getBoundingClientRect().top >= 0`)
	require.Less(b.t, eval[float64](b, `document.querySelector(".contents").getBoundingClientRect().right`), eval[float64](b, `document.getElementById("main").getBoundingClientRect().left`))
	b.accessible("docs, wide")
	b.keep("docs-refund", chromedp.CaptureScreenshot())
}
