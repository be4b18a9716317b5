package changeset

import "github.com/paylatch/paylatch/internal/payment"

// Import adds a new final attempt and gives it free names. Save applies the events that are parked for these names.
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
