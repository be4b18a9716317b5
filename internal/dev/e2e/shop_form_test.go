package e2e_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// withProvidersForm are a person's actions in the checkout that has the provider's own form: the browser calls the provider, and
// paylatch follows its reports.
func withProvidersForm() map[string]func(b *tab, s *demoShop) {
	return map[string]func(b *tab, s *demoShop){
		"paid":                         formPaid,
		"declined, then paid":          formDeclinedThenPaid,
		"double presses":               formDoublePresses,
		"reload in the middle":         formReloads,
		"left and come back":           formBack,
		"approved on a page":           formRedirect,
		"back from a page":             formBackFromRedirect,
		"no answer":                    formNoAnswer,
		"two tabs":                     formTwoTabs,
		"two devices":                  formTwoDevices,
		"given up":                     formGivenUp,
		"given up after the press":     formGivenUpLate,
		"given up after it was paid":   formGivenUpPaid,
		"open still when it was ended": formStale,
	}
}

const formButton = "#provider button"

// formCheckout takes a customer to a new order's checkout with the provider's form.
func (s *demoShop) formCheckout(b *tab) string {
	b.t.Helper()
	order := s.checkout(b, "tok_success")
	b.click(".other-way a")
	b.until(`location.pathname.endsWith("/form") && document.getElementById("tricks")?.hidden === false`)
	return order
}

// openForm does that, and opens the form.
func (s *demoShop) openForm(b *tab) string {
	b.t.Helper()
	order := s.formCheckout(b)
	b.click("#pay")
	b.formIsOpen()
	return order
}

func (b *tab) formIsOpen() {
	b.t.Helper()
	b.shows("form", "The provider's own form takes the payment.")
	b.until(`document.querySelector("` + formButton + `")?.checkVisibility()`)
}

func (b *tab) chooseInForm(method string) {
	b.t.Helper()
	require.Equal(b.t, method, eval[string](b, `(() => { const s = document.querySelector("#provider select"); s.value = `+quote(method)+`; return s.value })()`))
}

func (b *tab) paysByForm(method string) {
	b.t.Helper()
	b.chooseInForm(method)
	b.click(formButton)
}

// paidOnceByForm requires the whole truth, and that the provider has one charge, paid
// or not, for each attempt.
func (s *demoShop) paidOnceByForm(b *tab, order string) {
	b.t.Helper()
	s.paidOnce(b, order)
	require.Equal(b.t, []string{"external"}, column[string](b.t, s.rig, `SELECT origin FROM payment_attempts WHERE order_id = $1`, order))
	s.createdOnce(b.t, order)
}

func (s *demoShop) createdOnce(t *testing.T, order string) {
	t.Helper()
	for _, id := range s.attemptsOf(t, order) {
		var found struct {
			Items []json.RawMessage `json:"items"`
		}
		a := client{base: s.sandbox}.send(t.Context(), http.MethodGet, "/v1/charges?reference="+id, "")
		a.is(t, http.StatusOK)
		require.NoError(t, json.Unmarshal(a.text, &found))
		require.Len(t, found.Items, 1)
	}
}

// paidSecond requires that the order's first attempt was not charged, and its second was.
func (s *demoShop) paidSecond(b *tab, order string) {
	b.t.Helper()
	b.shows("succeeded", "Paid. Thank you!")
	attempts := s.attemptsOf(b.t, order)
	require.Len(b.t, attempts, 2)
	require.Empty(b.t, s.ledger(b.t, attempts[0]))
	s.charged(b.t, attempts[1], 1999)
	require.Empty(b.t, column[string](b.t, s.rig, `SELECT kind::text FROM discrepancies WHERE order_id = $1`, order))
}

func formPaid(b *tab, s *demoShop) {
	order := s.openForm(b)
	require.Equal(b.t, "provider", eval[string](b, `document.activeElement.id`), "the focus goes to the form")
	b.paysByForm("tok_success")
	s.paidOnceByForm(b, order)
	b.until(`document.activeElement.id === "status"`)
	require.Empty(b.t, eval[string](b, `document.getElementById("provider").innerHTML`))
	require.NotContains(b.t, eval[string](b, `JSON.stringify(localStorage)`), "_secret_")
	b.do(chromedp.Reload())
	s.paidOnceByForm(b, order)
}

// formDeclinedThenPaid: the attempt was begun by the shop's backend, so a decline leaves it open for another payment until
// the shop gives it up.
func formDeclinedThenPaid(b *tab, s *demoShop) {
	order := s.openForm(b)
	b.paysByForm("tok_decline")
	b.shows("form", "Checking the payment…")
	b.click("#leave")
	b.shows("failed", "")
	s.paysByShopAfterAll(b, order)
	s.createdOnce(b.t, order)
}

