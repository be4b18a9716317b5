package conformance

import (
	"context"
	"errors"

	"github.com/paylatch/paylatch/internal/provider/standard"
)

func cancelChecks() []check {
	return []check{
		{
			name: "cancel", after: checkCharge, expects: "200 with status canceled, the same again for the same key, and a lookup with it", needs: needsUnpaid, do: cancels,
			remedy: "POST /v1/charges/{id}/cancel releases a hold for good, and ends a charge that waits for its customer; or answer 422 not_supported.",
		},
		{
			name: "cancel of a paid charge", after: "cancel", expects: "409 with error.code and charge_status succeeded, and the charge as it was", do: cancelsPaid,
			remedy: "A charge that has succeeded is final: answer 409 with charge_status, under the charge's lock.",
		},
	}
}

// needsUnpaid is why there is nothing to cancel.
func needsUnpaid(s *session) string {
	if s.offers.without("holds") && s.Tokens.Redirect == "" {
		return "there are neither holds nor a --token-redirect to cancel a charge of"
	}
	return ""
}

// unpaid is a charge that is not final.
func (s *session) unpaid(ctx context.Context) (standard.Charge, error) {
	if s.offers.without("holds") {
		return s.charge(ctx, s.begin(s.Tokens.Redirect), s.reference())
	}
	c, _, err := s.held(ctx)
	return c, err
}

func cancels(ctx context.Context, s *session) error {
	c, err := s.unpaid(ctx)
	if err != nil {
		return err
	}
	key := s.reference()
	for range 2 {
		over, _, err := object[standard.Charge](ctx, s, post(of(c, "cancel"), key, struct{}{}))
		if errors.Is(err, errUnsupported) {
			s.lacks("cancels", func(ctx context.Context) error { return s.stands(ctx, c, c.Status) })
		}
		if err != nil {
			return err
		}
		if err := must(over.ID == c.ID && over.Status == standard.Canceled, "id %q, status %q", over.ID, over.Status); err != nil {
			return err
		}
	}
	s.has("cancels")
	return s.stands(ctx, c, standard.Canceled)
}

func cancelsPaid(ctx context.Context, s *session) error {
	c, err := s.pays(ctx)
	if err != nil {
		return err
	}
	return s.refuses(ctx, c, post(of(c, "cancel"), s.reference(), struct{}{}), standard.Succeeded)
}
