package e2e_test

import (
	"net/http"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/faults"
)

// Support requests a refund on the payment's page. Only an admin approves it, once.
func TestConsoleRefundRequests(t *testing.T) {
	t.Parallel()
	s := openConsole(t)
	a := s.bought(t, unique("o"), "tok_success")
	sam, ada := signedIn(t, s.base, "sam", "support"), signedIn(t, s.base, "ada", "admin")
	page := "/support/attempts/" + a.ID
	require.NotContains(t, string(ada.get(page).text), page+"/ask-refund", "an admin refunds at once")
	require.Contains(t, string(sam.get(page).text), page+"/ask-refund")
	form := sam.get(page + "/ask-refund")
	form.is(t, http.StatusOK)
	require.Contains(t, form.page(), "€19.99 of this payment can be refunded. No money moves until an admin approves the request.")
	key := form.hidden(t, "key")
	for amount, status := range map[string]int{"20.00": http.StatusConflict, "x": http.StatusUnprocessableEntity} {
		sam.post(page+"/ask-refund", "key", key, "amount", amount, "reason", "case 1").is(t, status)
	}
	sam.post(page+"/ask-refund", "key", key, "amount", "5.00", "reason", "").is(t, http.StatusUnprocessableEntity)
	asked := sam.post(page+"/ask-refund", "key", key, "amount", "5.00", "reason", "case 1")
	require.Contains(t, sam.followed(asked).page(), "You requested a refund of €5.00.")
	sam.post(page+"/ask-refund", "key", key, "amount", "5.00", "reason", "case 1").is(t, http.StatusSeeOther)

	id := one[string](t, s.rig, `SELECT refund_request_id::text FROM refund_requests`)
	approve, decline := "/support/refund-requests/"+id+"/approve", "/support/refund-requests/"+id+"/decline"
	listed := sam.get("/support/refund-requests")
	require.Contains(t, listed.page(), "Order "+a.OrderID)
	require.Contains(t, listed.page(), "You requested this refund, so another admin must approve it.")
	require.Contains(t, string(listed.text), `href="/support/customers?id=u1"`)
	require.NotContains(t, string(listed.text), approve)
	require.Contains(t, string(listed.text), decline)
	sam.get(approve).is(t, http.StatusForbidden)
	sam.post(approve, "key", sam.get(decline).hidden(t, "key"), "reason", "r").is(t, http.StatusForbidden)
	require.Contains(t, sam.get(decline).page(), "Withdraw the request")

	listed = ada.get("/support/refund-requests")
	require.Contains(t, string(listed.text), approve)
	confirm := ada.get(approve)
	require.Contains(t, confirm.page(), "Approving refunds €5.00 to the customer. This can't be undone. €19.99 of this payment can be refunded now.")
	done := ada.post(approve, "key", confirm.hidden(t, "key"), "reason", "agreed")
	shown := ada.followed(done)
	require.Contains(t, shown.page(), "The refund of €5.00 is approved by ada, and has been started.")
	require.Contains(t, shown.page(), "A refund of €5.00 was requested by sam and approved by ada.")
	require.Contains(t, ada.get("/support/refund-requests").page(), "No request matches.")
	require.Contains(t, ada.get("/support/refund-requests?status=approved").page(), "Decided by ada")
	ada.get("/support/refund-requests?status=lost").is(t, http.StatusUnprocessableEntity)
	ada.get("/support/refund-requests/none/approve").is(t, http.StatusNotFound)
	require.Equal(t, []string{"500 succeeded"}, column[string](t, s.rig, `SELECT amount || ' ' || status FROM refunds`))
	require.Contains(t, s.deeds(t, "ada"), "refund_request.approve "+id+" done agreed")
	require.Contains(t, s.deeds(t, "sam"), "refund_request.create "+id+" done case 1")

	late := ada.post(decline, "key", ada.get(decline).hidden(t, "key"), "reason", "r")
	late.is(t, http.StatusConflict)
	require.Contains(t, late.page(), "This request was already decided.")
}

// A request by an admin needs the approval of another admin.
func TestConsoleOwnRefundRequest(t *testing.T) {
	t.Parallel()
	s := openConsole(t)
	a := s.bought(t, unique("o"), "tok_success")
	api := client{base: s.base, token: token("ada", "admin")}
	asked := api.send(t.Context(), http.MethodPost, "/v1/support/refund-requests", `{"payment_attempt_id":"`+a.ID+`","amount":500,"reason":"r"}`)
	asked.is(t, http.StatusCreated)
	id := one[string](t, s.rig, `SELECT refund_request_id::text FROM refund_requests`)
	api.send(t.Context(), http.MethodPost, "/v1/support/refund-requests/"+id+"/approve", "").is(t, http.StatusConflict)
	ada := signedIn(t, s.base, "ada", "admin")
	approve := "/support/refund-requests/" + id + "/approve"
	refused := ada.post(approve, "key", ada.get(approve).hidden(t, "key"), "reason", "r")
	refused.is(t, http.StatusConflict)
	require.Contains(t, refused.page(), "You requested this refund, so another admin must approve it.")
	require.Zero(t, one[int](t, s.rig, `SELECT count(*)::int FROM refunds`))
}

