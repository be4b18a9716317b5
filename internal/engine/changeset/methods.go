package changeset

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/events/outbox"
	"github.com/paylatch/paylatch/internal/payment"
)

// methods are the stored payment methods that events name, or that attempts store.
type methods struct {
	// read has each name whose method was looked up, with version 0 where none is recorded. was has the versions on disk.
	read map[payment.MethodName]*payment.StoredMethod
	was  map[payment.MethodName]int
	told []outbox.Message
}

// loadMethods locks stored payment methods.
func (s *Changeset) loadMethods(ctx context.Context, names []payment.MethodName) error {
	names = slices.DeleteFunc(slices.Clone(names), func(n payment.MethodName) bool { return s.methods.read[n] != nil })
	if len(names) == 0 {
		return nil
	}
	rows, err := s.tx.MethodsLock(ctx, names)
	if err != nil {
		return err
	}
	if s.methods.read == nil {
		s.methods.read, s.methods.was = map[payment.MethodName]*payment.StoredMethod{}, map[payment.MethodName]int{}
	}
	for _, n := range names {
		s.methods.read[n] = &payment.StoredMethod{Account: n.Account, SavedMethod: payment.SavedMethod{Token: n.Token}}
	}
	for i := range rows {
		n := rows[i].Name()
		s.methods.read[n], s.methods.was[n] = &rows[i], rows[i].Version
	}
	return nil
}

// ApplyMethod applies an event about a stored payment method, under the name by which the method is recorded. A method that was
// stored elsewhere is recorded with the event, since the shop may charge it here. A method that was erased with its customer is not
// recorded again. LoadNamed must have read it.
func (s *Changeset) ApplyMethod(e *payment.StoredEvent) {
	e.Verdict, e.NextTryAt = payment.Ignored, nil
	m := s.methodOf(e)
	if m == nil {
		return
	}
	e.OrderID, e.AttemptID, e.Erased = m.OrderID, m.AttemptID, m.UserID.Erased()
	if e.Erased {
		e.ForgetMethod()
		return
	}
	if e.Verdict = m.Change(e.Event, s.Now()); e.Verdict == fsm.Applied {
		s.methods.told = append(s.methods.told, outbox.Method(*m))
	}
}

// methodOf returns the method that an event is about: the recorded one of its names, else the erased one, else the first; nil if the
// event names no method.
func (s *Changeset) methodOf(e *payment.StoredEvent) *payment.StoredMethod {
	var first, erased *payment.StoredMethod
	for _, token := range e.Event.Method.Tokens {
		n := payment.MethodName{Account: e.Account, Token: token}
		m, gone := s.methods.read[n], s.methods.read[n.Erased()]
		if m != nil && m.Version > 0 {
			return m
		}
		if gone != nil && gone.Version > 0 {
			erased = gone
		}
		first = cmp.Or(first, m)
	}
	return cmp.Or(erased, first)
}

// methodsStored records the payment methods that the changeset's attempts have just stored.
func (s *Changeset) methodsStored(ctx context.Context) error {
	var stored []*Change
	var names []payment.MethodName
	for _, id := range s.order {
		if c := s.changes[id]; c.Attempt.Saved != nil && c.Attempt.Saved != c.before.Saved {
			stored = append(stored, c)
			names = append(names, payment.MethodName{Account: c.Attempt.Account, Token: c.Attempt.Saved.Token})
		}
	}
	if err := s.loadMethods(ctx, names); err != nil {
		return err
	}
	for i, c := range stored {
		s.methods.read[names[i]].StoredBy(c.Attempt, s.Now())
	}
	return nil
}

// writes returns the changes in the order of the names, because a transaction that records the same methods waits for this
// one.
func (m *methods) writes() (writes []MethodWrite) {
	for n, now := range m.read {
		if was := m.was[n]; now.Version != was {
			writes = append(writes, MethodWrite{*now, was})
		}
	}
	slices.SortFunc(writes, func(a, b MethodWrite) int {
		return cmp.Or(strings.Compare(a.Method.Account, b.Method.Account), strings.Compare(a.Method.Token, b.Method.Token))
	})
	return writes
}
