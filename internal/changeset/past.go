package changeset

import "github.com/paylatch/paylatch/internal/payment"

// Import takes a new attempt in that is final, and gives it names that are free: what is parked for
// them is applied by Save.
func (s *Changeset) Import(a payment.Attempt, names []payment.Reference) {
	c := s.Change(a)
	for _, ref := range names {
		s.names.owners[ref] = a.ID
		c.names = append(c.names, ref.Name)
	}
	s.noteOrders(c, payment.Attempt{})
}

// Owner is the attempt that has a name, as far as the changeset has read it.
func (s *Changeset) Owner(ref payment.Reference) (payment.AttemptID, bool) {
	id, known := s.names.owners[ref]
	return id, known
}
