package support

import (
	"cmp"
	"context"
	"slices"

	"github.com/paylatch/paylatch/internal/payment"
)

// OrderRequests returns the requests about an order as a whole, oldest first: its cancellation, and requests refused before a payment was
// made. The timelines of its attempts have the same. It writes no entry in the audit log, since the page of the order writes one.
func (s *Service) OrderRequests(ctx context.Context, who Staff, o payment.Order) ([]Entry, error) {
	if err := who.mayLook(); err != nil {
		return nil, err
	}
	_ = s.flush(ctx) // after an error it is written later
	notes, err := s.store.OrderActivity(ctx, o.ID)
	if err != nil {
		return nil, err
	}
	h := AttemptHistory{Order: o, Attempt: payment.Attempt{OrderID: o.ID, UserID: o.UserID, Money: o.Money, CreatedAt: o.CreatedAt}}
	if n := len(o.Attempts); n > 0 {
		h.Attempt = o.Attempts[n-1]
	}
	entries := make([]Entry, len(notes))
	for i, n := range notes {
		entries[i] = h.activity(n)
	}
	slices.SortStableFunc(entries, func(a, b Entry) int { return cmp.Compare(a.At.UnixMicro(), b.At.UnixMicro()) })
	return entries, nil
}
