package e2e_test

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/testdb"
)

// TestShop: one order is charged once in every case of a checkout in a real browser, against the real program. One shop serves
// all cases; a few cases run at a time, since a browser is heavy.
func TestShop(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	all := map[string]func(t *testing.T){}
	for name, run := range withScripts() {
		all[name] = func(t *testing.T) { run(newTab(t), s) } //nolint:thelper // a test
	}
	for name, run := range withoutScripts() {
		all[name] = func(t *testing.T) { run(scriptless(t), s) } //nolint:thelper // a test
	}
	for name, run := range withProvidersForm() {
		all["provider's form, "+name] = func(t *testing.T) { run(newTab(t), s) } //nolint:thelper // a test
	}
	for name, show := range screens() {
		all["screen "+name] = func(t *testing.T) { everybodyCanUse(show)(newTab(t), s) } //nolint:thelper // a test
	}
	const lanes = 3
	names := slices.Sorted(maps.Keys(all))
	for lane := range lanes {
		t.Run(strconv.Itoa(lane), func(t *testing.T) {
			t.Parallel()
			for i := lane; i < len(names); i += lanes {
				t.Run(names[i], all[names[i]])
			}
		})
	}
}

// TestNoShopInProduction: only `dev` has one.
func TestNoShopInProduction(t *testing.T) {
	t.Parallel()
	s := newRig(t).serve()
	s.customer().send(t.Context(), http.MethodGet, "/demo", "").problem(t, http.StatusNotFound, "not-found")
	s.customer().send(t.Context(), http.MethodGet, "/dev/sign-in?code=x", "").problem(t, http.StatusNotFound, "not-found")
	s.customer().send(t.Context(), http.MethodGet, "/sdk/paylatch.js", "").is(t, http.StatusOK)
}

// demoShop is a running `paylatch dev` with a database that the test can query.
type demoShop struct {
	*rig
	*process
	dam       *dam
	dir, base string
	environ   []string
	args      []string
}

func openShop(t *testing.T) *demoShop {
	t.Helper()
	if _, err := chromium(); errors.Is(err, errNoBrowser) {
		t.Skip("there is no chromium to look at the pages with")
	}
	return openDev(t)
}

func openDev(t *testing.T, environ ...string) *demoShop {
	t.Helper()
	dsn, listen, box := testdb.New(t), testdb.Address(t), testdb.Address(t)
	db, err := pgxpool.New(t.Context(), dsn)
	require.NoError(t, err)
	t.Cleanup(db.Close)
	s := &demoShop{
		rig: &rig{t: t, dsn: dsn, db: db, sandbox: "http://" + box}, dam: newDam(t, "http://"+box),
		dir: t.TempDir(), base: checked(t, "http://"+listen),
		environ: []string{
			"PAYLATCH_LISTEN=" + listen, "PAYLATCH_DATABASE_URL=" + dsn, "PAYLATCH_LOG_FORMAT=json",
			"PAYLATCH_IDEMPOTENCY_LEASE=3s", "PAYLATCH_PROVIDER_TIMEOUT=2500ms", "PAYLATCH_IDEMPOTENCY_WAIT=1m",
			"PAYLATCH_RECONCILE_AFTER=300ms", "PAYLATCH_RECONCILE_EVERY=100ms", "PAYLATCH_DEFAULT_ACCOUNT=sandbox", ringOfTests,
		},
		args: []string{"dev", "--sandbox-listen", box},
	}
	s.environ = append(s.environ,
		fmt.Sprintf("PAYLATCH_ACCOUNTS=[{name: sandbox, kind: sandbox, base_url: %q, webhook_secrets: [%s]}]", s.dam.URL, sandboxSecret))
	s.environ = append(s.environ, environ...) // the last one of a name counts
	s.run(t)
	return s
}

// run starts the shop, again after it was killed.
func (s *demoShop) run(t *testing.T) {
	t.Helper()
	s.process = start(t, s.dir, s.environ, s.args...)
	eventually(t, "ready", func() bool {
		return client{base: s.base, blunt: true}.send(t.Context(), http.MethodGet, "/readyz", "").status == http.StatusOK
	})
}

// checkout takes a customer to a new order's checkout and returns the order.
func (s *demoShop) checkout(b *tab, method string) string {
	b.t.Helper()
	b.open(s.base + "/demo")
	b.click("button[type=submit]")
	b.until(`location.pathname.startsWith("/demo/orders/")`)
	b.until(`document.getElementById("pay") !== null`)
	b.choose(method)
	return strings.TrimPrefix(eval[string](b, "location.pathname"), "/demo/orders/")
}

// reached waits until the order has an attempt on disk.
func (s *demoShop) reached(t *testing.T, order string) {
	t.Helper()
	eventually(t, "the attempt", func() bool { return len(s.attemptsOf(t, order)) > 0 })
}

func (s *demoShop) attemptsOf(t *testing.T, order string) []string {
	t.Helper()
	return column[string](t, s.rig, `SELECT attempt_id::text FROM payment_attempts WHERE order_id = $1 ORDER BY created_at`, order)
}

// shows waits for a phase and its text on the page.
func (b *tab) shows(phase, text string) {
	b.t.Helper()
	b.until(`document.getElementById("checkout")?.dataset.phase === ` + quote(phase) + ` && document.getElementById("status").innerText.includes(` + quote(text) + `)`)
}

// paidOnce requires the whole truth about an order that was paid: on the page, in
// the database and in the provider's books.
func (s *demoShop) paidOnce(b *tab, order string) {
	b.t.Helper()
	b.shows("succeeded", "Paid. Thank you!")
	b.until(`document.getElementById("charges").innerText.trim() === "charge: 19.99 EUR"`)
	require.True(b.t, eval[bool](b, `document.getElementById("pay-form").hidden`), "there is nothing left to press")
	s.chargedOnce(b.t, order)
}

func (s *demoShop) chargedOnce(t *testing.T, order string) {
	t.Helper()
	attempts := s.attemptsOf(t, order)
	require.Len(t, attempts, 1, "one attempt")
	s.charged(t, attempts[0], 1999)
	require.Equal(t, "succeeded", one[string](t, s.rig, `SELECT status::text FROM payment_attempts WHERE order_id = $1`, order))
	require.Empty(t, column[string](t, s.rig, `SELECT kind::text FROM discrepancies WHERE order_id = $1`, order))
}

const browserTries = 30 * time.Millisecond

func eventuallyTrue(b *tab, expression string) bool {
	b.t.Helper()
	limit := time.NewTimer(soon)
	defer limit.Stop()
	tick := time.NewTicker(browserTries)
	defer tick.Stop()
	for {
		if evalWithin[bool](b, soon, `document.readyState === "complete" && Boolean(`+expression+`)`) {
			return true
		}
		select {
		case <-limit.C:
			return false
		case <-tick.C:
		}
	}
}
