package sandbox_test

import (
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/sandbox"
)

func redirect(returnURL string) string {
	return strings.TrimSuffix(order("att-1", "tok_redirect"), "}") + `,"return_url":"` + returnURL + `"}`
}

// press acts like a browser on a button of the page.
func (r *env) press(t *testing.T, page, decision string) answer {
	t.Helper()
	res, err := r.client.PostForm(page, url.Values{"decision": {decision}})
	require.NoError(t, err)
	defer res.Body.Close()
	return answer{status: res.StatusCode, header: res.Header}
}

func TestHostedPage(t *testing.T) {
	t.Parallel()
	for decision, want := range map[string]string{"approve": "succeeded", "decline": "failed"} {
		t.Run(decision, func(t *testing.T) {
			t.Parallel()
			r, rec := startWithReceiver(t, sandbox.Options{})
			c := r.pay(t, "key-1", redirect("http://shop.example/back?order=1"))
			require.Equal(t, "redirect", c.NextAction.Type)
			require.Equal(t, r.url+"/pay/"+c.ID, c.NextAction.URL)

			page := r.get(t, "/pay/"+c.ID)
			require.Equal(t, http.StatusOK, page.status)
			for _, part := range []string{">Approve<", ">Decline<", "19.99 EUR", "att-1"} {
				require.Contains(t, page.body, part)
			}
			pressed := r.press(t, c.NextAction.URL, decision)
			require.Equal(t, http.StatusSeeOther, pressed.status)
			require.Equal(t, "http://shop.example/back?order=1", pressed.header.Get("Location"))

			decided := r.lookup(t, c.ID)
			require.Equal(t, want, decided.Status)
			require.Nil(t, decided.NextAction)
			rec.gets(t, "charge."+want)
			page = r.get(t, "/pay/"+c.ID)
			require.NotContains(t, page.body, "<button")
			require.Contains(t, page.body, "http://shop.example/back?order=1")
		})
	}
}

func TestDecideTwice(t *testing.T) {
	t.Parallel()
	r, rec := startWithReceiver(t, sandbox.Options{})
	c := r.pay(t, "key-1", redirect("http://shop.example/"))
	require.Equal(t, http.StatusSeeOther, r.press(t, c.NextAction.URL, "decline").status)
	for _, decision := range []string{"decline", "approve"} {
		require.Equal(t, http.StatusConflict, r.press(t, c.NextAction.URL, decision).status)
	}
	require.Equal(t, "failed", r.lookup(t, c.ID).Status)
	require.Empty(t, r.ledger(t))
	rec.gets(t, "charge.failed")
}

func TestDecideConcurrent(t *testing.T) {
	t.Parallel()
	r, rec := startWithReceiver(t, sandbox.Options{})
	c := r.pay(t, "key-1", redirect("http://shop.example/"))
	var statuses [20]int
	var wg sync.WaitGroup
	for i := range statuses {
		wg.Go(func() { statuses[i] = r.press(t, c.NextAction.URL, []string{"approve", "decline"}[i%2]).status })
	}
	wg.Wait()
	decided := 0
	for _, status := range statuses {
		if status == http.StatusSeeOther {
			decided++
		}
	}
	require.Equal(t, 1, decided)
	require.Eventually(t, func() bool { return len(rec.all()) == 1 }, patience, tick)
	require.LessOrEqual(t, len(r.ledger(t)), 1)
}

func TestHostedPageWithManualCapture(t *testing.T) {
	t.Parallel()
	r, rec := startWithReceiver(t, sandbox.Options{})
	c := r.pay(t, "key-1", manual("att-1", "tok_redirect"))
	pressed := r.press(t, c.NextAction.URL, "approve")
	require.Equal(t, c.NextAction.URL, pressed.header.Get("Location"), "without a return_url the page shows the result")
	rec.gets(t, "charge.authorized")
	require.Contains(t, r.get(t, "/pay/"+c.ID).body, "Payment authorized")
	require.Empty(t, r.ledger(t))
}

func TestDecideRefused(t *testing.T) {
	t.Parallel()
	r := start(t, sandbox.Options{PublicURL: "http://pay.example/"})
	c := r.pay(t, "key-1", redirect("http://shop.example/"))
	require.Equal(t, "http://pay.example/pay/"+c.ID, c.NextAction.URL)
	require.Equal(t, http.StatusUnprocessableEntity, r.press(t, r.url+"/pay/"+c.ID, "").status)

	never := r.pay(t, "key-2", order("att-2", "tok_never"))
	require.Equal(t, http.StatusNotFound, r.get(t, "/pay/"+never.ID).status)
	require.Equal(t, http.StatusNotFound, r.press(t, r.url+"/pay/"+never.ID, "approve").status)
	require.Equal(t, "pending", r.lookup(t, never.ID).Status)

	require.Equal(t, http.StatusOK, r.post(t, "/v1/charges/"+c.ID+"/cancel", "key-3", "").status)
	require.Equal(t, http.StatusConflict, r.press(t, r.url+"/pay/"+c.ID, "approve").status)
	for _, file := range []string{"style.css", "base.css", "pico.min.css", "icon.svg"} {
		require.Equal(t, http.StatusOK, r.get(t, "/pay/assets/"+file).status, file)
	}
}

func TestPageEscapes(t *testing.T) {
	t.Parallel()
	r := start(t, sandbox.Options{})
	c := r.pay(t, "key-1", order("<script>alert(1)</script>", "tok_redirect"))
	page := r.get(t, "/pay/"+c.ID)
	require.NotContains(t, page.body, "<script>")
	require.Contains(t, page.header.Get("Content-Security-Policy"), "default-src 'none'")
}
