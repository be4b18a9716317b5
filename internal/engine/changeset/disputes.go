package changeset

import (
	"context"
	"slices"
	"strings"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
)

// disputes are the disputes that the changeset's reports name.
type disputes struct {
	// read has each name whose dispute was read, with nil where no dispute exists.
	read map[payment.DisputeName]*payment.Dispute
	// was has the disputes as they are on disk.
	was map[payment.DisputeName]payment.Dispute
	// moves are the reported moves of each dispute's money, added the new moves to write.
	moves map[payment.DisputeName][]payment.DisputeMove
	added []payment.DisputeMove
}

// loadDisputes reads the disputes that reports name. The locks of their attempts are held by then.
func (s *Changeset) loadDisputes(ctx context.Context, names []payment.DisputeName) error {
	names = s.disputes.unread(names)
	if len(names) == 0 {
		return nil
	}
	rows, moves, err := s.tx.DisputesNamed(ctx, names)
	if err != nil {
		return err
	}
	if s.disputes.read == nil {
		s.disputes.read, s.disputes.was = map[payment.DisputeName]*payment.Dispute{}, map[payment.DisputeName]payment.Dispute{}
		s.disputes.moves = map[payment.DisputeName][]payment.DisputeMove{}
	}
	for _, n := range names {
		s.disputes.read[n] = nil
	}
	for i := range rows {
		n := rows[i].Name()
		s.disputes.read[n], s.disputes.was[n] = &rows[i], rows[i]
	}
	for _, m := range moves {
		s.disputes.moves[m.Name()] = append(s.disputes.moves[m.Name()], m)
	}
	return nil
}

// unread returns the names that were not read yet, without duplicates.
func (d *disputes) unread(names []payment.DisputeName) (left []payment.DisputeName) {
	for _, n := range names {
		if _, done := d.read[n]; !done && !slices.Contains(left, n) {
			left = append(left, n)
		}
	}
	return left
}

// elsewhere reports whether a dispute is of another attempt.
func (d *disputes) elsewhere(n payment.DisputeName, id payment.AttemptID) bool {
	made, moves := d.read[n], d.moves[n]
	return made != nil && made.AttemptID != id || len(moves) > 0 && moves[0].AttemptID != id
}

// rounds replaces the reported movements of disputes' money by the movements that the attempt lacks by all its reports.
// It reports whether a movement belongs to another attempt's dispute. A person decides about that movement.
func (s *Changeset) rounds(c *Change, r *payment.Report) (shared bool) {
	if !slices.ContainsFunc(r.Movements, func(m payment.MovementReport) bool { return m.Dispute != "" }) {
		return false
	}
	var lacking []payment.MovementReport
	a := c.Attempt
	a.Movements = slices.Clip(a.Movements)
	for _, m := range r.Movements {
		name := payment.DisputeName{Account: a.Account, ID: m.Dispute}
		switch {
		case m.Dispute == "":
			lacking = append(lacking, m)
			continue
		case s.disputes.elsewhere(name, a.ID):
			s.shared(c, m.Dispute)
			shared = true
			continue
		}
		move, moved := a.RoundsOf(m, s.disputes.moves[name])
		if move != nil {
			move.RecordedAt = s.Now()
			s.disputes.keep(*move)
		}
		for _, t := range moved {
			a.Movements = append(a.Movements, payment.Movement{Kind: t.Kind, Source: payment.MovementNamed, ProviderID: t.ID, Dispute: t.Dispute, Money: t.Money})
		}
		lacking = append(lacking, moved...)
	}
	r.Movements = lacking
	return shared
}

func (d *disputes) keep(m payment.DisputeMove) {
	if d.moves == nil {
		d.moves = map[payment.DisputeName][]payment.DisputeMove{}
	}
	d.moves[m.Name()] = append(d.moves[m.Name()], m)
	d.added = append(d.added, m)
}

// writes returns the changes in the order of the names, because a transaction that makes the same disputes waits
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

// applyDisputes applies a report that names disputes. Its other statements about the payment, above all its movements,
// count as in any other report.
func (s *Changeset) applyDisputes(c *Change, r payment.Report) fsm.Verdict {
	opens := r.Event == fsm.EventDisputed
	if opens {
		r.Event = fsm.EventMoney // the event of the attempt: only its money counts
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

// applyDispute moves one dispute of the attempt, and opens a discrepancy where opens allows. A dispute of another
// attempt stays there, and a person decides.
func (s *Changeset) applyDispute(c *Change, t payment.DisputeReport, opens func(d, was payment.Dispute) bool) fsm.Verdict {
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
