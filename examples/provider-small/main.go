// Command provider-small is the smallest payment provider for the kind standard. It has just what the contract of
// docs/reference/standard-provider.md demands: charges, each once for its key. It refuses holds and refunds as
// not_supported, sends no webhooks, and takes no real money. It forgets all when it ends, and with it what was paid:
// examples/provider, which keeps that in a file, is the one to grow from.
package main

import (
	"cmp"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"
)

type charge struct {
	ID        string `json:"id"`
	Reference string `json:"reference"`
	Status    string `json:"status"`
	Amount    int64  `json:"amount"`
	Currency  string `json:"currency"`
	Failure   string `json:"failure_code,omitempty"`
	request   string
}

// provider has the charges by the keys that made them.
type provider struct {
	sync.Mutex
	charges map[string]charge
}

func main() {
	s := http.Server{Addr: cmp.Or(os.Getenv("PROVIDER_LISTEN"), "127.0.0.1:9091"), Handler: &provider{charges: map[string]charge{}}, ReadTimeout: time.Minute}
	slog.Error("the provider has ended", "error", s.ListenAndServe())
}

// ServeHTTP answers one call at a time, so that no two take the same key.
func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 64<<10))
	p.Lock()
	defer p.Unlock()
	status, answer := p.answer(r, body, err)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(answer) //nolint:errchkjson // texts and numbers
}

func (p *provider) answer(r *http.Request, body []byte, unread error) (int, any) {
	key, request := r.Header.Get("Idempotency-Key"), r.URL.Path+"\n"+string(body)
	before, seen := p.charges[key]
	switch {
	case subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), []byte("Bearer "+os.Getenv("PROVIDER_API_KEY"))) != 1:
		return refuse(http.StatusUnauthorized, "unauthenticated")
	case unread != nil:
		return refuse(http.StatusRequestEntityTooLarge, "body_too_large")
	case r.Method == http.MethodGet:
		return p.show(r.URL.Path, r.URL.Query().Get("reference"))
	case key == "":
		return refuse(http.StatusBadRequest, "idempotency_key_missing")
	case seen && before.request != request:
		return refuse(http.StatusConflict, "idempotency_key_reused")
	case seen:
		return http.StatusOK, before
	}
	var in struct {
		charge
		Token   string `json:"token"`
		Capture string `json:"capture"`
	}
	switch {
	case !strings.HasPrefix(string(body), "{") || json.Unmarshal(body, &in) != nil:
		return refuse(http.StatusBadRequest, "malformed_request")
	case r.URL.Path != "/v1/charges" || in.Capture == "manual":
		return refuse(http.StatusUnprocessableEntity, "not_supported")
	case in.Amount < 1 || in.Reference == "":
		return refuse(http.StatusUnprocessableEntity, "validation_failed")
	}
	in.ID, in.Status, in.Failure, in.request = "ch_"+rand.Text(), "succeeded", "", request
	if in.Token == "tok_decline" {
		in.Status, in.Failure = "failed", "card_declined"
	}
	p.charges[key] = in.charge
	return http.StatusCreated, in.charge
}

// show answers with one charge by its id, or with those that have a reference.
func (p *provider) show(path, reference string) (int, any) {
	items := []charge{}
	for _, c := range p.charges {
		if path == "/v1/charges/"+c.ID {
			return http.StatusOK, c
		}
		if c.Reference == reference {
			items = append(items, c)
		}
	}
	if path == "/v1/charges" {
		return http.StatusOK, map[string]any{"items": items}
	}
	return refuse(http.StatusNotFound, "not_found")
}

func refuse(status int, code string) (int, any) {
	return status, map[string]any{"error": map[string]string{"code": code}}
}
