package payment

import "context"

// fetchAll asks the provider about the events that say too little by
// themselves. What can't be fetched now has its next try already.
func (s *Service) fetchAll(ctx context.Context, events []StoredEvent) error {
	for _, e := range events {
		account := s.opts.Accounts[e.Account]
		if !e.Event.NeedsFetch || account.Provider == nil || e.Event.ProviderPaymentID == "" {
			continue
		}
		if err := s.fetch(ctx, account.Provider, e); err != nil {
			return err
		}
	}
	return nil
}

// fetch asks how the payment stands that an event names, outside a transaction,
// and applies the answer as the event's news. The same state fetched again is a
// repeat, so a notice that comes twice moves nothing twice.
func (s *Service) fetch(ctx context.Context, p Provider, e StoredEvent) error {
	call, cancel := context.WithTimeout(ctx, s.opts.ProviderTimeout)
	defer cancel()
	out, err := p.Lookup(call, e.Event.ProviderPaymentID)
	if err != nil {
		return nil // the provider is asked again at the event's next try
	}
	return s.store.InTx(ctx, func(ctx context.Context, tx Tx) error {
		now, err := tx.EventLock(ctx, e.ID)
		if err != nil || now.NextTryAt == nil {
			return err
		}
		b := s.newBatch(tx)
		now.Event.References = append(now.Event.References, out.References...)
		found, err := b.find(ctx, []*arrival{{Received: now.Received}})
		if err != nil {
			return err
		}
		if a := found.first(now); a != nil {
			b.applyFetched(b.change(*a), &now, out)
		}
		if err := tx.EventsSettle(ctx, []StoredEvent{now}); err != nil {
			return err
		}
		return b.save(ctx)
	})
}

// first is the attempt that an event names, nil if there is none or somebody
// else has it locked.
func (f found) first(e StoredEvent) *Attempt {
	for _, name := range e.Event.References {
		if a := f[Reference{e.Account, name}]; a != nil {
			return a
		}
	}
	return nil
}

func (b *batch) applyFetched(c *Change, e *StoredEvent, o Outcome) {
	e.OrderID, e.AttemptID, e.NextTryAt = c.Attempt.OrderID, c.Attempt.ID, nil
	news := newsOf(o, Cause{Kind: CauseWebhook, ID: e.Event.ID})
	news.Names = append(news.Names, e.Event.References...)
	e.Verdict = b.advance(c, news)
}
