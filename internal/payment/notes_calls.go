package payment

import (
	"context"
	"errors"
)

// withNotes returns accounts whose providers' calls are noted, with how long they
// took and what came of them.
func withNotes(accounts map[string]Account, notes *Notes) map[string]Account {
	if notes == nil {
		return accounts
	}
	noted := make(map[string]Account, len(accounts))
	for name, a := range accounts {
		if a.Provider != nil {
			a.Provider = notedProvider{a.Provider, name, notes}
		}
		noted[name] = a
	}
	return noted
}

// notedProvider notes each call of a provider.
type notedProvider struct {
	Provider

	account string
	notes   *Notes
}

// begin notes when a call begins; what it returns, how it ended.
func (p notedProvider) begin(kind NoteKind, what, key string, of Note) func(outcome string) {
	note := p.notes.noted(kind, what, p.notes.now())
	note.Key, note.Account = key, p.account
	note.OrderID, note.AttemptID, note.RefundID, note.Name = of.OrderID, of.AttemptID, of.RefundID, of.Name
	return func(outcome string) {
		note.Outcome = outcome
		note.Until = note.At.Add(p.notes.now().Sub(note.At))
		p.notes.add(note)
	}
}

// Charge implements Provider.
func (p notedProvider) Charge(ctx context.Context, c Charge) (Outcome, error) {
	end := p.begin(NoteCall, "charge", c.IdempotencyKey, Note{OrderID: c.Order, AttemptID: c.Attempt})
	out, err := p.Provider.Charge(ctx, c)
	end(outcomeWord(out, err))
	return out, err
}

// Lookup implements Provider.
func (p notedProvider) Lookup(ctx context.Context, id string) (Outcome, error) {
	end := p.begin(NotePoll, "lookup", "", Note{Name: id})
	out, err := p.Provider.Lookup(ctx, id)
	end(outcomeWord(out, err))
	return out, err
}

// Find implements Provider.
func (p notedProvider) Find(ctx context.Context, id AttemptID) (Outcome, error) {
	end := p.begin(NotePoll, "find", "", Note{AttemptID: id})
	out, err := p.Provider.Find(ctx, id)
	end(outcomeWord(out, err))
	return out, err
}

// Capture implements Provider.
func (p notedProvider) Capture(ctx context.Context, c Capture) (Outcome, error) {
	end := p.begin(NoteCall, "capture", c.IdempotencyKey, Note{AttemptID: c.Attempt})
	out, err := p.Provider.Capture(ctx, c)
	end(outcomeWord(out, err))
	return out, err
}

// Cancel implements Provider.
func (p notedProvider) Cancel(ctx context.Context, c Cancel) (Outcome, error) {
	end := p.begin(NoteCall, "cancel", c.IdempotencyKey, Note{AttemptID: c.Attempt})
	out, err := p.Provider.Cancel(ctx, c)
	end(outcomeWord(out, err))
	return out, err
}

// Refund implements Provider.
func (p notedProvider) Refund(ctx context.Context, r RefundCall) (RefundOutcome, error) {
	end := p.begin(NoteCall, "refund", r.IdempotencyKey, Note{AttemptID: r.Attempt, RefundID: r.Refund})
	out, err := p.Provider.Refund(ctx, r)
	end(outcomeWord(Outcome{News: out.News}, err))
	return out, err
}

// LookupRefund implements Provider.
func (p notedProvider) LookupRefund(ctx context.Context, r RefundRef) (RefundOutcome, error) {
	end := p.begin(NotePoll, "lookup_refund", "", Note{RefundID: r.Refund, Name: r.ProviderPaymentID})
	out, err := p.Provider.LookupRefund(ctx, r)
	end(outcomeWord(Outcome{News: out.News}, err))
	return out, err
}

// outcomeWord is what a call ended with: the provider's news, refused, or why
// there was no answer.
func outcomeWord(o Outcome, err error) string {
	switch {
	case errors.Is(err, ErrNotSent), errors.Is(err, ErrUnsupported), errors.Is(err, ErrLicenceEnded):
		return "not_sent"
	case errors.Is(err, ErrNoSuchPayment):
		return "not_found"
	case err != nil:
		return "unknown"
	case o.Refused:
		return "refused"
	}
	return string(o.News)
}