// The program is killed while the provider has the refund: the approval and the refund are on disk, the next process ends it, and approving
// again adds nothing.
func TestKilledDuringAnApproval(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := r.serve()
	sam, ada := s.as(token("sam", "support")), s.as(token("ada", "admin"))
	c := s.customer()
	order := c.order(t)
	a := c.pay(t.Context(), order, unique("pay"), "tok_success").attempt(t, http.StatusCreated)
	sam.send(t.Context(), http.MethodPost, "/v1/support/refund-requests", `{"payment_attempt_id":"`+a.ID+`","amount":500,"reason":"r"}`).is(t, http.StatusCreated)
	approve := "/v1/support/refund-requests/" + one[string](t, r, `SELECT refund_request_id::text FROM refund_requests`) + "/approve"
	at := r.hold(t, (*faults.Hold).After)
	gone := make(chan answer, 1)
	go func() { gone <- ada.send(t.Context(), http.MethodPost, approve, "") }()
	await(t, at)
	require.Equal(t, "approved", one[string](t, r, `SELECT status FROM refund_requests WHERE refund_id IS NOT NULL`))
	s.kill()
	at.Free()
	<-gone
	r.leasesEnd(t)

	next := r.serve()
	for _, who := range []string{"ada", "bob"} {
		eventually(t, "the approval, once the killed one's lease is over", func() bool {
			return next.as(token(who, "admin")).send(t.Context(), http.MethodPost, approve, "").status == http.StatusOK
		})
	}
	eventually(t, "the refund", func() bool {
		return one[string](t, r, `SELECT string_agg(amount || ' ' || status, ', ') FROM refunds`) == "500 succeeded"
	})
	kinds := []string{}
	for _, m := range r.ledger(t, a.ID) {
		kinds = append(kinds, m.Kind)
	}
	require.Equal(t, []string{"charge", "refund"}, kinds)
	r.verifies(t)
}

// All of a customer on one page, with the answer to "was I charged twice?" first.
func TestConsoleCustomer(t *testing.T) {
	t.Parallel()
	s := openConsole(t)
	sam := signedIn(t, s.base, "sam", "support")
	require.Contains(t, sam.get("/support/customers?id=u1").page(), "This customer has no orders.")
	first := s.bought(t, unique("o"), "tok_success")
	require.Contains(t, sam.get("/support/customers?id=u1").page(), "There is no sign that the customer was charged twice in this one order")
	second := s.bought(t, unique("o"), "tok_success")
	s.bought(t, unique("o"), "tok_decline")
	shown := sam.get("/support/customers?id=u1")
	shown.is(t, http.StatusOK)
	require.Regexp(t, `Perhaps the customer was charged twice: €19\.99 for order `+first.OrderID+` at .*, and €19\.99 for order `+second.OrderID+` at .*, .* later\.`, shown.page())
	for _, page := range []string{"/support/attempts/" + first.ID, "/support/attempts/" + second.ID, "/support/orders?id=" + second.OrderID} {
		require.Contains(t, sam.get(page).page(), "Perhaps the customer was charged twice: €19.99 for order "+first.OrderID, page)
	}
	require.Regexp(t, `Paid twice within \d+ (second|minute)s?\?`, shown.page())
	require.Contains(t, shown.page(), "Charged in EUR €39.98 Refunded in EUR €0.00")
	for _, from := range []string{"/support/attempts/" + first.ID, "/support/orders?id=" + first.OrderID, "/support?q=u1"} {
		require.Contains(t, string(sam.get(from).text), `href="/support/customers?id=u1"`, from)
	}
	sam.get("/support/customers").is(t, http.StatusNotFound)
	sam.get("/support/customers?id=a%20b").is(t, http.StatusUnprocessableEntity)
	require.Contains(t, s.deeds(t, "sam"), "customer.view u1 done ")

	ada := client{base: s.base, token: token("ada", "admin")}
	ada.send(t.Context(), http.MethodPost, "/v1/payment-attempts/"+second.ID+"/refunds", `{}`, "Idempotency-Key: "+unique("refund")).is(t, http.StatusCreated)
	shown = sam.get("/support/customers?id=u1")
	require.Contains(t, shown.page(), "The second payment was refunded later.")
	require.NotContains(t, sam.get("/support/attempts/"+first.ID).page(), "Perhaps the customer was charged twice")
	require.Contains(t, shown.page(), "Refund of €19.99, succeeded")
	require.Contains(t, shown.page(), "Refunded in EUR €19.99")
}

// The pages of requests and of a customer, as axe-core, a phone and a desk show them.
func TestEverybodyCanUseRefundRequests(t *testing.T) {
	t.Parallel()
	newTab(t)
	s := openConsole(t)
	a := s.bought(t, unique("o"), "tok_success")
	s.bought(t, unique("o"), "tok_success")
	sam := signedIn(t, s.base, "sam", "support")
	ask := "/support/attempts/" + a.ID + "/ask-refund"
	sam.post(ask, "key", sam.get(ask).hidden(t, "key"), "amount", "5.00", "reason", "One ticket was not delivered \u202e case 4711").is(t, http.StatusSeeOther)
	request := "/support/refund-requests/" + one[string](t, s.rig, `SELECT refund_request_id::text FROM refund_requests`)
	b := newTab(t)
	b.signIn(s.base, token("ada", "admin"))
	for name, path := range map[string]string{
		"requests": "/support/refund-requests", "approved": "/support/refund-requests?status=approved", "approve": request + "/approve", "decline": request + "/decline",
		"ask": ask, "customer": "/support/customers?id=u1", "nobody": "/support/customers?id=none",
	} {
		b.open(s.base + path)
		b.accessible(name)
		require.LessOrEqual(t, b.width(), 360, "%s: nothing sticks out", name)
		b.picture(name + "-phone-dark")
	}
	b.do(chromedp.EmulateViewport(1280, 900))
	for name, path := range map[string]string{"requests": "/support/refund-requests", "customer": "/support/customers?id=u1"} {
		b.open(s.base + path)
		b.accessible(name + ", wide")
		b.dark(false)
		b.picture(name + "-wide")
	}
}
