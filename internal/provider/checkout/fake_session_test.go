package checkout_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// session is a payment session: the request that created it.
type session struct {
	id string
	in object
}

// openSession implements POST /payment-sessions, which is newer than the API description. The rules are those of
// Checkout.com's Java SDK (PaymentSessionBase, PaymentSessionInfo).
func (f *fake) openSession(w http.ResponseWriter, r *http.Request) {
	var in object
	billing := func() any { b, _ := in["billing"].(object); a, _ := b["address"].(object); return a["country"] }
	switch err := json.NewDecoder(r.Body).Decode(&in); {
	case r.Header.Get("Authorization") != "Bearer "+secret:
		answer{401, nil}.write(w)
		return
	case err != nil, billing() == nil, in["success_url"] == nil, in["failure_url"] == nil, in["source"] != nil:
		invalid("request_malformed").write(w)
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	s := &session{f.id("ps"), in}
	f.sessions = append(f.sessions, s)
	answer{201, s.response()}.write(w)
}

func (s *session) response() object {
	return object{
		"id": s.id, "payment_session_token": "token-of-" + s.id, "payment_session_secret": "pss_of-" + s.id,
		"_links": object{"self": object{"href": "https://api.sandbox.checkout.com/payment-sessions/" + s.id}},
	}
}

// tries makes a payment in the last session, as the customer's browser does. It returns the payment's id.
func (f *fake) tries(t *testing.T, status string) string {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	require.NotEmpty(t, f.sessions)
	s := f.sessions[len(f.sessions)-1]
	amount, _ := s.in["amount"].(float64)
	reference, _ := s.in["reference"].(string)
	currency, _ := s.in["currency"].(string)
	marks, _ := s.in["metadata"].(object)
	marks = maps.Clone(marks)
	marks["cko_payment_session_id"] = s.id
	p := &paid{id: f.id("pay"), reference: reference, currency: currency, status: status, amount: int64(amount), metadata: marks}
	f.payments[p.id] = p
	code := "10000"
	switch status {
	case "Captured":
		p.captured = p.amount
	case "Declined":
		code = "20005"
	}
	f.did(p, "Authorization", p.amount, code == "10000", code, p.reference)
	return p.id
}

// redirects accepts a payment by a local method.
func (f *fake) redirects(p *paid, in object) answer {
	if in["3ds"] != nil || in["success_url"] == nil || in["failure_url"] == nil || in["capture"] != true {
		return invalid("request_malformed")
	}
	p.status = "Pending"
	f.payments[p.id] = p
	return answer{202, object{"id": p.id, "status": p.status, "reference": p.reference, "_links": object{
		"self": link(p.id), "redirect": object{"href": "https://" + p.method + ".example/" + p.id},
	}}}
}

// pays has the customer pay on a local method's page.
func (f *fake) pays(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	p := f.payments[id]
	f.take(p, p.amount, p.reference)
}
