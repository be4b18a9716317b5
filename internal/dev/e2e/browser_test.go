package e2e_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

var errNoBrowser = errors.New("there is no chromium")

// chromium is one browser for all tests; each has a profile of its own in it.
var chromium = sync.OnceValues(func() (context.Context, error) {
	var path string
	for _, name := range []string{os.Getenv("CHROMIUM"), "chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); name != "" && err == nil {
			path = found
			break
		}
	}
	if path == "" {
		return nil, errNoBrowser
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-component-update", true), chromedp.WSURLReadTimeout(soon))
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, cancel := chromedp.NewContext(allocator)
	quitBrowser = func() {
		_ = chromedp.Cancel(ctx)
		cancel()
		stop()
	}
	return ctx, chromedp.Do(ctx)
})

// quitBrowser is replaced when there is a browser.
var quitBrowser = func() {}

// tab is a tab of the browser.
type tab struct {
	t   *testing.T
	ctx context.Context
}

// newTab opens a tab in a profile of its own, of a phone's size.
func newTab(t *testing.T) *tab {
	t.Helper()
	browser, err := chromium()
	if errors.Is(err, errNoBrowser) {
		t.Skip("there is no chromium to look at the pages with")
	}
	require.NoError(t, err)
	return openTab(browser, t, chromedp.WithNewBrowserContext())
}

// other opens one more tab in a profile of its own.
func (b *tab) other() *tab {
	b.t.Helper()
	browser, err := chromium()
	require.NoError(b.t, err)
	return openTab(browser, b.t, chromedp.WithNewBrowserContext())
}

// another opens a second tab in the same profile.
func (b *tab) another() *tab {
	b.t.Helper()
	return openTab(b.ctx, b.t)
}

func openTab(parent context.Context, t *testing.T, options ...chromedp.ContextOption) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(parent, options...)
	t.Cleanup(cancel)
	b := &tab{t, ctx}
	require.NoError(t, chromedp.Do(ctx, chromedp.EmulateViewport(360, 780, chromedp.EmulateMobile)))
	return b
}

// do runs actions, each for as long as a test waits at most.
func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, soon)
	defer cancel()
	require.NoError(b.t, chromedp.Do(ctx, actions...))
}

func call[P, R any](b *tab, command cdp.Command[P, R], params P) {
	b.t.Helper()
	_, err := chromedp.Call(b.ctx, command, params)
	require.NoError(b.t, err)
}

func (b *tab) open(address string) {
	b.t.Helper()
	b.do(chromedp.Navigate(address))
}

// openUntil opens a page, again and again until an expression is true on it: a busy machine may show the page without some of its data.
func (b *tab) openUntil(address, expression string) {
	b.t.Helper()
	eventually(b.t, expression, func() bool {
		b.open(address)
		return eval[bool](b, "Boolean("+expression+")")
	})
}

// click presses the mouse in the middle of an element, count times. It finds the element by a script: chromedp's own tree of
// nodes does not outlive a page that comes back from the cache.
func (b *tab) click(selector string, count ...int) {
	b.t.Helper()
	x, y := b.press("document.querySelector(" + quote(selector) + ")")
	for _, n := range count { // at once, and so perhaps on a button that is busy by then
		b.do(chromedp.MouseClickXY(x, y, chromedp.ClickCount(n)))
	}
}

// press presses an element that is there and enabled. It presses again if the element moved away from under the mouse or was
// removed meanwhile. The page itself reports whether the mouse met the element, as far as its scripts run.
func (b *tab) press(element string) (x, y float64) {
	b.t.Helper()
	for range 20 {
		b.until(element + `?.checkVisibility() && ` + element + `.getAttribute("aria-disabled") !== "true"`)
		at := eval[struct{ X, Y float64 }](b, `(() => {
			const e = `+element+`;
			if (!e) return { X: 0, Y: 0 };
			e.scrollIntoView({ block: "center", behavior: "instant" });
			window.missed = false;
			document.addEventListener("listening", () => { window.missed = true }, { once: true });
			document.dispatchEvent(new Event("listening"));
			document.addEventListener("click", (click) => { if (click.composedPath().includes(e)) window.missed = false }, { once: true, capture: true });
			const r = e.getBoundingClientRect();
			return { X: r.x + r.width / 2, Y: r.y + r.height / 2 };
		})()`)
		b.do(chromedp.MouseClickXY(at.X, at.Y))
		if !eval[bool](b, "window.missed === true") {
			return at.X, at.Y
		}
	}
	require.Fail(b.t, "the mouse never met "+element)
	return 0, 0
}

