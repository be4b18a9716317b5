package payment

// movements sums the movements of the attempt again.
func (e *examination) movements() {
	a := &e.Attempt
	sum := Attempt{Money: a.Money}
	beyond := map[MovementKind]int64{}
	for i, m := range a.Movements {
		if m.Number != i+1 {
			e.differs("movements_without_gaps", "movement %d follows %d", m.Number, i)
		}
		count(&sum, m)
		if m.Source == MovementTotal {
			beyond[m.Kind] += m.Money.Minor
		}
		if m.Cause.Kind == CauseWebhook && !e.stored(m.Cause.ID) {
			e.differs("event_is_stored", "movement %d was told by event %s, which is not stored for this attempt", m.Number, m.Cause.ID)
		}
	}
	if len(a.Movements) != a.LastMovement {
		e.differs("movements_are_there", "there are %d movements, the attempt says %d", len(a.Movements), a.LastMovement)
	}
	if sum.Reversed != a.Reversed || sum.Disputed != a.Disputed {
		e.differs("amounts_are_sums", "the movements make %d reversed and %d disputed, the attempt says %d and %d", sum.Reversed, sum.Disputed, a.Reversed, a.Disputed)
	}
	for kind, total := range beyond {
		if total < 0 {
			e.differs("totals_not_negative", "the totals of %s are %d beyond the named ones", kind, total)
		}
	}
}

func (e *examination) stored(event string) bool {
	for _, s := range e.Events {
		if s.Event.ID == event {
			return true
		}
	}
	return false
}

// since are the movements that a version of the log has and the one before it had not.
func (e *examination) since(before, last int) []Movement {
	all := e.Attempt.Movements
	if before > last || last > len(all) {
		return []Movement{}
	}
	return append([]Movement{}, all[before:last]...)
}
