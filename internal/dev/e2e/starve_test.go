package e2e_test

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestNobodyStarvesOthers: a flood by one sender, one page or one visitor leaves enough for the others.
func TestNobodyStarvesOthers(t *testing.T) {
	t.Parallel()
	t.Run("unsigned_flood", floodsStayOutside)
	t.Run("slow_uploads", slowUploadsTakeLittle)
	t.Run("waiters", waitersAreShared)
	t.Run("baskets", basketsAreOnePersons)
	t.Run("kept_connections", keptConnectionsEnd)
	t.Run("sign_ins", signInsAreNoVisits)
}

// waitersAreShared: a status token belongs to a page, and every viewer of the page may have it.
func waitersAreShared(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := r.serve()
	u, c := s.customer(), s.bluntly(token("u1", "customer"))
	a := u.pay(t.Context(), u.order(t), unique("pay"), "tok_never").attempt(t, http.StatusCreated)
	page := client{base: s.base, token: a.StatusToken, blunt: true}
	at, known := "/v1/payment-attempts/"+a.ID, `If-None-Match: "`+strconv.Itoa(a.Version)+`"`
	work, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	t.Cleanup(all.Wait)
	t.Cleanup(stop)
	waits := func(by client, n int) {
		for range n {
			all.Go(func() { by.stays(work, at) })
		}
	}
	full := func(by client) {
		send := func(path string) answer {
			return served(t.Context(), func() answer { return by.send(t.Context(), http.MethodGet, at+path, "", known) })
		}
		for _, path := range []string{"?wait=60", "/stream"} {
			send(path).problem(t, http.StatusTooManyRequests, "rate-limited")
		}
		send("").is(t, http.StatusNotModified)
	}
	leaving := page.follow(t, a.ID, "")
	waits(page, 19)
	s.waiting(t, 20)
	full(page)
	again := u.pay(t.Context(), a.OrderID, *a.ClientRequestID, "tok_never").attempt(t, http.StatusCreated)
	full(client{base: s.base, token: again.StatusToken, blunt: true})

	waits(c, 30)
	waits(s.shop("u1"), 20)
	s.waiting(t, 70)
	full(c)
	full(s.shop("u1"))
	waits(s.shop(""), 60)
	s.waiting(t, 130)
	other := s.as(token("u2", "customer"))
	theirs := other.pay(t.Context(), other.order(t), unique("pay"), "tok_never").attempt(t, http.StatusCreated)
	all.Go(func() { other.stays(work, "/v1/payment-attempts/"+theirs.ID) })
	s.waiting(t, 131)

	require.NoError(t, leaving.Body.Close())
	s.waiting(t, 130)
	all.Go(func() {
		for work.Err() == nil {
			page.send(work, http.MethodGet, at+"?wait=60", "", known)
		}
	})
	s.waiting(t, 131)
}

// stays waits at an attempt until the context ends. It follows the attempt's stream, because a poll ends by itself. On a busy machine the
// poll could end before all waiters have connected.
func (c client) stays(ctx context.Context, at string) {
	for ; ctx.Err() == nil; breathe(ctx, pause) {
		c.send(ctx, http.MethodGet, at+"/stream", "")
	}
}

// basketsAreOnePersons: many baskets are no more waiters for one customer, and a network has no more than half of all.
func basketsAreOnePersons(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := r.serve("PAYLATCH_MAX_WAITERS=160")
	work, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	t.Cleanup(all.Wait)
	t.Cleanup(stop)
	c := s.customer()
	var refused client
	var at string
	isRefused := func() {
		served(t.Context(), func() answer { return refused.send(t.Context(), http.MethodGet, at, "") }).problem(t, http.StatusTooManyRequests, "rate-limited")
	}
	for i := range 4 { // 20, 20, 10 and none
		a := c.pay(t.Context(), c.order(t), unique("pay"), "tok_never").attempt(t, http.StatusCreated)
		page := client{base: s.base, token: a.StatusToken, blunt: true}
		refused, at = page, "/v1/payment-attempts/"+a.ID+"/stream"
		for range min(20, 50-20*i) {
			all.Go(func() { page.stays(work, "/v1/payment-attempts/"+a.ID) })
		}
		s.waiting(t, min(50, 20*(i+1)))
	}
	isRefused()
	for i := range 3 { // a user each, 30 of the network's slots
		by := s.as(token("other-"+strconv.Itoa(i), "customer"))
		a := by.pay(t.Context(), by.order(t), unique("pay"), "tok_never").attempt(t, http.StatusCreated)
		for range 10 {
			all.Go(func() { by.stays(work, "/v1/payment-attempts/"+a.ID) })
		}
		s.waiting(t, 60+10*i)
		refused, at = by, "/v1/payment-attempts/"+a.ID+"/stream"
	}
	isRefused()
}

// signInsAreNoVisits: a visitor that only looks at the sign-in pages uses up no other visitor's limit. Too frequent sign-ins are
// still refused.
func signInsAreNoVisits(t *testing.T) {
	t.Parallel()
	s := openConsole(t)
	visits := []string{"/support", "/support/sign-in", "/support/sign-in/begin", "/support/sign-in/callback?state=a&code=b"}
	var all sync.WaitGroup
	for _, path := range visits {
		all.Go(func() {
			for range 50 {
				newPerson(t, s.base).get(path)
			}
		})
	}
	all.Wait()
	signedIn(t, s.base, "sam", "support").get("/support").is(t, http.StatusOK)
}
