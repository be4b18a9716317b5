package stripe_test

import (
	"net/http"
	"net/url"
)

// session is a page of Checkout.
type session struct{ id, status, intent string }

func (s *session) render() object {
	o := object{"object": "checkout.session", "id": s.id, "status": s.status, "payment_intent": nil, "url": nil, "livemode": false}
	if s.intent != "" {
		o["payment_intent"] = s.intent
	}
	if s.status == "open" {
		o["url"] = "https://checkout.stripe.com/c/pay/" + s.id
	}
	return o
}

// page opens a page. intent is the payment that the customer has begun on it, or "".
func (f *fake) page(status, intent string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := &session{f.id("cs_test"), status, intent}
	f.sessions[s.id] = s
	return s.id
}

func (f *fake) showSession(id string, _ url.Values) (int, object) {
	if s := f.sessions[id]; s != nil {
		return http.StatusOK, s.render()
	}
	return missing()
}

func (f *fake) expire(id string, _ url.Values) (int, object) {
	s := f.sessions[id]
	switch {
	case s == nil:
		return missing()
	case s.status != "open":
		return http.StatusBadRequest, stripeError("invalid_request_error", "", "")
	}
	s.status = "expired"
	if pi := f.intents[s.intent]; pi != nil {
		pi.status = "canceled"
	}
	return http.StatusOK, s.render()
}

// onPage reports whether the payment belongs to an open page.
func (f *fake) onPage(pi *intent) bool {
	for _, s := range f.sessions {
		if s.intent == pi.id && s.status == "open" {
			return true
		}
	}
	return false
}
