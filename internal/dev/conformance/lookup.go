package conformance

import (
	"context"
	"net/http"

	"github.com/paylatch/paylatch/internal/provider/standard"
)

func lookupChecks() []check {
	return []check{
		{
			name: "lookup by id", after: checkCharge, expects: "the charge as it was answered", do: lookupByID,
			remedy: "GET /v1/charges/{id} answers 200 with the present charge.",
		},
		{
			name: "lookup by reference", after: checkCharge, expects: "items with the one charge, from the moment of the response to the charge", do: lookupByReference,
			remedy: "GET /v1/charges?reference=… answers {\"items\":[…]} from the same store that charges are written to: a lagging copy is not enough.",
		},
		{
			name: "unknown id", expects: "404 with error.code not_found", do: unknownID,
			remedy: "Answer 404 {\"error\":{\"code\":\"not_found\"}}: any other 404 counts as no answer, since a proxy may have sent it.",
		},
		{
			name: "unknown reference", expects: "200 with empty items", do: unknownReference,
			remedy: "Answer {\"items\":[]}: only this response proves that the charge does not exist.",
		},
	}
}

func lookupByID(ctx context.Context, s *session) error {
	c, err := s.lookup(ctx, s.paid.ID)
	if err != nil {
		return err
	}
	return must(c.ID == s.paid.ID && c.Status == s.paid.Status && c.Amount == price && captured(c) == price && c.Reference == s.paid.Reference,
		"id %q, status %q, amount %d, amount_captured %d, reference %q", c.ID, c.Status, c.Amount, captured(c), c.Reference)
}

func lookupByReference(ctx context.Context, s *session) error {
	in := s.begin(s.Tokens.Success)
	c, _, err := object[standard.Charge](ctx, s, post("/v1/charges", s.reference(), in))
	if err != nil {
		return err
	}
	return s.once(ctx, in.Reference, c.ID)
}

func unknownID(ctx context.Context, s *session) error {
	refused, err := s.refused(ctx, call{method: http.MethodGet, path: "/v1/charges/none-" + s.reference()}, http.StatusNotFound)
	if err != nil {
		return err
	}
	return must(refused.Missing(), "404 with the code %q", refused.Code)
}

func unknownReference(ctx context.Context, s *session) error { return s.never(ctx, s.reference()) }
