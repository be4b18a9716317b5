package api

import (
	"context"
	"net/http"

	"github.com/paylatch/paylatch/internal/api/gen"
	"github.com/paylatch/paylatch/internal/api/problem"
	"github.com/paylatch/paylatch/internal/api/render"
	"github.com/paylatch/paylatch/internal/commands"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/review"
	"github.com/paylatch/paylatch/internal/support"
)

// staff is the caller, and the address of the call.
func (x *exchange) staff() support.Staff {
	return support.Staff{Actor: x.actor, Address: x.Peer, RequestID: x.RequestID}
}

// SupportSearch handles GET /v1/support/search.
func (s *server) SupportSearch(ctx context.Context, r gen.SupportSearchRequestObject) (gen.SupportSearchResponseObject, error) {
	x := exchangeOf(ctx)
	// A search must not find ids by trying all.
	if s.searches.Reserve(x.actor.Subject, s.Now()) > 0 {
		return nil, problem.Refuse("rate-limited", "")
	}
	page, err := support.ParsePage(valueOf(r.Params.Cursor), valueOf(r.Params.Limit))
	if err != nil {
		return nil, err
	}
	hits, next, err := s.Support.Search(ctx, x.staff(), valueOf(r.Params.Q), page)
	if err != nil {
		return nil, err
	}
	return response{http.StatusOK, render.SupportHits(hits, next)}, nil
}

// SupportAttempt handles GET /v1/support/attempts/{payment_attempt_id}.
func (s *server) SupportAttempt(ctx context.Context, r gen.SupportAttemptRequestObject) (gen.SupportAttemptResponseObject, error) {
	x := exchangeOf(ctx)
	id, err := idOf(ctx, s, support.ViewedAttempt, "attempt", r.PaymentAttemptID, x.attemptID)
	if err != nil {
		return nil, err
	}
	page, err := s.Support.Attempt(ctx, x.staff(), id)
	if err != nil {
		return nil, err
	}
	x.About(page.Attempt)
	return response{http.StatusOK, s.render.SupportAttempt(page)}, nil
}

// SupportRecheck handles POST /v1/support/attempts/{payment_attempt_id}/recheck.
func (s *server) SupportRecheck(ctx context.Context, r gen.SupportRecheckRequestObject) (gen.SupportRecheckResponseObject, error) {
	x := exchangeOf(ctx)
	id, err := idOf(ctx, s, support.Rechecked, "attempt", r.PaymentAttemptID, x.attemptID)
	if err != nil {
		return nil, err
	}
	v, err := s.Support.Recheck(ctx, x.staff(), id, valueOf(valueOf(r.Body).Reason))
	if err != nil {
		return nil, err
	}
	x.About(v.Attempt)
	return response{http.StatusOK, s.render.ForStaff(v)}, nil
}

// SupportEvent handles GET /v1/support/events/{event_id}.
func (s *server) SupportEvent(ctx context.Context, r gen.SupportEventRequestObject) (gen.SupportEventResponseObject, error) {
	x := exchangeOf(ctx)
	id, err := idOf(ctx, s, support.ViewedEvent, "event", r.EventID, payment.ParseEventID)
	if err != nil {
		return nil, err
	}
	e, err := s.Support.Event(ctx, x.staff(), id)
	if err != nil {
		return nil, err
	}
	return response{http.StatusOK, render.SupportEvent(e)}, nil
}

// SupportReveal handles POST /v1/support/events/{event_id}/reveal.
func (s *server) SupportReveal(ctx context.Context, r gen.SupportRevealRequestObject) (gen.SupportRevealResponseObject, error) {
	x := exchangeOf(ctx)
	id, err := idOf(ctx, s, support.RevealedEvent, "event", r.EventID, payment.ParseEventID)
	if err != nil {
		return nil, err
	}
	e, err := s.Support.Reveal(ctx, x.staff(), id, valueOf(valueOf(r.Body).Reason))
	if err != nil {
		return nil, err
	}
	return response{http.StatusOK, render.SupportRevealed(e)}, nil
}

// SupportReplay handles POST /v1/support/events/{event_id}/replay.
func (s *server) SupportReplay(ctx context.Context, r gen.SupportReplayRequestObject) (gen.SupportReplayResponseObject, error) {
	x, body := exchangeOf(ctx), valueOf(r.Body)
	id, err := idOf(ctx, s, support.ReplayAction(valueOf(body.DryRun)), "event", r.EventID, payment.ParseEventID)
	if err != nil {
		return nil, err
	}
	replayed, err := s.Support.Replay(ctx, x.staff(), id, valueOf(body.Reason), valueOf(body.DryRun))
	if err != nil {
		return nil, err
	}
	return response{http.StatusOK, render.SupportReplayed(replayed, valueOf(body.DryRun))}, nil
}

// SupportDiscrepancies handles GET /v1/support/discrepancies.
func (s *server) SupportDiscrepancies(ctx context.Context, r gen.SupportDiscrepanciesRequestObject) (gen.SupportDiscrepanciesResponseObject, error) {
	page, err := support.ParsePage(valueOf(r.Params.Cursor), valueOf(r.Params.Limit))
	if err != nil {
		return nil, err
	}
	list, next, err := s.Support.Discrepancies(ctx, exchangeOf(ctx).staff(), valueOf(r.Params.Status), valueOf(r.Params.Kind), page)
	if err != nil {
		return nil, err
	}
	return response{http.StatusOK, render.SupportDiscrepancies(list, next)}, nil
}

// SupportResolve handles POST /v1/support/discrepancies/{discrepancy_id}/resolve.
func (s *server) SupportResolve(ctx context.Context, r gen.SupportResolveRequestObject) (gen.SupportResolveResponseObject, error) {
	x, body := exchangeOf(ctx), valueOf(r.Body)
	id, err := idOf(ctx, s, support.Resolved, "discrepancy", r.DiscrepancyID, payment.ParseDiscrepancyID)
	if err != nil {
		return nil, err
	}
	d, err := s.Support.Resolve(ctx, x.staff(), commands.Resolve{
		ID: id, Resolution: review.Resolution(body.Resolution), ProviderPaymentID: valueOf(body.ProviderPaymentID), Reason: valueOf(body.Reason),
	})
	if err != nil {
		return nil, err
	}
	return response{http.StatusOK, render.SupportDiscrepancy(d)}, nil
}

// SupportAudit handles GET /v1/support/audit.
func (s *server) SupportAudit(ctx context.Context, r gen.SupportAuditRequestObject) (gen.SupportAuditResponseObject, error) {
	page, err := support.ParsePage(valueOf(r.Params.Cursor), valueOf(r.Params.Limit))
	if err != nil {
		return nil, err
	}
	list, next, err := s.Support.Audit(ctx, exchangeOf(ctx).staff(), support.AuditFilter{
		Actor: valueOf(r.Params.Actor), Action: valueOf(r.Params.Action), Target: valueOf(r.Params.Target),
	}, page)
	if err != nil {
		return nil, err
	}
	return response{http.StatusOK, render.SupportAudit(list, next)}, nil
}
