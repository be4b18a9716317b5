package payment

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
)

// found is what the references of a batch's events lead to.
type found map[Reference]*Attempt

// names are all by which an event may name its attempt.
func (a *arrival) names() []string { return a.Event.References }

// leads are the names that an event's attempt is looked for by at first. Where a
// name of ours leads to it, the provider's is the one that the attempt has, almost
// always, and need not be looked for. Several can't all be that one.
func (a *arrival) leads() []string {
	names := a.names()
	if len(names) == 2 {
		if _, ours := OwnAttemptID(names[0]); ours {
			return names[:1]
		}
	}
	return names
}

// namesOf lists names of arrivals, sorted and each once.
func namesOf(arrivals []*arrival, which func(*arrival) []string) []Reference {
	refs := make([]Reference, 0, len(arrivals))
	for _, a := range arrivals {
		for _, name := range which(a) {
			refs = append(refs, Reference{a.Account, name})
		}
	}
	return sorted(refs)
}

func sorted(refs []Reference) []Reference {
	slices.SortFunc(refs, func(a, b Reference) int {
		return cmp.Or(strings.Compare(a.Account, b.Account), strings.Compare(a.Name, b.Name))
	})
	return slices.Compact(refs)
}

func (b *batch) find(ctx context.Context, arrivals []*arrival) (found, error) {
	hits, err := b.tx.AttemptsByReference(ctx, namesOf(arrivals, (*arrival).names))
	return b.found(hits), err
}

// findRest looks for the other names of arrivals whose leads led nowhere.
func (b *batch) findRest(ctx context.Context, f found, arrivals []*arrival) (found, error) {
	lost := slices.DeleteFunc(slices.Clone(arrivals), func(a *arrival) bool {
		leads := a.leads()
		return len(leads) == len(a.names()) || f.has(a.Account, leads)
	})
	if len(lost) == 0 {
		return f, nil
	}
	more, err := b.find(ctx, lost)
	maps.Copy(f, more)
	return f, err
}

func (f found) has(account string, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		_, known := f[Reference{account, name}]
		return known
	})
}

func (b *batch) found(hits []Found) found {
	f := make(found, len(hits))
	for _, h := range hits {
		f[h.Reference] = h.Attempt
		if b.busy[h.ID] {
			f[h.Reference] = nil
		}
		b.owners[h.Reference] = h.ID
	}
	return f
}
