package refundrequest

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/payment"
)

// Approve makes the refund of an open request, as the approving admin. It returns an approved request unchanged. If the
// same admin has approved it, Approve continues a refund that was left halfway. Without a reason the request's own
// reason is kept. It returns payment.ErrForbidden, ErrOwn, ErrNotFound, ErrDecided for a declined request, a
// payment.ValidationError, and the errors of commands.Commands.Refund. The request stays open after the latter.
func (s *Service) Approve(ctx context.Context, who support.Staff, id uuid.UUID, reason string) (Request, error) {
	if err := who.Require(payment.RoleAdmin); err != nil {
		return Request{}, s.audit.Refuse(ctx, who, support.ApprovedRefund, target, id.String(), err)
	}
	if reason != "" {
		if err := who.MayAct(reason, payment.RoleAdmin); err != nil {
			return Request{}, err
		}
	}
	r, err := s.store.Request(ctx, id)
	if err != nil {
		return Request{}, s.missing(ctx, who, support.ApprovedRefund, id, err)
	}
	switch {
	case r.State == Open && authz.SamePerson(r.By, who.Person()):
		err = ErrOwn
	case r.State == Declined:
		err = ErrDecided
	case r.State == Approved && r.DecidedBy != who.Person():
		return r, nil
	default:
		err = s.refund(ctx, who, r, reason)
	}
	if err == nil {
		return s.store.Request(ctx, id)
	}
	if errors.Is(err, ErrDecided) && r.State == Open { // by another person meanwhile
		if now, readErr := s.store.Request(ctx, id); readErr == nil && now.State == Approved {
			return now, nil
		}
	}
	return Request{}, s.refused(ctx, r.entry(who, support.ApprovedRefund, reason), err)
}

// missing writes the refusal for a request that does not exist, under the received id.
func (s *Service) missing(ctx context.Context, who support.Staff, action support.Action, id uuid.UUID, err error) error {
	e := Request{ID: id}.entry(who, action, "")
	e.AttemptID, e.Detail = nil, map[string]any{}
	return s.refused(ctx, e, err)
}

// refund makes the refund of a request, or continues its existing refund. The provider gets no reason: the text of staff
// is for staff only.
func (s *Service) refund(ctx context.Context, who support.Staff, r Request, reason string) error {
	kept := reason
	if kept == "" {
		kept = r.Reason
	}
	amount := r.Money.Minor
	_, err := s.payments.Refund(ctx, authz.Actor{Subject: who.Subject, Roles: who.Roles}, requestOf(who, r), commands.CreateRefund{
		AttemptID: r.AttemptID, Amount: &amount, AcknowledgeDispute: true, // two people have looked
		With: func(ctx context.Context, tx commands.Tx, made payment.Refund) error {
			entry := r.entry(who, support.ApprovedRefund, kept)
			entry.Detail["refund_id"] = made.ID.String()
			return s.store.ApproveIn(ctx, tx, r.ID, Decision{DecidedBy: who.Person(), DecisionReason: reason, RefundID: &made.ID}, entry)
		},
	})
	if r.State == Approved && errors.Is(err, idempotency.ErrInProgress) {
		return nil // another process goes on with it
	}
	return err
}

// requestOf is the refund's request in the sense of package idempotency: the same each time that one admin approves one request.
func requestOf(who support.Staff, r Request) idempotency.Request {
	const route = "/support/refund-requests/:id/approve"
	return idempotency.Request{
		User: who.Subject, Endpoint: "POST /support/refund-requests/" + r.ID.String() + "/approve", Key: idempotency.Key("refund-request-" + r.ID.String()),
		Hash: idempotency.HashRequest(http.MethodPost, route, []string{r.ID.String()}, nil, []byte(strconv.FormatInt(r.Money.Minor, 10))),
		Refusal: func(err error) idempotency.Response {
			return idempotency.Response{Status: http.StatusConflict, Body: []byte(err.Error())}
		},
	}
}

// Decline ends an open request without a refund. An admin may decline it, and the requester may withdraw it. A request
// that the same person has declined is returned unchanged. It returns payment.ErrForbidden, ErrNotFound and ErrDecided.
// It returns a payment.ValidationError if the reason is missing.
func (s *Service) Decline(ctx context.Context, who support.Staff, id uuid.UUID, reason string) (Request, error) {
	if err := who.MayAct(reason, payment.RoleSupport, payment.RoleAdmin); err != nil {
		return Request{}, err
	}
	r, err := s.store.Request(ctx, id)
	if err != nil {
		return Request{}, s.missing(ctx, who, support.DeclinedRefund, id, err)
	}
	entry := r.entry(who, support.DeclinedRefund, reason)
	switch {
	case r.By != who.Person() && !who.Has(payment.RoleAdmin):
		err = &authz.RoleError{Needed: []payment.Role{payment.RoleAdmin}, Or: "that of the person who asked for the refund"}
	case r.State == Declined && r.DecidedBy == who.Person():
		return r, nil
	default:
		err = s.store.Decline(ctx, id, Decision{DecidedBy: who.Person(), DecisionReason: reason}, entry)
	}
	if err != nil {
		return Request{}, s.refused(ctx, entry, err)
	}
	return s.store.Request(ctx, id)
}
