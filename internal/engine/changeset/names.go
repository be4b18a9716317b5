package changeset

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/paylatch/paylatch/internal/payment"
)

// names are the names of attempts at providers, as far as the changeset has read them.
type names struct {
	owners map[payment.Reference]payment.AttemptID
	// asked has the names whose owners and parked events were read.
	asked map[payment.Reference]bool
	// parked are the events that wait for an attempt to gain one of the names.
	parked []payment.StoredEvent
}

func newNames() names {
	return names{owners: map[payment.Reference]payment.AttemptID{}, asked: map[payment.Reference]bool{}}
}

// read takes over the owners and the parked events of names.
func (n *names) read(ctx context.Context, s *Changeset, asked []payment.Reference, taken Taken) error {
	maps.Copy(n.owners, taken.Owners)
	for _, ref := range asked {
		n.asked[ref] = true
	}
	parked, err := s.Readable(ctx, taken.Parked)
	n.parked = append(n.parked, parked...)
	return err
}

// Owned takes over that an attempt has a name.
func (s *Changeset) Owned(ref payment.Reference, id payment.AttemptID) { s.names.owners[ref] = id }

// name gives an attempt a name that may be new to it. A name of another attempt stays there, and a person decides.
func (s *Changeset) name(c *Change, name string) {
	ref := payment.Reference{Account: c.Attempt.Account, Name: name}
	owner, known := s.names.owners[ref]
	switch {
	case name == "", name == c.Attempt.ID.String(), name == c.before.ProviderPaymentID, known && owner == c.Attempt.ID:
	case known:
		s.shared(c, name)
	default:
		s.names.owners[ref] = c.Attempt.ID
		c.names = append(c.names, name)
	}
}

func (s *Changeset) shared(c *Change, name string) {
	s.find(c, payment.Finding{
		Kind: payment.NeedsReview, About: payment.AboutSharedReference, AboutID: name,
		Text: "The provider's id " + name + " belongs to two attempts. Find out which of them this payment pays.",
	}, payment.Cause{})
}

// reserveNames reads the owners and the parked events of the new names that were not read before.
func (n *names) reserveNames(ctx context.Context, s *Changeset) error {
	var unread []payment.Reference
	for _, id := range s.order {
		c := s.changes[id]
		for _, name := range c.names {
			if ref := (payment.Reference{Account: c.Attempt.Account, Name: name}); !n.asked[ref] {
				unread = append(unread, ref)
			}
		}
	}
	if len(unread) == 0 {
		return nil
	}
	unread = Sorted(unread)
	taken, err := s.tx.AttemptsTake(ctx, nil, unread)
	if err != nil {
		return err
	}
	owners := taken.Owners
	taken.Owners = nil
	if err := n.read(ctx, s, unread, taken); err != nil {
		return err
	}
	for _, id := range s.order {
		s.dropForeignNames(s.changes[id], owners)
	}
	return nil
}

// dropForeignNames gives up the names that other attempts have.
func (s *Changeset) dropForeignNames(c *Change, owners map[payment.Reference]payment.AttemptID) {
	c.names = slices.DeleteFunc(c.names, func(name string) bool {
		owner, taken := owners[payment.Reference{Account: c.Attempt.Account, Name: name}]
		if taken && owner != c.Attempt.ID {
			s.shared(c, name)
		}
		return taken
	})
}

// Sorted sorts references by account and name, the order in which they are locked, and removes duplicates. It reorders
// refs.
func Sorted(refs []payment.Reference) []payment.Reference {
	slices.SortFunc(refs, func(a, b payment.Reference) int {
		return cmp.Or(strings.Compare(a.Account, b.Account), strings.Compare(a.Name, b.Name))
	})
	return slices.Compact(refs)
}
