package demo

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"github.com/google/uuid"
)

// resultParameter is by which the customer comes back from the sandbox provider's challenge.
const resultParameter = "sandbox_result"

// complete forwards the result from the provider's page or script, under the page's own key.
func (s *shop) complete(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	var step struct {
		Details json.RawMessage `json:"details"`
	}
	id := r.URL.Query().Get("payment_attempt_id")
	if uuid.Validate(id) != nil || json.NewDecoder(r.Body).Decode(&step) != nil {
		http.Error(w, "send details of an attempt", http.StatusBadRequest)
		return
	}
	a, err := s.sendStep(r.Context(), id, r.Header.Get("Idempotency-Key"), step.Details)
	pass(w, a, err)
}

// completeReturn completes the attempt of a customer without a script who returns with a result. Its key is
// derived from the result: a reload is the same request.
func (s *shop) completeReturn(r *http.Request, c checkout) bool {
	result := r.URL.Query().Get(resultParameter)
	if result == "" || c.Phase != action {
		return false
	}
	details, err := json.Marshal(map[string]string{resultParameter: result})
	if err != nil {
		return false
	}
	sum := sha256.Sum256(details)
	for try := 0; ; try++ {
		a, err := s.sendStep(r.Context(), c.Attempt.ID, "return:"+hex.EncodeToString(sum[:16]), details)
		if err != nil || a.code() != "request-in-progress" || try == stepTries {
			return err == nil && a.ok()
		}
		select {
		case <-r.Context().Done():
			return false
		case <-time.After(stepPause):
		}
	}
}

// A step that comes while the attempt is looked up is sent again: its customer has no script that would.
const (
	stepTries = 20
	stepPause = 250 * time.Millisecond
)

func (s *shop) sendStep(ctx context.Context, attempt, key string, details json.RawMessage) (response, error) {
	return s.backend.call(ctx, http.MethodPost, "/v1/payment-attempts/"+url.PathEscape(attempt)+"/complete",
		map[string]json.RawMessage{"details": details}, http.Header{"Idempotency-Key": {key}})
}
