package worklist

import (
	"context"
	"sync"
	"time"

	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/payment"
)

// Shown is how many comments of a discrepancy are shown.
const Shown = 50

// countLife is how long a count is used again.
const countLife = time.Second

// Options configure a Service. All are required.
type Options struct {
	Store    Store
	Audit    Audit
	Payments Payments
	Now      func() time.Time
}

// Service is the use cases of staff. It is safe for concurrent use.
type Service struct {
	Options

	mu      sync.Mutex
	open    int64
	counted time.Time
}

// New returns a service.
func New(o Options) *Service { return &Service{Options: o} }

// List returns a page of the worklist. It returns payment.ErrForbidden and a payment.ValidationError.
func (s *Service) List(ctx context.Context, who support.Staff, f Filter, p support.Page) ([]Entry, string, error) {
	return s.list(ctx, who, f, p, 0, func(err error) error {
		return s.Audit.Audited(ctx, who.Entry(support.ViewedWorklist, "discrepancies", f.Status), err)
	})
}

// Page is List with the newest comments of each.
func (s *Service) Page(ctx context.Context, who support.Staff, f Filter, p support.Page) ([]Entry, string, error) {
	return s.list(ctx, who, f, p, Shown, func(err error) error {
		return s.Audit.Audited(ctx, who.Entry(support.ViewedWorklist, "discrepancies", f.Status), err)
	})
}

// Changed is Page without an entry in the audit log. It must be called only for a person who has opened a page of the
// worklist in the same session.
func (s *Service) Changed(ctx context.Context, who support.Staff, f Filter, p support.Page) ([]Entry, string, error) {
	return s.list(ctx, who, f, p, Shown, func(err error) error { return err })
}

func (s *Service) list(ctx context.Context, who support.Staff, f Filter, p support.Page, comments int, audited func(error) error) ([]Entry, string, error) {
	if err := who.MayLook(); err != nil {
		return nil, "", err
	}
	q, err := f.query(who, p)
	if err != nil {
		return nil, "", err
	}
	q.Comments = comments
	list, err := s.Store.List(authz.WithReader(ctx, who.Reader()), q)
	if err := audited(err); err != nil {
		return nil, "", err
	}
	list, next := support.Cut(p, list, place)
	return list, next, nil
}

// Entry returns one discrepancy. It returns payment.ErrForbidden and payment.ErrDiscrepancyNotFound.
func (s *Service) Entry(ctx context.Context, who support.Staff, id payment.DiscrepancyID) (Entry, error) {
	if err := who.MayLook(); err != nil {
		return Entry{}, err
	}
	e, err := s.Store.Entry(ctx, id, Shown)
	look := who.Entry(support.ViewedDiscrepancy, target, id.String())
	look.OrderID, look.AttemptID = e.OrderID, e.AttemptID
	if err := s.Audit.Audited(ctx, look, err); err != nil {
		return Entry{}, err
	}
	return e, nil
}

// Waiting returns how many are open, as of the last second or the last change by this process.
func (s *Service) Waiting(ctx context.Context) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := s.Now(); s.counted.IsZero() || now.Sub(s.counted) >= countLife {
		open, err := s.Store.Count(ctx)
		if err != nil {
			return 0, err
		}
		s.open, s.counted = open, now
	}
	return s.open, nil
}

// recount has the next Waiting count anew.
func (s *Service) recount() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counted = time.Time{}
}

// target is the target type of an action on a discrepancy.
const target = "discrepancy"