func formDoublePresses(b *tab, s *demoShop) {
	order := s.formCheckout(b)
	b.doubleClick("#pay")
	b.formIsOpen()
	require.Equal(b.t, 1, eval[int](b, `document.querySelectorAll("#provider form").length`))
	b.chooseInForm("tok_async_success")
	b.doubleClick(formButton)
	s.paidOnceByForm(b, order)

	order = s.openForm(b)
	b.click("#twice")
	s.paidOnceByForm(b, order)
}

func formReloads(b *tab, s *demoShop) {
	order := s.openForm(b)
	for range 2 {
		b.do(chromedp.Reload())
		b.formIsOpen()
	}
	b.paysByForm("tok_never")
	b.shows("form", "Checking the payment…")
	b.do(chromedp.Reload())
	b.shows("form", "Checking the payment…")
	require.False(b.t, eval[bool](b, `document.getElementById("provider").checkVisibility()`), "there is nothing left to press")
	require.Len(b.t, s.attemptsOf(b.t, order), 1)
	s.createdOnce(b.t, order)

	order = s.openForm(b)
	b.do(chromedp.Reload())
	b.formIsOpen()
	b.paysByForm("tok_async_success")
	b.do(chromedp.Reload())
	s.paidOnceByForm(b, order)
}

func formBack(b *tab, s *demoShop) {
	order := s.openForm(b)
	b.open(s.base + "/demo")
	eval[any](b, `history.back()`)
	b.formIsOpen()
	b.open(s.base + "/demo/orders/" + order)
	b.formIsOpen()
	require.Equal(b.t, "/demo/orders/"+order+"/form", eval[string](b, `location.pathname`), "the checkout is that of the payment")
	b.paysByForm("tok_success")
	s.paidOnceByForm(b, order)
}

func formRedirect(b *tab, s *demoShop) {
	order := s.openForm(b)
	b.paysByForm("tok_redirect")
	b.until(`location.pathname.startsWith("/pay/")`)
	b.click("button[value=approve]")
	s.paidOnceByForm(b, order)
	require.Equal(b.t, "/demo/orders/"+order+"/form", eval[string](b, `location.pathname`))
}

func formBackFromRedirect(b *tab, s *demoShop) {
	order := s.openForm(b)
	b.paysByForm("tok_redirect")
	comeBack(b)
	require.Equal(b.t, "/demo/orders/"+order+"/form", eval[string](b, `location.pathname`))
	b.click("#continue")
	b.until(`location.pathname.startsWith("/pay/")`)
	b.click("button[value=approve]")
	s.paidOnceByForm(b, order)
}

func formNoAnswer(b *tab, s *demoShop) {
	order := s.openForm(b)
	b.paysByForm("tok_hang_charged")
	s.paidOnceByForm(b, order)

	order = s.openForm(b)
	b.paysByForm("tok_500_once")
	b.until(`document.querySelector("#provider [role=status]").innerText.includes("Press Pay again. You are not charged twice.")`)
	b.click(formButton)
	s.paidOnceByForm(b, order)
}

func formTwoTabs(b *tab, s *demoShop) {
	order := s.openForm(b)
	two := b.another()
	two.open(s.base + "/demo/orders/" + order + "/form")
	two.shows("form", "It is open in another tab.")
	require.False(b.t, eval[bool](two, `document.getElementById("provider").checkVisibility()`))
	b.open(s.base + "/demo")
	two.formIsOpen()
	two.paysByForm("tok_success")
	s.paidOnceByForm(two, order)
	eval[any](b, `history.back()`)
	s.paidOnceByForm(b, order)
}

// otherDevice opens an order whose form is open elsewhere.
func otherDevice(b *tab, s *demoShop, order string) {
	b.t.Helper()
	b.open(s.base + "/demo/orders/" + order)
	b.shows("checking", "begun on another page or device")
	require.False(b.t, eval[bool](b, `document.getElementById("provider").checkVisibility()`))
}

func formTwoDevices(b *tab, s *demoShop) {
	other := b.other()
	order := s.openForm(b)
	otherDevice(other, s, order)
	other.click("#here")
	b.shows("failed", "The payment was cancelled.")
	require.Empty(b.t, eval[string](b, `document.getElementById("provider").innerHTML`), "its form is gone")
	for _, device := range []*tab{b, other} { // each reads the order before either pays again
		device.until(`document.getElementById("pay")?.getAttribute("aria-disabled") === "false"`)
	}
	other.click("#pay")
	other.formIsOpen()
	eval[any](b, `document.getElementById("pay").click()`) // its page may know already
	b.shows("failed", "This order can't be paid again at the moment.")
	other.paysByForm("tok_success")
	s.paidSecond(other, order)
	b.do(chromedp.Reload())
	s.paidSecond(b, order)
}

