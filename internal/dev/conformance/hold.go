package conformance

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/paylatch/paylatch/internal/provider/standard"
)

// part is less than the price.
const part = 500

func holdChecks() []check {
	return []check{
		{
			name: checkHold, after: checkCharge, expects: "201 with status authorized and nothing captured, for capture manual", do: holds,
			remedy: "Hold the money until capture is called, or refuse such a charge with 422 and error.code not_supported.",
		},
		{
			name: "capture", after: checkHold, expects: "200 with status succeeded and amount_captured, and the same again for the same key", do: capturesAll,
			remedy: "POST /v1/charges/{id}/capture takes the amount, once for a key.",
		},
		{
			name: "partial capture", after: checkHold, expects: "200 with status succeeded and amount_captured as the amount of the request", do: capturesPart,
			remedy: "Capture the request's amount and release the rest; amount_captured is the captured amount.",
		},
		{
			name: "capture of too much", after: checkHold, expects: "409 with error.code and charge_status authorized, and nothing captured", do: capturesTooMuch,
			remedy: "Compare with the authorized amount under the charge's lock; answer 409 with charge_status.",
		},
	}
}

// held begins a charge that is to wait for its capture.
func (s *session) held(ctx context.Context) (standard.Charge, standard.ChargeRequest, error) {
	in := s.begin(s.Tokens.Success)
	in.Capture = "manual"
	c, err := s.charge(ctx, in, s.reference())
	return c, in, err
}

func holds(ctx context.Context, s *session) error {
	c, in, err := s.held(ctx)
	if errors.Is(err, errUnsupported) {
		s.lacks("holds", func(ctx context.Context) error { return s.never(ctx, in.Reference) })
	}
	if err != nil {
		return err
	}
	s.has("holds")
	if err := bears(c, in); err != nil {
		return err
	}
	return must(c.Status == standard.Authorized && (c.AmountCaptured == nil || *c.AmountCaptured == 0), "status %q, amount_captured %d", c.Status, captured(c))
}

// captures takes an amount of a charge that waits for it.
func (s *session) captures(ctx context.Context, c standard.Charge, amount int64, key string) error {
	taken, _, err := object[standard.Charge](ctx, s, post(of(c, "capture"), key, standard.CaptureRequest{Amount: amount}))
	if err != nil {
		return err
	}
	return must(taken.ID == c.ID && taken.Status == standard.Succeeded && captured(taken) == amount,
		"id %q, status %q, amount_captured %d", taken.ID, taken.Status, captured(taken))
}

func capturesAll(ctx context.Context, s *session) error {
	c, _, err := s.held(ctx)
	if err != nil {
		return err
	}
	key := s.reference()
	for range 2 {
		if err := s.captures(ctx, c, price, key); err != nil {
			return err
		}
	}
	now, err := s.lookup(ctx, c.ID)
	if err != nil {
		return err
	}
	return must(now.Status == standard.Succeeded && captured(now) == price, "a lookup with status %q, amount_captured %d", now.Status, captured(now))
}

func capturesPart(ctx context.Context, s *session) error {
	c, _, err := s.held(ctx)
	if err != nil {
		return err
	}
	err = s.captures(ctx, c, part, s.reference())
	if errors.Is(err, errUnsupported) {
		s.lacks("partial captures", func(ctx context.Context) error { return s.stands(ctx, c, standard.Authorized) })
	}
	if err == nil {
		s.has("partial captures")
	}
	return err
}

func capturesTooMuch(ctx context.Context, s *session) error {
	c, _, err := s.held(ctx)
	if err != nil {
		return err
	}
	return s.refuses(ctx, c, post(of(c, "capture"), s.reference(), standard.CaptureRequest{Amount: price + 1}), standard.Authorized)
}

// refuses returns an error unless a command is refused because of the state of its charge, and the state does not change.
func (s *session) refuses(ctx context.Context, c standard.Charge, command call, status string) error {
	refused, err := s.refused(ctx, command, http.StatusConflict)
	if err != nil {
		return err
	}
	if refused.ChargeStatus != status {
		return fmt.Errorf("409 %s with charge_status %q", refused.Code, refused.ChargeStatus)
	}
	return s.stands(ctx, c, status)
}

// stands returns an error unless a lookup shows a charge with a status.
func (s *session) stands(ctx context.Context, c standard.Charge, status string) error {
	now, err := s.lookup(ctx, c.ID)
	if err != nil {
		return err
	}
	return must(now.Status == status, "a lookup with status %q", now.Status)
}
