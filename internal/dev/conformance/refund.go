package conformance

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"github.com/paylatch/paylatch/internal/provider/standard"
)

func refundChecks() []check {
	return []check{
		{
			name: checkRefund, after: checkCharge, expects: "201 with id, reference, amount, currency and status succeeded or pending; by its id, by its reference and with its charge, too", do: refunds,
			remedy: "POST /v1/charges/{id}/refunds, GET /v1/refunds/{id}, GET /v1/refunds?reference=… and refunds of the charge show one refund; or refuse it with 422 not_supported.",
		},
		{
			name: "refund, same key", after: checkRefund, expects: "the first refund again, and one refund with the reference", do: refundsOnce,
			remedy: "Keep the key with the response, in one commit with the refund.",
		},
		{
			name: "refund of too much", after: checkRefund, expects: "409 with error.code and charge_status succeeded, and no refund", do: refundsTooMuch,
			remedy: "Compare with the refundable amount under the charge's lock; answer 409 with charge_status.",
		},
	}
}

// refund refunds a part of a charge.
func (s *session) refund(ctx context.Context, c standard.Charge, in standard.RefundRequest, key string) (standard.Refund, error) {
	r, _, err := object[standard.Refund](ctx, s, post(of(c, "refunds"), key, in))
	return r, err
}

func refunds(ctx context.Context, s *session) error {
	c, err := s.pays(ctx)
	if err != nil {
		return err
	}
	in := standard.RefundRequest{Amount: part, Reference: s.reference()}
	made, err := s.refund(ctx, c, in, s.reference())
	if errors.Is(err, errUnsupported) {
		s.lacks("refunds", func(ctx context.Context) error { return s.refundedBy(ctx, c) })
	}
	if err != nil {
		return err
	}
	s.has("refunds")
	if err := refunded(made, in, s.Currency); err != nil {
		return err
	}
	s.refunded = &made
	byID, _, err := object[standard.Refund](ctx, s, call{method: http.MethodGet, path: "/v1/refunds/" + url.PathEscape(made.ID)})
	if err == nil {
		err = refunded(byID, in, s.Currency)
	}
	if err != nil {
		return fmt.Errorf("by its id: %w", err)
	}
	if err := s.refundsBy(ctx, in.Reference, made.ID); err != nil {
		return fmt.Errorf("by its reference: %w", err)
	}
	return s.refundedBy(ctx, c, made.ID)
}

// refunded returns an error if a refund does not match its request.
func refunded(r standard.Refund, in standard.RefundRequest, currency string) error {
	return must(r.ID != "" && r.Reference == in.Reference && r.Amount == in.Amount && r.Currency == currency && (r.Status == standard.Succeeded || r.Status == standard.Pending),
		"id %q, reference %q, amount %d, currency %q, status %q", r.ID, r.Reference, r.Amount, r.Currency, r.Status)
}

// refundsBy returns an error unless the refunds with a reference have exactly the ids.
func (s *session) refundsBy(ctx context.Context, reference string, ids ...string) error {
	all, err := by[standard.Refund](ctx, s, "/v1/refunds", reference)
	if err != nil {
		return err
	}
	return must(slices.Equal(idsOf(all), ids), "refunds %q", idsOf(all))
}

// refundedBy returns an error unless a lookup of a charge shows the refunds with the ids, and no others.
func (s *session) refundedBy(ctx context.Context, c standard.Charge, ids ...string) error {
	now, err := s.lookup(ctx, c.ID)
	if err != nil {
		return err
	}
	return must(slices.Equal(idsOf(now.Refunds), ids), "the charge with refunds %q", idsOf(now.Refunds))
}

func idsOf(refunds []standard.Refund) (ids []string) {
	for _, r := range refunds {
		ids = append(ids, r.ID)
	}
	return ids
}

func refundsOnce(ctx context.Context, s *session) error {
	c, err := s.pays(ctx)
	if err != nil {
		return err
	}
	in, key := standard.RefundRequest{Amount: part, Reference: s.reference()}, s.reference()
	first, err := s.refund(ctx, c, in, key)
	if err != nil {
		return err
	}
	again, err := s.refund(ctx, c, in, key)
	if err != nil {
		return fmt.Errorf("the second call: %w", err)
	}
	if again.ID != first.ID {
		return fmt.Errorf("another refund: %q, then %q", first.ID, again.ID)
	}
	if err := s.refundsBy(ctx, in.Reference, first.ID); err != nil {
		return err
	}
	return s.refundedBy(ctx, c, first.ID)
}

func refundsTooMuch(ctx context.Context, s *session) error {
	c, err := s.pays(ctx)
	if err != nil {
		return err
	}
	if _, err := s.refund(ctx, c, standard.RefundRequest{Amount: price - part, Reference: s.reference()}, s.reference()); err != nil {
		return err
	}
	in := standard.RefundRequest{Amount: part + 1, Reference: s.reference()}
	if err := s.refuses(ctx, c, post(of(c, "refunds"), s.reference(), in), standard.Succeeded); err != nil {
		return err
	}
	return s.refundsBy(ctx, in.Reference)
}
