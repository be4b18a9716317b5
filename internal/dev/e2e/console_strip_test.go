package e2e_test

import (
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// labels are problems of the labels of a page's strip as the browser has placed them: labels that overlap, and labels that stick
// out.
const labels = `(() => {
	const all = [...document.querySelectorAll(".strip-picture text")].map((t) => ({ text: t.textContent, box: t.getBBox() }));
	const view = document.querySelector(".strip-picture").viewBox.baseVal;
	const wrong = all.length > 5 ? [] : ["there are no labels"];
	all.forEach((a, i) => {
		if (a.box.x < 0 || a.box.x + a.box.width > view.width || a.box.y < 0 || a.box.y + a.box.height > view.height) wrong.push(a.text + " sticks out");
		for (const b of all.slice(0, i)) {
			const apart = a.box.x + a.box.width <= b.box.x || b.box.x + b.box.width <= a.box.x || a.box.y + a.box.height <= b.box.y + 1 || b.box.y + b.box.height <= a.box.y + 1;
			if (!apart) wrong.push(a.text + " is over " + b.text);
		}
	});
	return wrong;
})()`

// TestPicturesOfAPayment looks at the strip and the bar of payments in a browser of another time zone, from a phone's width to a desk's.
func TestPicturesOfAPayment(t *testing.T) {
	t.Parallel()
	newTab(t)
	s := openConsole(t)
	a := s.course(t, unique("o"), unique("key"))
	failed := s.bought(t, unique("o"), "tok_decline")
	late := s.late(t)
	b := newTab(t)
	call(b, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: "Asia/Kolkata"})
	b.signIn(s.base, token("ada", "admin"))
	for name, id := range map[string]string{"course": a.ID, "failed": failed.ID, "late": late.ID} {
		b.open(s.base + "/support/attempts/" + id)
		b.until(`document.querySelector(".local")`)
		require.Empty(t, eval[[]string](b, labels), name)
		b.accessible(name)
		require.LessOrEqual(t, b.width(), 360, "%s: the strip scrolls in its box", name)
		b.picture(name + "-phone-dark")
		b.dark(false)
		b.picture(name + "-phone-light")
	}
	b.do(chromedp.EmulateViewport(1280, 900))
	for name, path := range map[string]string{"course": "/support/attempts/" + a.ID, "late": "/support/attempts/" + late.ID, "order": "/support/orders?id=" + a.OrderID} {
		b.open(s.base + path)
		b.picture(name + "-wide-light")
		b.dark(true)
		b.picture(name + "-wide-dark")
		b.dark(false)
	}

	b.open(s.base + "/support/attempts/" + a.ID)
	b.until(`document.querySelector(".local")`)
	require.Regexp(t, `^([0-9]{4}-[0-9]{2}-[0-9]{2} )?[0-9]{2}:[0-9]{2}:[0-9]{2} GMT\+5:30$`, eval[string](b, `document.querySelector(".local").innerText`))
	require.Regexp(t, ` UTC \(.*GMT\+5:30\)\.`, eval[string](b, `document.getElementById("summary").innerText`))
	require.Contains(t, eval[string](b, `document.querySelector(".strip-picture desc").textContent`), "money: €5.00 refunded")

	eval[any](b, `Object.defineProperty(navigator.clipboard, "writeText", { value: async (text) => { window.written = text; } })`)
	for _, copied := range []string{a.OrderID, a.ID} {
		b.click(`[data-copy="` + copied + `"]`)
		b.until(`window.written === "` + copied + `"`)
	}
	b.listens("[data-copy-from]")
	b.click(`[data-copy-from]`)
	b.until(`window.written === document.getElementById("summary").textContent`)
	b.hears("Copied")

	require.Equal(t, 1, eval[int](b, `document.querySelectorAll("main > .timeline > .refund").length`), "a refund is one row")
	require.False(t, eval[bool](b, `document.querySelector(".refund .timeline").checkVisibility()`), "its course is closed")
	b.click(`main > .timeline > .refund > details > summary`)
	require.Contains(t, eval[string](b, `document.querySelector(".refund .timeline").innerText`), "paylatch asked the provider to refund €5.00")
}
