package demo_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"sync"
	"testing"

	"github.com/a-h/templ"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/console/demo"
)

const aFailure = `{"payment_attempt_id":"at-1","status":"failed","stage":"final","can_start_new_attempt":true}`

func requestsOn(page string) string {
	return regexp.MustCompile(`id="requests">(\d+)<`).FindStringSubmatch(page)[1]
}

// Each request to pay counts, with any result and by any way; reads don't.
func TestTally(t *testing.T) {
	t.Parallel()
	r := newEnv(t, func(c call) (int, http.Header, string) {
		if c.key == "lost-key-1" {
			return 0, nil, ""
		}
		return 409, nil, `{"code":"payment-in-progress"}`
	}, aFailure)
	require.Equal(t, "0", requestsOn(r.send("GET", "/demo/orders/A-1", "", "").text))
	var all sync.WaitGroup
	for range 5 {
		all.Go(func() { r.send("POST", "/demo/orders/A-1/pay", jsonType, aPress, "Idempotency-Key: press-0001") })
	}
	all.Wait()
	r.send("POST", "/demo/orders/A-1/pay", jsonType, aPress, "Idempotency-Key: lost-key-1")
	r.send("POST", "/demo/orders/A-1/pay", formType, "client_request_id=form:A-1:2&token=tok_success")
	r.send("POST", "/demo/orders/A-1/form", jsonType, `{}`, "Idempotency-Key: press-0001")
	r.send("POST", "/demo/orders/A-2/pay", jsonType, aPress, "Idempotency-Key: press-0001")
	r.send("GET", "/demo/orders/A-1/status?payment_attempt_id="+attemptID, "", "")
	for _, path := range []string{"/demo/orders/A-1", "/demo/orders/A-1/charges", "/demo/orders/A-1/form"} {
		page := r.send("GET", path, "", "").text
		require.Equal(t, "8", requestsOn(page), path)
		require.Contains(t, page, `id="charged">1 ×<`, path)
		require.Contains(t, page, `href="/support/attempts/at-1"`, path)
	}
}

// A customer without an attempt is led to no page of the console.
func TestProofWithoutAttempt(t *testing.T) {
	t.Parallel()
	page := newEnv(t, created).send("GET", "/demo/orders/A-1", "", "").text
	require.Regexp(t, `<p id="support" hidden>`, page)
	require.Regexp(t, `<section id="receipt"[^>]* hidden>`, page)
	require.Contains(t, page, `id="charged">0 ×<`)
}

// The counts take no more memory than those of so many orders.
func TestTallyBounded(t *testing.T) {
	t.Parallel()
	r := newEnv(t, created)
	handler := r.shop.Config.Handler
	press := func(order string) {
		q := httptest.NewRequest(http.MethodPost, "/demo/orders/"+order+"/pay", http.NoBody)
		q.Header.Set("Content-Type", jsonType)
		handler.ServeHTTP(httptest.NewRecorder(), q) // a body that is no payment goes no further
	}
	press("A-1")
	require.Equal(t, "1", requestsOn(r.send("GET", "/demo/orders/A-1", "", "").text))
	for i := range 10_000 {
		press("B-" + strconv.Itoa(i))
	}
	require.Equal(t, "0", requestsOn(r.send("GET", "/demo/orders/A-1", "", "").text))
}

// The course of the newest attempt is in the page, and in the parts that the script replaces.
func TestCourse(t *testing.T) {
	t.Parallel()
	r := newEnv(t, created, aFailure, `{"payment_attempt_id":"at-2","status":"succeeded","stage":"final"}`)
	shop := httptest.NewServer(demo.New(demo.Options{
		PublicURL: r.backend.url, ProviderURL: r.backend.url, Token: secret, Client: http.DefaultClient,
		Course: func(_ context.Context, attempt string) templ.Component {
			return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
				_, err := io.WriteString(w, "<p>the course of "+attempt+"</p>")
				return err
			})
		},
	}))
	t.Cleanup(shop.Close)
	r.shop = shop
	for _, path := range []string{"/demo/orders/A-1", "/demo/orders/A-1/charges"} {
		require.Regexp(t, `<div id="course"><p>the course of at-2</p></div>`, r.send("GET", path, "", "").text, path)
	}
}
