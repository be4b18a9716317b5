package providertest

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
)

// visit opens a link or posts its form at the fake, as a customer's browser does. Faults do not touch this request, but
// it is counted among the adapter's requests.
func (r *rig) visit(to *payment.NextAction) {
	r.Helper()
	require.NotNil(r, to)
	method, form := http.MethodGet, url.Values{}
	for name, value := range to.Fields {
		form.Set(name, value)
	}
	if to.Type == payment.ActionPostForm {
		method = http.MethodPost
	}
	request := httptest.NewRequestWithContext(r.Context(), method, to.URL, strings.NewReader(form.Encode()))
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	seen, page := received(request), httptest.NewRecorder()
	r.mu.Lock()
	r.seen = append(r.seen, seen)
	r.mu.Unlock()
	r.fake.ServeHTTP(page, request)
	require.Equal(r, http.StatusOK, page.Code, page.Body.String())
}

// unvisited tests a payment whose link was never opened. The payment waits, and no command is sent for it.
func (r *rig) unvisited() {
	before := len(r.commanded())
	waits, err := r.Lookup(r.Context(), r.NoPayment)
	require.NoError(r, err)
	require.Equal(r, fsm.EventActionRequired, waits.Event)
	for _, c := range r.commands(r.NoPayment, permit()) {
		_ = c.do(r.Context()) // only the requests matter
	}
	require.Len(r, r.commanded(), before)
}
