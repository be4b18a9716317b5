package payment

import "context"

// readable sets those of some locked events apart that can't be read, each for a person,
// and returns the others: one that another version has written, or that somebody has
// changed, must not hold up whoever finds it on the way.
func (b *batch) readable(ctx context.Context, events []StoredEvent) ([]StoredEvent, error) {
	var fine, apart []StoredEvent
	for _, e := range events {
		if e.Unreadable == nil {
			fine = append(fine, e)
			continue
		}
		e.NextTryAt = nil
		apart = append(apart, e)
		b.discrepancies = append(b.discrepancies, Discrepancy{
			Kind: NeedsReview, Event: EventKey{e.Account, e.Event.ID}, About: "unreadable", OrderID: e.OrderID, At: b.now(),
			Text: "What is stored of this event can't be read by this version, and it is not tried again. Its bytes are kept as they came: " +
				"compare with the provider's dashboard, and replay it with a version that can read it.",
		})
	}
	if len(apart) == 0 {
		return fine, nil
	}
	return fine, b.tx.EventsSettle(ctx, apart)
}

// parkedOf locks the readable parked events of a changed attempt.
func (b *batch) parkedOf(ctx context.Context, c *Change) ([]StoredEvent, error) {
	parked, err := b.tx.EventsParkedOf(ctx, c.Attempt, c.Names)
	if err != nil {
		return nil, err
	}
	return b.readable(ctx, parked)
}
