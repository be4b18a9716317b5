package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
)

// formLife is how long the customer has for the provider's form, in seconds.
const formLife = 30 * 60

// registration is the part of a registration's response that the shop needs.
type registration struct {
	attempt

	Amount    int64  `json:"amount"`
	Currency  string `json:"currency"`
	Key       string `json:"provider_idempotency_key"`
	Reference struct {
		Text string `json:"text"`
	} `json:"provider_reference"`
}

// openForm registers a payment that the provider's own script takes, and creates it at the provider. It derives both
// idempotency keys from the page's key: if the page repeats its request, it gets the same payment, and the same secret for its form.
func (s *shop) openForm(w http.ResponseWriter, r *http.Request) {
	a, err := s.backend.call(r.Context(), http.MethodPost, "/v1/orders/"+url.PathEscape(r.PathValue("order"))+"/attempts",
		map[string]any{"expires_in": formLife}, http.Header{"Idempotency-Key": {r.Header.Get("Idempotency-Key")}})
	if err == nil && a.ok() {
		a.body, err = s.withForm(r.Context(), a.body)
	}
	pass(w, a, err)
}

// withForm converts the response to a registration for the page. It removes the fields for the provider. While there is
// something to pay, it adds the fields that the provider's script needs.
func (s *shop) withForm(ctx context.Context, body []byte) ([]byte, error) {
	var reg registration
	members := map[string]json.RawMessage{}
	for _, into := range []any{&reg, &members} {
		if err := json.Unmarshal(body, into); err != nil {
			return nil, fmt.Errorf("read a registration: %w", err)
		}
	}
	delete(members, "provider_idempotency_key")
	delete(members, "provider_reference")
	if reg.Status == "pending" {
		secret, err := s.backend.createPayment(ctx, reg)
		if err != nil {
			return nil, err
		}
		members["form"] = fmt.Appendf(nil, `{"client_secret":%q}`, secret)
	}
	return json.Marshal(members) //nolint:wrapcheck // it was JSON
}

// createPayment creates the payment at the provider and returns the secret by which its
// script confirms it.
func (b backend) createPayment(ctx context.Context, reg registration) (string, error) {
	text, err := json.Marshal(map[string]any{"reference": reg.Reference.Text, "amount": reg.Amount, "currency": reg.Currency, "token": "tok_dropin"})
	if err != nil {
		return "", fmt.Errorf("write a payment: %w", err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, b.ProviderURL+"/v1/charges", bytes.NewReader(text))
	if err != nil {
		return "", fmt.Errorf("make a request: %w", err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Idempotency-Key", reg.Key)
	a, err := b.send(r)
	if err != nil {
		return "", err
	}
	var made struct {
		Secret string `json:"client_secret"`
	}
	if err := json.Unmarshal(a.body, &made); err != nil || !a.ok() || made.Secret == "" {
		return "", fmt.Errorf("%w: the provider responded with %d", errUnavailable, a.status)
	}
	return made.Secret, nil
}

// giveUp reports that the customer has left the provider's form, so that another payment may begin. A payment that was
// paid meanwhile stays paid, and the page shows that.
func (s *shop) giveUp(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	id := r.PathValue("order")
	o, found, err := s.backend.order(r.Context(), id)
	for i := 0; err == nil && i < len(o.Attempts); i++ {
		if a := o.Attempts[i]; a.external() && a.Status == "pending" {
			err = s.backend.abandon(r.Context(), a.ID)
		}
	}
	if err != nil || !found {
		s.render(w, r, http.StatusServiceUnavailable, messagePage("One moment", "The shop can't be reached. Go back and press Pay again. You are not charged twice."))
		return
	}
	to := checkoutPath(id)
	if r.PostFormValue("then") == "form" {
		to = formPath(id)
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
}

// abandon reports that an attempt was given up. An attempt has one such report.
func (b backend) abandon(ctx context.Context, id string) error {
	a, err := b.call(ctx, http.MethodPost, "/v1/payment-attempts/"+url.PathEscape(id)+"/report",
		map[string]any{"outcome": "abandoned", "reason": "left the form"}, http.Header{"Idempotency-Key": {"abandoned:" + id}})
	if err != nil || a.ok() || a.status == http.StatusConflict {
		return err
	}
	return fmt.Errorf("%w: %d %s", errUnavailable, a.status, a.code())
}
