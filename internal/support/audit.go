package support

import (
	"context"
	"time"

	"github.com/paylatch/paylatch/internal/payment"
)

// DeedFilter says which entries of the audit log are wanted; what is empty is any.
type DeedFilter struct {
	Actor  string
	Action string
	Target string
}

// Audit lists the audit log, newest first, for admin only; this look is in it,
// too, and so is that of staff who may not. It returns payment.ErrForbidden and a payment.ValidationError.
func (s *Service) Audit(ctx context.Context, who Staff, f DeedFilter, p Page) (list []Deed, next string, err error) {
	if err := who.may(payment.RoleAdmin); err != nil {
		return nil, "", s.Refuse(ctx, who, ViewedAudit, "audit", "", err)
	}
	for field, text := range map[string]string{"actor": f.Actor, "action": f.Action, "target": f.Target} {
		if !storable(text) {
			return nil, "", invalid(field, "must be text in UTF-8")
		}
	}
	id, err := p.id()
	if err != nil {
		return nil, "", err
	}
	list, err = s.store.Deeds(ctx, DeedQuery{Actor: f.Actor, Action: Action(f.Action), Target: f.Target, BeforeID: id, Limit: p.limit + 1})
	if err := s.looked(ctx, who.deed(ViewedAudit, "audit", ""), err); err != nil {
		return nil, "", err
	}
	list, next = cut(p, list, func(d Deed) (time.Time, string) { return d.At, d.ID.String() })
	return list, next, nil
}