func formGivenUp(b *tab, s *demoShop) {
	order := s.openForm(b)
	b.click("#leave")
	b.shows("failed", "The payment was cancelled. Nothing was charged.")
	s.paysByShopAfterAll(b, order)
}

func formGivenUpLate(b *tab, s *demoShop) {
	order := s.openForm(b)
	b.paysByForm("tok_never")
	b.shows("form", "Checking the payment…")
	b.click("#leave")
	b.shows("failed", "The payment was cancelled. Nothing was charged.")
	s.paysByShopAfterAll(b, order)
}

// paysByShopAfterAll goes from whichever checkout is shown to the shop's own.
func (s *demoShop) paysByShopAfterAll(b *tab, order string) {
	b.t.Helper()
	b.open(s.base + "/demo/orders/" + order)
	b.until(`document.getElementById("pay")?.getAttribute("aria-disabled") === "false"`)
	b.choose("tok_success")
	b.click("#pay")
	s.paidSecond(b, order)
}

// formGivenUpPaid: a report can't undo a payment.
func formGivenUpPaid(b *tab, s *demoShop) {
	order := s.openForm(b)
	b.paysByForm("tok_success")
	b.shows("succeeded", "Paid. Thank you!")
	eval[any](b, `document.querySelector("#leave").click()`)
	b.until(`location.pathname === "/demo/orders/` + order + `"`)
	s.paidOnceByForm(b, order)
}

// formStale: a form that is still open when its attempt was given up can't charge, even if no script has removed it.
func formStale(b *tab, s *demoShop) {
	order := s.openForm(b)
	require.True(b.t, eval[bool](b, `(async () => {
		const { key } = JSON.parse(localStorage.getItem("paylatch:`+order+`"));
		const again = await fetch("/demo/orders/`+order+`/form", { method: "POST", body: "{}", headers: { "Idempotency-Key": key, "Content-Type": "application/json" } });
		const { form } = await again.json();
		const stale = Object.assign(document.createElement("div"), { id: "stale" });
		document.querySelector("article").append(stale);
		PaylatchSandbox.dropin(stale, { clientSecret: form.client_secret });
		return true;
	})()`))
	b.until(`document.querySelector("#stale button")?.innerText.includes("19.99")`)
	require.Equal(b.t, 200, eval[int](b, `fetch("/demo/orders/`+order+`/give-up", { method: "POST", body: new URLSearchParams({ then: "form" }) }).then((r) => r.status)`))
	b.shows("failed", "The payment was cancelled.")
	b.click("#stale button")
	b.until(`document.querySelector("#stale [role=status]").innerText === "This payment was cancelled."`)
	require.Empty(b.t, s.ledger(b.t, s.attemptsOf(b.t, order)[0]))
}

// TestFormIsKilled: the program dies after the provider has charged the form's payment, and before it has the result. The
// provider's webhook comes again, and the page finds out.
func TestFormIsKilled(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	b := newTab(t)
	order := s.openForm(b)
	attempt := s.attemptsOf(t, order)[0]

	locked, err := s.db.Begin(t.Context())
	require.NoError(t, err)
	_, err = locked.Exec(t.Context(), `LOCK TABLE provider_events, payment_attempts IN EXCLUSIVE MODE`)
	require.NoError(t, err)
	b.paysByForm("tok_success")
	b.shows("form", "Checking the payment…")
	eventually(t, "the charge", func() bool { return len(s.ledger(t, attempt)) == 1 })
	s.kill()
	// Statements of the dead program must not run once the tables are unlocked.
	_, err = locked.Exec(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`)
	require.NoError(t, err)
	require.NoError(t, locked.Rollback(t.Context()))
	require.Equal(t, "pending", one[string](t, s.rig, `SELECT status::text FROM payment_attempts WHERE attempt_id = $1`, attempt))
	b.shows("form", "The network is gone")

	s.run(t)
	s.paidOnceByForm(b, order)
	require.Len(t, s.movements(t), 1)
	page := client{base: s.base}.send(t.Context(), http.MethodGet, "/demo/orders/"+order+"/form", "")
	require.Contains(t, string(page.text), `data-phase="succeeded"`, "the order is paid")
	s.verifies(t)
}
