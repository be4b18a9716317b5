package activity

import (
	"context"
	"errors"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// Providers returns accounts with providers that record each call, its duration and
// its outcome. Without notes they stay as they are.
func (n *Notes) Providers(accounts map[string]gateway.Account) map[string]gateway.Account {
	if n == nil {
		return accounts
	}
	noted := make(map[string]gateway.Account, len(accounts))
	for name, a := range accounts {
		if a.Provider != nil {
			a.Provider = notedProvider{a.Provider, name, n}
		}
		noted[name] = a
	}
	return noted
}

// notedProvider is a recording decorator of a provider.
type notedProvider struct {
	gateway.Provider

	account string
	notes   *Notes
}

// begin starts the note of a call; the function that it returns ends it.
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
func (p notedProvider) Charge(ctx context.Context, c gateway.Charge) (gateway.Outcome, error) {
	end := p.begin(NoteCall, "charge", c.IdempotencyKey, Note{OrderID: c.Order, AttemptID: c.Attempt})
	out, err := p.Provider.Charge(ctx, c)
	end(outcomeWord(out, err))
	return out, err
}

// Lookup implements Provider.
func (p notedProvider) Lookup(ctx context.Context, id string) (gateway.Outcome, error) {
	end := p.begin(NotePoll, "lookup", "", Note{Name: id})
	out, err := p.Provider.Lookup(ctx, id)
	end(outcomeWord(out, err))
	return out, err
}

// Find implements Provider.
func (p notedProvider) Find(ctx context.Context, id payment.AttemptID) (gateway.Outcome, error) {
	end := p.begin(NotePoll, "find", "", Note{AttemptID: id})
	out, err := p.Provider.Find(ctx, id)
	end(outcomeWord(out, err))
	return out, err
}

// Capture implements Provider.
func (p notedProvider) Capture(ctx context.Context, c gateway.Capture) (gateway.Outcome, error) {
	end := p.begin(NoteCall, "capture", c.IdempotencyKey, Note{AttemptID: c.Attempt})
	out, err := p.Provider.Capture(ctx, c)
	end(outcomeWord(out, err))
	return out, err
}

// Cancel implements Provider.
func (p notedProvider) Cancel(ctx context.Context, c gateway.Cancel) (gateway.Outcome, error) {
	end := p.begin(NoteCall, "cancel", c.IdempotencyKey, Note{AttemptID: c.Attempt})
	out, err := p.Provider.Cancel(ctx, c)
	end(outcomeWord(out, err))
	return out, err
}

// Refund implements Provider.
func (p notedProvider) Refund(ctx context.Context, r gateway.RefundCall) (gateway.RefundOutcome, error) {
	end := p.begin(NoteCall, "refund", r.IdempotencyKey, Note{AttemptID: r.Attempt, RefundID: r.Refund})
	out, err := p.Provider.Refund(ctx, r)
	end(outcomeWord(gateway.Outcome{Event: out.Event}, err))
	return out, err
}

// LookupRefund implements Provider.
func (p notedProvider) LookupRefund(ctx context.Context, r gateway.RefundRef) (gateway.RefundOutcome, error) {
	end := p.begin(NotePoll, "lookup_refund", "", Note{RefundID: r.Refund, Name: r.ProviderPaymentID})
	out, err := p.Provider.LookupRefund(ctx, r)
	end(outcomeWord(gateway.Outcome{Event: out.Event}, err))
	return out, err
}

// outcomeWord returns the outcome of a call: the provider's report, refused, or why there was no
// response.
func outcomeWord(o gateway.Outcome, err error) string {
	switch {
	case errors.Is(err, gateway.ErrNotSent), errors.Is(err, gateway.ErrUnsupported), errors.Is(err, gateway.ErrPermitEnded):
		return "not_sent"
	case errors.Is(err, gateway.ErrNoSuchPayment):
		return "not_found"
	case err != nil:
		return "unknown"
	case o.Refused:
		return "refused"
	}
	return string(o.Event)
}
