package changeset

import (
	"context"
	"slices"
	"strings"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
)

// disputes are those that the changeset's reports name.
type disputes struct {
	// read has each name of which the dispute was read, with nil where there was none.
	read map[payment.DisputeName]*payment.Dispute
	// was are they as they are on disk.
	was map[payment.DisputeName]payment.Dispute
}

// loadDisputes reads the disputes that reports name. The locks of their attempts are held by then.
func (s *Changeset) loadDisputes(ctx context.Context, names []payment.DisputeName) error {
	names = slices.DeleteFunc(slices.Clone(names), func(n payment.DisputeName) bool { _, done := s.disputes.read[n]; return done })
	if len(names) == 0 {
		return nil
	}
	rows, err := s.tx.DisputesNamed(ctx, names)
	if err != nil {
		return err
	}
	if s.disputes.read == nil {
		s.disputes.read, s.disputes.was = map[payment.DisputeName]*payment.Dispute{}, map[payment.DisputeName]payment.Dispute{}
	}
	for _, n := range names {
		s.disputes.read[n] = nil
	}
	for i := range rows {
		n := rows[i].Name()
		s.disputes.read[n], s.disputes.was[n] = &rows[i], rows[i]
	}
	return nil
}

// writes are in the order of their names, since a transaction that makes the same disputes waits
// for this one.
func (d *disputes) writes() (writes []DisputeWrite) {
	for n, now := range d.read {
		if was := d.was[n]; now != nil && now.Version != was.Version {
			writes = append(writes, DisputeWrite{*now, was})
		}
	}
	slices.SortFunc(writes, func(a, b DisputeWrite) int {
		return strings.Compare(a.Dispute.Account+" "+a.Dispute.ProviderDisputeID, b.Dispute.Account+" "+b.Dispute.ProviderDisputeID)
	})
	return writes
}

// applyDisputes applies a report that names disputes. What it says of the payment beside them, its
// movements above all, counts as in any other report.
func (s *Changeset) applyDisputes(c *Change, r payment.Report) fsm.Verdict {
	opens := r.Says == fsm.NewsDisputed
	if opens {
		r.Says = fsm.NewsMoney // that of the attempt; it has no more to say
	}
	last := c.Attempt.LastMovement
	verdict := s.advance(c, r)
	charged := chargedBack(c.Attempt, last)
	for _, t := range r.Disputes {
		of := s.applyDispute(c, t, func(d, was payment.Dispute) bool {
			return opens || d.Enters(was) && (!charged || d.State == fsm.DisputeWarning) // an inquiry took nothing
		})
		if verdict == fsm.Repeat {
			verdict = of
		}
		verdict = stronger(verdict, of)
	}
	return verdict
}

// chargedBack reports whether a chargeback was recorded after some movement: it has a discrepancy of its own.
func chargedBack(a payment.Attempt, last int) bool {
	return slices.ContainsFunc(a.Movements[len(a.Movements)-(a.LastMovement-last):], func(m payment.Movement) bool {
		return m.Kind == payment.MovementChargeback
	})
}

// applyDispute moves one dispute of the attempt, and has a person look at it where opens allows. One that
// another attempt has stays there, and a person is to decide.
func (s *Changeset) applyDispute(c *Change, t payment.DisputeTold, opens func(d, was payment.Dispute) bool) fsm.Verdict {
	name := payment.DisputeName{Account: c.Attempt.Account, ID: t.ProviderID}
	d := s.disputes.read[name]
	switch {
	case d == nil:
		made := payment.NewDispute(c.Attempt, t.ProviderID)
		d = &made
	case d.AttemptID != c.Attempt.ID:
		s.shared(c, t.ProviderID)
		return fsm.Conflict
	}
	was := *d
	verdict := payment.AdvanceDispute(d, t, s.Now())
	if verdict == payment.Ignored {
		return verdict
	}
	s.disputes.read[name] = d
	if f := d.Finding(was); f != nil && opens(*d, was) {
		s.find(c, *f, payment.Cause{})
	}
	return verdict
}