// doubleClick is two presses so close that the browser takes them for one.
func (b *tab) doubleClick(selector string) {
	b.t.Helper()
	b.click(selector, 2)
}

func (b *tab) focus(selector string) {
	b.t.Helper()
	require.True(b.t, eval[bool](b, `(() => { const e = document.querySelector(`+quote(selector)+`); e.focus(); return document.activeElement === e })()`))
}

// eval returns the value of an expression in the page, once the page is complete: a busy browser shows the beginning of a page before
// it has read the end. While another page replaces the page, the value is zero.
func eval[T any](b *tab, expression string) T {
	b.t.Helper()
	b.until("true")
	return evalWithin[T](b, soon, expression)
}

// evalWithin is eval of the page as it is, with a time limit of its own.
func evalWithin[T any](b *tab, limit time.Duration, expression string) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, limit)
	defer cancel()
	value, _ := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	return value
}

// until waits for an expression to be true on a complete page.
func (b *tab) until(expression string) {
	b.t.Helper()
	if !eventuallyTrue(b, expression) {
		require.Fail(b.t, "waited in vain for "+expression, "%s\n%s", eval[string](b, "location.href"), eval[string](b, "document.body.innerText"))
	}
}

// listens records all later texts of an element, even short-lived ones.
func (b *tab) listens(selector string) {
	b.t.Helper()
	require.True(b.t, eval[bool](b, `(() => {
		const e = document.querySelector(`+quote(selector)+`);
		window.said = [];
		new MutationObserver(() => { window.said.push(e.textContent.trim()) }).observe(e, { childList: true, characterData: true, subtree: true });
		return true;
	})()`))
}

// hears waits until the element has had a text that begins with text.
func (b *tab) hears(text string) {
	b.t.Helper()
	b.until(`window.said.some((t) => t.startsWith(` + quote(text) + `))`)
}

// width is the page's width, once its styles are there.
func (b *tab) width() int {
	b.t.Helper()
	return eval[int](b, `document.documentElement.scrollWidth`)
}

func (b *tab) choose(method string) {
	b.t.Helper()
	require.True(b.t, eval[bool](b, `(() => { const s = document.getElementById("method"); s.value = `+quote(method)+`; return s.value === `+quote(method)+` })()`))
}

// quote writes a text as a script does.
func quote(text string) string { return strconv.Quote(text) }

// offline cuts the page off, requests under way included, or connects it again.
func (b *tab) offline(off bool) {
	b.t.Helper()
	call(b, network.Enable, network.EnableParams{})
	call(b, network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{
		MatchedNetworkConditions: []*network.Conditions{{Offline: off, DownloadThroughput: -1, UploadThroughput: -1}},
	})
	call(b, network.OverrideNetworkState, network.OverrideNetworkStateParams{Offline: off, DownloadThroughput: -1, UploadThroughput: -1})
}

func (b *tab) scripts(on bool) {
	b.t.Helper()
	call(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !on})
}

// dark emulates a preference for dark or light colours, without transitions between them.
func (b *tab) dark(on bool) {
	b.t.Helper()
	value := map[bool]string{true: "dark", false: "light"}[on]
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: value}, {Name: "prefers-reduced-motion", Value: "reduce"}},
	})
}

// picture saves a screenshot of the page; `go test -artifacts` prints its place.
func (b *tab) picture(name string) {
	b.t.Helper()
	b.keep(name, chromedp.FullScreenshot(100))
}

// keep is picture of a part of the page.
func (b *tab) keep(name string, take chromedp.Action[[]byte]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, soon)
	defer cancel()
	image, err := chromedp.Run(ctx, take)
	require.NoError(b.t, err)
	require.NoError(b.t, os.WriteFile(filepath.Join(b.t.ArtifactDir(), name+".png"), image, 0o600))
}
