// Command provider is a small payment provider for the kind standard. It has charges, refunds and signed webhooks. Its
// README.md has how to run it, docs/reference/standard-provider.md the contract. It takes no real money.
package main

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"
)

func main() {
	p, err := open(os.Getenv("PROVIDER_FILE"), os.Getenv("PROVIDER_API_KEY"))
	if err == nil {
		go p.deliver(os.Getenv("PROVIDER_WEBHOOK_URL"), os.Getenv("PROVIDER_WEBHOOK_SECRET"))
		s := http.Server{Addr: cmp.Or(os.Getenv("PROVIDER_LISTEN"), "127.0.0.1:9091"), Handler: p, ReadTimeout: time.Minute}
		err = s.ListenAndServe()
	}
	slog.Error("the provider has ended", "error", err)
	os.Exit(1)
}

// ServeHTTP answers one call at a time: whatever it changes is on disk before the answer goes out.
func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 64<<10))
	p.mu.Lock()
	defer p.mu.Unlock()
	status, answer := p.answer(r, strings.Split(strings.Trim(r.URL.Path, "/"), "/"), body, err)
	text, err := json.Marshal(answer)
	if err != nil {
		status, text = http.StatusInternalServerError, nil
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(text)
}

func (p *provider) answer(r *http.Request, path []string, body []byte, unread error) (int, any) {
	key, hash := r.Header.Get("Idempotency-Key"), fmt.Sprintf("%x", sha256.Sum256([]byte(r.URL.Path+"\n"+string(body))))
	known, seen := p.Keys[key]
	switch {
	case subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), []byte("Bearer "+p.apiKey)) != 1:
		return refuse(http.StatusUnauthorized, "unauthenticated", "")
	case unread != nil:
		return refuse(http.StatusRequestEntityTooLarge, "body_too_large", "")
	case r.Method == http.MethodGet:
		return p.show(path, r.URL.Query().Get("reference"))
	case key == "":
		return refuse(http.StatusBadRequest, "idempotency_key_missing", "")
	case seen && known.Hash != hash:
		return refuse(http.StatusConflict, "idempotency_key_reused", "")
	case seen:
		return http.StatusOK, known.Answer
	}
	status, answer := p.command(path, body)
	if status == http.StatusCreated {
		p.Keys[key] = kept{hash, answer}
		p.save()
	}
	return status, answer
}

// command begins a charge or a refund: this provider has no holds, no pages and nothing to cancel.
func (p *provider) command(path []string, body []byte) (int, any) {
	var in struct {
		Reference string `json:"reference"`
		Amount    int64  `json:"amount"`
		Currency  string `json:"currency"`
		Token     string `json:"token"`
		Capture   string `json:"capture"`
	}
	switch where := strings.Join(path[:min(len(path), 2)], "/"); {
	case len(body) == 0 || body[0] != '{' || json.Unmarshal(body, &in) != nil:
		return refuse(http.StatusBadRequest, "malformed_request", "")
	case in.Capture == "manual" || where != "v1/charges" || len(path) > 2 && path[len(path)-1] != "refunds":
		return refuse(http.StatusUnprocessableEntity, "not_supported", "")
	case in.Amount < 1 || in.Reference == "":
		return refuse(http.StatusUnprocessableEntity, "validation_failed", "")
	case len(path) > 2:
		return p.refund(path[2], in.Reference, in.Amount)
	}
	c := charge{ID: "ch_" + rand.Text(), Reference: in.Reference, Status: "succeeded", Amount: in.Amount, Captured: in.Amount, Currency: in.Currency, Refunds: []refund{}}
	if in.Token == "tok_decline" {
		c.Status, c.Captured, c.Failure = "failed", 0, new("card_declined")
	}
	p.Charges = append(p.Charges, c)
	p.tell("charge."+c.Status, c, refund{Amount: c.Amount})
	return http.StatusCreated, c
}

func (p *provider) refund(id, reference string, amount int64) (int, any) {
	i := slices.IndexFunc(p.Charges, func(c charge) bool { return c.ID == id })
	if i < 0 {
		return refuse(http.StatusNotFound, "not_found", "")
	}
	c, left := &p.Charges[i], p.Charges[i].Captured
	for _, r := range c.Refunds {
		left -= r.Amount
	}
	if amount > left {
		return refuse(http.StatusConflict, "refund_exceeds_charge", c.Status)
	}
	r := refund{ID: "re_" + rand.Text(), Charge: id, Reference: reference, Status: "succeeded", Amount: amount, Currency: c.Currency}
	c.Refunds = append(c.Refunds, r)
	p.tell("refund.succeeded", *c, r)
	return http.StatusCreated, r
}

// show answers with one object by its id, or with those that have a reference.
func (p *provider) show(path []string, reference string) (int, any) {
	charges, refunds := []charge{}, []refund{}
	for _, c := range p.Charges {
		if c.Reference == reference || path[len(path)-1] == c.ID {
			charges = append(charges, c)
		}
		for _, r := range c.Refunds {
			if r.Reference == reference || path[len(path)-1] == r.ID {
				refunds = append(refunds, r)
			}
		}
	}
	switch where := strings.Join(path[:min(len(path), 2)], "/"); {
	case where == "v1/charges" && len(path) == 2:
		return http.StatusOK, map[string]any{"items": charges}
	case where == "v1/refunds" && len(path) == 2:
		return http.StatusOK, map[string]any{"items": refunds}
	case where == "v1/charges" && len(charges) == 1:
		return http.StatusOK, charges[0]
	case where == "v1/refunds" && len(refunds) == 1:
		return http.StatusOK, refunds[0]
	}
	return refuse(http.StatusNotFound, "not_found", "")
}

// refuse is a definitive no. The charge's status is there where that is the reason.
func refuse(status int, code, chargeStatus string) (int, any) {
	return status, map[string]any{"error": map[string]string{"code": code, "charge_status": chargeStatus}}
}
