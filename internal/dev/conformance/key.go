package conformance

import (
	"context"
	"fmt"
	"net/http"
	"sync"

	"github.com/paylatch/paylatch/internal/provider/standard"
)

// callers is how many calls have one key at once.
const callers = 20

func keyChecks() []check {
	return []check{
		{
			name: "same key", after: checkCharge, expects: "the first charge again, and one charge with the reference", do: sameKey,
			remedy: "Keep the key with the response, in one commit with the charge, for a day at least; answer a key that is kept with its response.",
		},
		{
			name: "same key at once", after: checkCharge, expects: "one charge for 20 calls with one key; calls that arrive while the first call runs wait, or get 409 request_in_progress without charge_status", do: atOnce,
			remedy: "Take the key by a unique constraint or under a lock before anything is charged: a look whether it is there is not enough.",
		},
		{
			name: "same key, another body", after: checkCharge, expects: "409 with error.code and without charge_status, and nothing charged", do: otherBody,
			remedy: "Store a hash of the body with the key; answer another body with 409 {\"error\":{\"code\":\"idempotency_key_reused\"}}.",
		},
	}
}

func sameKey(ctx context.Context, s *session) error {
	in, key := s.begin(s.Tokens.Success), s.reference()
	first, err := s.charge(ctx, in, key)
	if err != nil {
		return err
	}
	again, err := s.charge(ctx, in, key)
	if err != nil {
		return fmt.Errorf("the second call: %w", err)
	}
	if again.ID != first.ID {
		return fmt.Errorf("another charge: %q, then %q", first.ID, again.ID)
	}
	return s.once(ctx, in.Reference, first.ID)
}

func atOnce(ctx context.Context, s *session) error {
	in, key := s.begin(s.Tokens.Success), s.reference()
	errs, ids := make([]error, callers), make([]string, callers)
	var all sync.WaitGroup
	for i := range callers {
		all.Go(func() { ids[i], errs[i] = s.oneOf(ctx, in, key) })
	}
	all.Wait()
	made, err := s.charge(ctx, in, key)
	if err != nil {
		return fmt.Errorf("the same call afterwards: %w", err)
	}
	for i, id := range ids {
		if errs[i] != nil {
			return errs[i]
		}
		if id != "" && id != made.ID {
			return fmt.Errorf("several charges: %q and %q", id, made.ID)
		}
	}
	return s.once(ctx, in.Reference, made.ID)
}

// oneOf returns the id of the charge, or an empty id if another call with the same key keeps this call out.
func (s *session) oneOf(ctx context.Context, in standard.ChargeRequest, key string) (string, error) {
	c, r, err := object[standard.Charge](ctx, s, post("/v1/charges", key, in))
	if err != nil && r.Status == http.StatusConflict {
		return "", s.aboutKey(r)
	}
	return c.ID, err
}

// aboutKey returns an error for a conflict that is about a charge.
func (s *session) aboutKey(r reply) error {
	refused, err := standard.RefusalOf(r.Status, r.Body)
	return must(err == nil && refused.ChargeStatus == "", "%s", r)
}

func otherBody(ctx context.Context, s *session) error {
	in, key := s.begin(s.Tokens.Success), s.reference()
	first, err := s.charge(ctx, in, key)
	if err != nil {
		return err
	}
	other := in
	other.Reference, other.Amount = s.reference(), price-1
	refused, err := s.refused(ctx, post("/v1/charges", key, other), http.StatusConflict)
	if err != nil {
		return err
	}
	if refused.ChargeStatus != "" {
		return fmt.Errorf("409 %s with charge_status %q", refused.Code, refused.ChargeStatus)
	}
	if err := s.never(ctx, other.Reference); err != nil {
		return err
	}
	return s.once(ctx, in.Reference, first.ID)
}
