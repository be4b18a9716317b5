package providertest

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"syscall"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// lostAnswer tests the worst case: the provider took the money and the answer was lost. The same call again must find
// the payment.
func lostAnswer(r *rig) {
	if r.Links {
		return
	}
	c := charge(r.Tokens.Success)
	r.loses()
	_, err := r.Charge(r.Context(), c)
	r.unknown(err, "lost")
	r.mends()
	var first gateway.Outcome
	if r.can.Finds() {
		first, err = r.Find(r.Context(), c.Attempt)
		require.NoError(r, err)
	}
	if r.can.KeyLife == 0 {
		return
	}
	again := r.charged(c)
	if r.can.Finds() {
		require.Equal(r, begun(first), begun(again))
	}
	if r.can.Finds() && r.Customer == nil {
		require.Equal(r, first, again)
	}
	require.Equal(r, euro(price), *again.Money)
}

// serverError tests a server error of the provider after the command was carried out. Some providers store no such
// answer under the key, and carry the command out a second time.
func serverError(r *rig) {
	if r.can.KeyLife == 0 {
		return
	}
	c := charge(r.Tokens.Success)
	said := r.fails(r.command)
	_, err := r.Charge(r.Context(), c)
	r.unknown(err, "charge")
	r.mends()
	paid := r.charged(c)
	require.Contains(r, said(), begun(paid), "the same call made another payment")
	if r.can.Refunds == payment.RefundsNone {
		return
	}
	back := refundOf(paid.ProviderPaymentID, price)
	said = r.fails(r.command)
	_, err = r.Refund(r.Context(), back)
	r.unknown(err, "refund")
	r.mends()
	again, err := r.Refund(r.Context(), back)
	require.NoError(r, err)
	require.Contains(r, said(), again.ProviderRefundID, "the same call made another refund")
}

func slowAnswer(r *rig) {
	if r.Links {
		return
	}
	arrived, goOn := make(chan struct{}), make(chan struct{})
	first := sync.OnceFunc(func() { close(arrived) })
	r.breaks(func(w http.ResponseWriter, req *http.Request, fake http.Handler) {
		first()
		<-goOn
		fake.ServeHTTP(w, req)
	})
	done := make(chan error, 1)
	go func() {
		_, err := r.Charge(r.Context(), charge(r.Tokens.Success))
		done <- err
	}()
	<-arrived
	close(goOn)
	require.NoError(r, <-done)
}

// noConnection tests that a refused connection sends nothing. A command then returns gateway.ErrNotSent; a read returns
// an error without a result.
func noConnection(r *rig) {
	// A closed server is not sufficient, because another process may take its port.
	r.transport.DialContext = func(context.Context, string, string) (net.Conn, error) { return nil, syscall.ECONNREFUSED }
	for _, c := range r.commands(r.NoPayment, permit()) {
		require.ErrorIs(r, c.do(r.Context()), gateway.ErrNotSent, c.name)
	}
	for _, q := range r.questions(r.NoPayment) {
		r.unknown(q.do(r.Context()), q.name)
	}
}

func noLicence(r *rig) {
	id := r.held().ProviderPaymentID
	before := len(r.requests())
	for _, l := range []gateway.Permit{ended(), {}} {
		for _, c := range r.commands(id, l) {
			err := c.do(r.Context())
			require.ErrorIs(r, err, gateway.ErrNotSent, c.name)
			require.ErrorIs(r, err, gateway.ErrPermitEnded, c.name)
		}
	}
	require.Len(r, r.requests(), before)
}

func timeOut(r *rig) {
	id := r.held().ProviderPaymentID
	for _, c := range append(r.commands(id, permit()), r.questions(id)...) {
		ctx, cancel := context.WithTimeout(r.Context(), patience)
		r.breaks(func(_ http.ResponseWriter, req *http.Request, _ http.Handler) {
			cancel()
			<-req.Context().Done()
		})
		r.open(ctx, c, "time-out")
		require.ErrorIs(r, ctx.Err(), context.Canceled, c.name)
	}
}

func cutLine(r *rig) {
	id := r.held().ProviderPaymentID
	r.loses()
	for _, c := range r.commands(id, permit()) {
		before := len(r.requests())
		r.open(r.Context(), c, "cut")
		require.Len(r, r.requests(), before+1, "%s: whether it is sent again is not the adapter's to decide", c.name)
	}
	for _, q := range r.questions(id) {
		r.unknown(q.do(r.Context()), q.name)
	}
}

// later tests answers that report a temporary failure and no result.
func later(r *rig) {
	id := r.held().ProviderPaymentID
	all := append(r.commands(id, permit()), r.questions(id)...)
	for _, status := range []int{408, 429, 500, 502, 503, 504, 520} {
		for _, body := range []string{"", "later", `{"error":{"code":"x","type":"api_error","message":"x"}}`} {
			r.answers(status, body)
			for _, c := range all {
				r.open(r.Context(), c, http.StatusText(status))
			}
		}
	}
}

// garbled tests unreadable answers and answers of proxies. Such an answer is not a success, not a failure, and never
// "there is no such payment".
func garbled(r *rig) {
	id := r.held().ProviderPaymentID
	all := append(r.commands(id, permit()), r.questions(id)...)
	for _, a := range []struct {
		status int
		body   string
	}{
		{200, ""},
		{200, "<html>It works!</html>"},
		{200, `{"id":"x_1","status":"succ`},
		{200, "null"},
		{200, "[]"},
		{200, "{}"},
		{200, `"x_1"`},
		{200, `{"id":1}`},
		{200, `{"data":null,"items":null}`},
		{201, "{}"},
		{202, ""},
		{204, ""},
		{400, "<html>Bad Request</html>"},
		{403, "<html>Forbidden</html>"},
		{403, `{"message":"Forbidden"}`},
		{404, "404 page not found"},
		{404, "{}"},
		{400, `{"error":null}`},
		{400, `{"error":"x"}`},
		{407, ""},
	} {
		r.answers(a.status, a.body)
		for _, c := range all {
			r.open(r.Context(), c, a.body)
		}
	}
}

// elsewhere tests a redirect to an address that is not configured. The adapter must not send the key there, and must not
// use the redirect's body as an answer.
func elsewhere(r *rig) {
	visits := make(chan string, 100)
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		visits <- req.Method
		_, _ = io.WriteString(w, "{}")
	}))
	r.Cleanup(other.Close)
	id := r.held().ProviderPaymentID
	for _, status := range []int{301, 302, 303, 307, 308} {
		r.redirects(status, other.URL)
		for _, c := range append(r.commands(id, permit()), r.questions(id)...) {
			r.open(r.Context(), c, "elsewhere")
		}
	}
	require.Empty(r, visits)
}
