package api

import (
	"context"
	"net/http"

	"github.com/paylatch/paylatch/internal/api/gen"
	"github.com/paylatch/paylatch/internal/api/render"
	"github.com/paylatch/paylatch/internal/backoffice/finder"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/payment"
)

// SupportSearch handles GET /v1/support/search.
func (s *server) SupportSearch(ctx context.Context, r gen.SupportSearchRequestObject) (gen.SupportSearchResponseObject, error) {
	x := ExchangeOf(ctx)
	// A search must not find ids by trying all.
	if s.searches.Reserve(x.Actor.Subject, s.Now()) > 0 {
		return nil, render.Refuse("rate-limited", "")
	}
	found, err := s.Finder.Search(ctx, x.Staff(), finder.Query{
		Text: valueOf(r.Params.Q), Cursor: valueOf(r.Params.Cursor), Limit: valueOf(r.Params.Limit),
	})
	if err != nil {
		return nil, err
	}
	return response{http.StatusOK, render.SupportHits(found)}, nil
}

// SupportAttempt handles GET /v1/support/attempts/{payment_attempt_id}.
func (s *server) SupportAttempt(ctx context.Context, r gen.SupportAttemptRequestObject) (gen.SupportAttemptResponseObject, error) {
	x := ExchangeOf(ctx)
	id, err := idOf(ctx, s, support.ViewedAttempt, "attempt", r.PaymentAttemptID, x.AttemptID)
	if err != nil {
		return nil, err
	}
	page, err := s.Support.Attempt(ctx, x.Staff(), id)
	if err != nil {
		return nil, err
	}
	x.About(page.Attempt)
	return response{http.StatusOK, s.render.SupportAttempt(page)}, nil
}

// SupportRecheck handles POST /v1/support/attempts/{payment_attempt_id}/recheck.
func (s *server) SupportRecheck(ctx context.Context, r gen.SupportRecheckRequestObject) (gen.SupportRecheckResponseObject, error) {
	x := ExchangeOf(ctx)
	id, err := idOf(ctx, s, support.Rechecked, "attempt", r.PaymentAttemptID, x.AttemptID)
	if err != nil {
		return nil, err
	}
	v, err := s.Support.Recheck(ctx, x.Staff(), id, valueOf(valueOf(r.Body).Reason))
	if err != nil {
		return nil, err
	}
	x.About(v.Attempt)
	return response{http.StatusOK, s.render.ForStaff().Attempt(v)}, nil
}

// SupportEvent handles GET /v1/support/events/{event_id}.
func (s *server) SupportEvent(ctx context.Context, r gen.SupportEventRequestObject) (gen.SupportEventResponseObject, error) {
	x := ExchangeOf(ctx)
	id, err := idOf(ctx, s, support.ViewedEvent, "event", r.EventID, payment.ParseEventID)
	if err != nil {
		return nil, err
	}
	e, err := s.Support.Event(ctx, x.Staff(), id)
	if err != nil {
		return nil, err
	}
	return response{http.StatusOK, render.SupportEvent(e)}, nil
}

// SupportReveal handles POST /v1/support/events/{event_id}/reveal.
func (s *server) SupportReveal(ctx context.Context, r gen.SupportRevealRequestObject) (gen.SupportRevealResponseObject, error) {
	x := ExchangeOf(ctx)
	id, err := idOf(ctx, s, support.RevealedEvent, "event", r.EventID, payment.ParseEventID)
	if err != nil {
		return nil, err
	}
	e, err := s.Support.Reveal(ctx, x.Staff(), id, valueOf(valueOf(r.Body).Reason))
	if err != nil {
		return nil, err
	}
	return response{http.StatusOK, render.SupportRevealed(e)}, nil
}

// SupportReplay handles POST /v1/support/events/{event_id}/replay.
func (s *server) SupportReplay(ctx context.Context, r gen.SupportReplayRequestObject) (gen.SupportReplayResponseObject, error) {
	x, body := ExchangeOf(ctx), valueOf(r.Body)
	id, err := idOf(ctx, s, support.ReplayAction(valueOf(body.DryRun)), "event", r.EventID, payment.ParseEventID)
	if err != nil {
		return nil, err
	}
	replayed, err := s.Support.Replay(ctx, x.Staff(), id, valueOf(body.Reason), valueOf(body.DryRun))
	if err != nil {
		return nil, err
	}
	return response{http.StatusOK, render.SupportReplayed(replayed, valueOf(body.DryRun))}, nil
}

// SupportAudit handles GET /v1/support/audit.
func (s *server) SupportAudit(ctx context.Context, r gen.SupportAuditRequestObject) (gen.SupportAuditResponseObject, error) {
	page, err := support.ParsePage(valueOf(r.Params.Cursor), valueOf(r.Params.Limit))
	if err != nil {
		return nil, err
	}
	list, next, err := s.Support.Audit(ctx, ExchangeOf(ctx).Staff(), support.AuditFilter{
		Actor: valueOf(r.Params.Actor), Action: valueOf(r.Params.Action), Target: valueOf(r.Params.Target),
	}, page)
	if err = partial(ctx, err); err != nil {
		return nil, err
	}
	return response{http.StatusOK, render.SupportAudit(list, next)}, nil
}

// idOf reads an id in the path of a support operation. A malformed id is audited like the id of a missing object.
func idOf[T any](ctx context.Context, s *server, action support.Action, kind, text string, parse func(string) (T, error)) (T, error) {
	id, err := parse(text)
	if err != nil {
		err = s.Support.Refuse(ctx, ExchangeOf(ctx).Staff(), action, kind, text, err)
	}
	return id, err
}
