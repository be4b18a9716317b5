package conformance

import (
	"context"
	"net/url"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/standard"
)

// The names of the checks that others go on from.
const (
	checkCharge = "charge"
	checkHold   = "manual capture"
	checkRefund = "refund"
)

func chargeChecks() []check {
	return []check{
		{
			name: checkCharge, expects: "201 with id, and the reference, amount, currency and status succeeded; at once, or by lookups within --wait", do: charges,
			remedy: "Answer with the charge as docs/reference/standard-provider.md has it. Is --token-success one of this provider's?",
		},
		{
			name: "decline", expects: "201 with an id, the status failed and a failure_code", do: declines,
			needs:  func(s *session) string { return missing(s.Tokens.Decline, "--token-decline") },
			remedy: "A decline is a charge that failed, not an error: answer 201 with it, so that lookups find it as well.",
		},
		{
			name: "redirect", expects: "201 with an id, the status pending and a next_action with type and url", do: redirects,
			needs:  func(s *session) string { return missing(s.Tokens.Redirect, "--token-redirect") },
			remedy: "Answer 201 with status pending and next_action {\"type\":\"redirect\",\"url\":…}; the customer goes to this url, and returns to return_url.",
		},
	}
}

func missing(token, flag string) string {
	if token == "" {
		return flag + " is empty"
	}
	return ""
}

// bears returns an error if a charge does not match its request.
func bears(c standard.Charge, in standard.ChargeRequest) error {
	return must(c.ID != "" && c.Reference == in.Reference && c.Amount == in.Amount && c.Currency == in.Currency,
		"id %q, reference %q, amount %d, currency %q", c.ID, c.Reference, c.Amount, c.Currency)
}

func charges(ctx context.Context, s *session) error {
	in := s.begin(s.Tokens.Success)
	c, err := s.charge(ctx, in, s.reference())
	if err != nil {
		return err
	}
	if err := bears(c, in); err != nil {
		return err
	}
	s.paid = &c
	return must(c.Status == standard.Succeeded && captured(c) == price, "status %q, amount_captured %d", c.Status, captured(c))
}

func declines(ctx context.Context, s *session) error {
	in := s.begin(s.Tokens.Decline)
	c, err := s.charge(ctx, in, s.reference())
	if err != nil {
		return err
	}
	if err := bears(c, in); err != nil {
		return err
	}
	s.declined = &c
	return must(c.Status == standard.Failed && c.FailureCode != nil && *c.FailureCode != "", "status %q, without a failure_code or with another status", c.Status)
}

func redirects(ctx context.Context, s *session) error {
	in := s.begin(s.Tokens.Redirect)
	c, _, err := object[standard.Charge](ctx, s, post("/v1/charges", s.reference(), in))
	if err != nil {
		return err
	}
	if err := bears(c, in); err != nil {
		return err
	}
	if c.NextAction == nil {
		return must(false, "status %q without a next_action", c.Status)
	}
	to, err := url.Parse(c.NextAction.URL)
	return must(c.Status == standard.Pending && err == nil && to.IsAbs() && to.Host != "" && c.NextAction.Type == payment.ActionRedirect,
		"status %q, next_action %q to %q", c.Status, c.NextAction.Type, c.NextAction.URL)
}
