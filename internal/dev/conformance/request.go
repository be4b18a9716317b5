package conformance

import (
	"context"
	"fmt"
	"net/http"
	"strings"
)

// largeBody is larger than the bodies that the contract requires providers to accept.
const largeBody = 1 << 20

func requestChecks() []check {
	const unread = "Refuse it with 400 and error.code malformed_request before anything is done: a body that can't be read must not be guessed at."
	return []check{
		{
			name: "wrong credential", expects: "401 with error.code, for a charge and for a lookup, and no charge", needs: needsKey, do: wrongCredential,
			remedy: "Compare Authorization with \"Bearer \" and the API key, in constant time, before anything else; answer 401 {\"error\":{\"code\":\"unauthenticated\"}}.",
		},
		{
			name: "garbled body", expects: "400 with error.code, and no charge", do: garbled, remedy: unread,
		},
		{
			name: "large body", expects: "413 with error.code for a body of 1 MiB, or the connection closed, and no charge", do: large,
			remedy: "Read at most 64 KiB of a body, and refuse a longer one with 413 and error.code body_too_large.",
		},
		{
			name: "no idempotency key", expects: "400 with error.code, and no charge", do: keyless,
			remedy: "Refuse a POST without Idempotency-Key with 400 and error.code idempotency_key_missing.",
		},
		{
			name: "invalid amount", expects: "422 with error.code for an amount of 0, and no charge", do: nothing,
			remedy: "Refuse what can't be charged with 422 and error.code validation_failed, before anything is done.",
		},
	}
}

func needsKey(s *session) string {
	if s.APIKey == "" {
		return "no --api-key is given"
	}
	return ""
}

func wrongCredential(ctx context.Context, s *session) error {
	wrong, none := "Bearer "+s.APIKey+"x", ""
	for _, auth := range []*string{&wrong, &none} {
		in := s.begin(s.Tokens.Success)
		c := post("/v1/charges", s.reference(), in)
		c.auth = auth
		if _, err := s.refused(ctx, c, http.StatusUnauthorized, http.StatusForbidden); err != nil {
			return fmt.Errorf("a charge: %w", err)
		}
		if err := s.never(ctx, in.Reference); err != nil {
			return err
		}
		look := call{method: http.MethodGet, path: "/v1/charges?reference=" + in.Reference, auth: auth}
		if _, err := s.refused(ctx, look, http.StatusUnauthorized, http.StatusForbidden); err != nil {
			return fmt.Errorf("a lookup: %w", err)
		}
	}
	return nil
}

func garbled(ctx context.Context, s *session) error {
	in := s.begin(s.Tokens.Success)
	for _, body := range []string{fmt.Sprintf(`{"reference":%q,"amount":%d,"currency":%q,"token":%q`, in.Reference, in.Amount, in.Currency, in.Token), "[]", "null", "\x00"} {
		if _, err := s.refused(ctx, post("/v1/charges", s.reference(), body), http.StatusBadRequest, http.StatusUnprocessableEntity); err != nil {
			return fmt.Errorf("for %.20q: %w", body, err)
		}
	}
	return s.never(ctx, in.Reference)
}

// large counts a connection that is closed before all of the body was sent as a refusal, unless there is a charge.
func large(ctx context.Context, s *session) error {
	in := s.begin(s.Tokens.Success)
	body := fmt.Sprintf(`{"reference":%q,"amount":%d,"currency":%q,"token":%q,"capture":"automatic","padding":%q}`,
		in.Reference, in.Amount, in.Currency, in.Token, strings.Repeat("x", largeBody))
	r, err := s.send(ctx, post("/v1/charges", s.reference(), body))
	if err == nil && (r.Status < http.StatusBadRequest || r.Status >= http.StatusInternalServerError) {
		return fmt.Errorf("%s", r)
	}
	return s.never(ctx, in.Reference)
}

func keyless(ctx context.Context, s *session) error {
	in := s.begin(s.Tokens.Success)
	if _, err := s.refused(ctx, post("/v1/charges", "", in), http.StatusBadRequest, http.StatusUnprocessableEntity); err != nil {
		return err
	}
	return s.never(ctx, in.Reference)
}

func nothing(ctx context.Context, s *session) error {
	in := s.begin(s.Tokens.Success)
	in.Amount = 0
	if _, err := s.refused(ctx, post("/v1/charges", s.reference(), in), http.StatusUnprocessableEntity, http.StatusBadRequest); err != nil {
		return err
	}
	return s.never(ctx, in.Reference)
}
