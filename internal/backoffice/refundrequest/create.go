package refundrequest

import (
	"context"
	"errors"

	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/payment"
)

// Create is the command. An empty Currency is the attempt's.
type Create struct {
	AttemptID payment.AttemptID
	Amount    int64
	Currency  payment.Currency
	Reason    string
}

// Create stores a request. Its amount must not exceed the refundable amount less other open requests. The same request
// of the same person returns the existing request and false while that one is open. It returns payment.ErrForbidden,
// payment.ErrAttemptNotFound, payment.ErrNotRefundable, payment.ErrRefundExceeds and a payment.ValidationError.
func (s *Service) Create(ctx context.Context, who support.Staff, cmd Create) (Request, bool, error) {
	if err := who.MayAct(cmd.Reason, payment.RoleSupport, payment.RoleAdmin); err != nil {
		return Request{}, false, err
	}
	r := Request{ID: payment.CellOf(cmd.AttemptID).NewID(), AttemptID: cmd.AttemptID, Reason: cmd.Reason, By: who.Person(), State: Open}
	a, left, err := s.store.Refundable(ctx, cmd.AttemptID)
	if err == nil && cmd.Currency != "" && cmd.Currency != a.Money.Currency {
		return Request{}, false, payment.Invalid("currency", "must be the payment's, "+string(a.Money.Currency)+", or absent")
	}
	r.OrderID, r.Money = a.OrderID, payment.Money{Minor: cmd.Amount, Currency: a.Money.Currency}
	entry := r.entry(who, support.AskedForRefund, cmd.Reason)
	if err != nil {
		return Request{}, false, s.refused(ctx, entry, err)
	}
	if same, err := s.store.Same(ctx, r); !errors.Is(err, ErrNotFound) {
		return same, false, err
	}
	if err := s.fits(ctx, a, left, cmd.Amount); err != nil {
		return Request{}, false, s.refused(ctx, entry, err)
	}
	return s.store.Insert(ctx, r, entry)
}

// fits returns why an attempt can't be refunded by an amount beside its other open requests.
func (s *Service) fits(ctx context.Context, a payment.Attempt, left, amount int64) error {
	if amount <= 0 {
		return payment.Invalid("amount", "must be at least 1, in minor units")
	}
	if a.Refundable() == 0 || a.ProviderPaymentID == "" {
		return payment.ErrNotRefundable
	}
	if a.Split {
		return payment.Invalid("payment_attempt_id", "is a payment that shares its money with another account at the provider: an admin refunds this payment "+
			"by the API or by `paylatch refund create`, with provider_data that names the account that bears the refund")
	}
	open, err := s.store.OpenAmount(ctx, a.ID)
	if err == nil && amount > left-open {
		err = payment.ErrRefundExceeds
	}
	return err
}

// entry returns the entry of an act on a request in the audit log.
func (r Request) entry(who support.Staff, action support.Action, reason string) support.AuditEntry {
	return support.AuditEntry{
		ID: payment.CellOf(r.ID).NewID(), ActionID: payment.CellOf(r.ID).NewID(), Actor: who.Subject, Roles: who.Roles, Action: action,
		TargetType: target, Target: r.ID.String(), OrderID: r.OrderID, AttemptID: &r.AttemptID, Reason: reason,
		Address: who.Address, RequestID: who.RequestID, Outcome: support.Done,
		Detail: map[string]any{"requested_by": r.By, "amount": r.Money.Minor, "currency": string(r.Money.Currency)},
	}
}

// refused writes the audit entry of a refused action, and returns the reason. A malformed request or an unavailable
// storage leaves no entry.
func (s *Service) refused(ctx context.Context, e support.AuditEntry, err error) error {
	if errors.Is(err, payment.ErrUnavailable) || errors.As(err, new(*payment.ValidationError)) {
		return err
	}
	e.Outcome = support.Failed
	for _, decision := range []error{
		ErrNotFound, ErrDecided, ErrOwn, payment.ErrForbidden, payment.ErrAttemptNotFound, payment.ErrNotRefundable, payment.ErrRefundExceeds,
		payment.ErrPaysHeld,
	} {
		if errors.Is(err, decision) {
			e.Outcome, e.Detail["refusal"] = support.Refused, err.Error()
		}
	}
	// The refusal is written even if the caller is gone meanwhile.
	return errors.Join(err, s.store.Refused(context.WithoutCancel(ctx), e))
}
