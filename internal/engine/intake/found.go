package intake

import (
	"bytes"
	"context"
	"maps"
	"slices"

	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// found maps the references of a batch's events to attempts. A locked attempt is nil.
type found map[payment.Reference]*payment.Attempt

func newFound(s *changeset.Changeset, hits []Found) found {
	f := make(found, len(hits))
	for _, h := range hits {
		f[h.Reference] = h.Attempt
		if s.Busy(h.ID) {
			f[h.Reference] = nil
		}
		s.Owned(h.Reference, h.ID)
	}
	return f
}

// names returns all names that an event may have for its attempt. The attempt that has the payment outranks a mark that a browser
// could have written.
func names(e webhooks.Event) []string {
	if e.BrowserMark && e.ProviderPaymentID != "" {
		return append([]string{e.ProviderPaymentID}, e.References...)
	}
	return e.References
}

// leads returns the names by which an event's attempt is looked for at first. If a name of ours leads to it, the
// provider's name almost always belongs to the same attempt, so no search by it is needed. Several provider names can't
// all belong to it. If a browser wrote the mark, any other name may belong to another attempt.
func leads(e webhooks.Event) []string {
	all := names(e)
	if len(all) == 2 && !e.BrowserMark {
		if _, ours := payment.OwnAttemptID(all[0]); ours {
			return all[:1]
		}
	}
	return all
}

// referencesOf lists names of arrivals, sorted and each once.
func referencesOf(arrivals []*arrival, which func(webhooks.Event) []string) []payment.Reference {
	refs := make([]payment.Reference, 0, len(arrivals))
	for _, a := range arrivals {
		for _, name := range which(a.Event) {
			refs = append(refs, payment.Reference{Account: a.Account, Name: name})
		}
	}
	return changeset.Sorted(refs)
}

func find(ctx context.Context, tx Tx, s *changeset.Changeset, arrivals []*arrival) (found, error) {
	hits, err := tx.AttemptsByReference(ctx, referencesOf(arrivals, names))
	return newFound(s, hits), err
}

// findRest looks for the other names of arrivals that their leads did not find.
func findRest(ctx context.Context, tx Tx, f found, s *changeset.Changeset, arrivals []*arrival) (found, error) {
	lost := slices.DeleteFunc(slices.Clone(arrivals), func(a *arrival) bool {
		first := leads(a.Event)
		return len(first) == len(names(a.Event)) || f.has(a.Account, first)
	})
	if len(lost) == 0 {
		return f, nil
	}
	more, err := find(ctx, tx, s, lost)
	maps.Copy(f, more)
	return f, err
}

func (f found) has(account string, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		_, known := f[payment.Reference{Account: account, Name: name}]
		return known
	})
}

// first is the attempt that an event names; nil if it does not exist or is locked.
func (f found) first(e *arrival) *payment.Attempt {
	for _, name := range names(e.Event) {
		if a := f[payment.Reference{Account: e.Account, Name: name}]; a != nil {
			return a
		}
	}
	return nil
}

// load reads the data needed to apply arrivals to the attempts that they name.
func (f found) load(ctx context.Context, s *changeset.Changeset, arrivals []*arrival) error {
	var named changeset.Named
	for _, a := range arrivals {
		of := f.first(a)
		named = named.With(changeset.NamesOf(a.ReceivedEvent, of != nil && of.Capture == payment.CaptureSeveral))
	}
	if err := s.LoadRefunds(ctx, f.named(arrivals, func(e webhooks.Event) bool { return payment.IsRefundEvent(e.Kind) })...); err != nil {
		return err
	}
	return s.LoadNamed(ctx, named)
}

// named lists the attempts that events of a sort name.
func (f found) named(arrivals []*arrival, sort func(e webhooks.Event) bool) []payment.AttemptID {
	var ids []payment.AttemptID
	for _, a := range arrivals {
		if !sort(a.Event) {
			continue
		}
		for _, name := range names(a.Event) {
			if at := f[payment.Reference{Account: a.Account, Name: name}]; at != nil {
				ids = append(ids, at.ID)
			}
		}
	}
	slices.SortFunc(ids, func(a, b payment.AttemptID) int { return bytes.Compare(a[:], b[:]) })
	return slices.Compact(ids)
}
