package reconcile

import (
	"context"
	"fmt"
	"time"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// payoutAge is how long before the span a payout may have begun whose status is read again. A bank takes days to accept or return one.
const payoutAge = 31 * 24 * time.Hour

// payout returns a payout as the report has it.
func (j *job) payout(r payment.PayoutReport) payment.Payout {
	r.Account = j.Account
	return payment.Payout{ID: payment.PayoutID(j.Cell.NewID()), PayoutReport: r, CreatedAt: j.Now()}
}

// named returns the payouts that entries name, each once.
func (j *job) named(entries []gateway.Entry) (all []payment.Payout) {
	seen := map[string]bool{"": true}
	for _, e := range entries {
		if !seen[e.Payout] {
			seen[e.Payout] = true
			all = append(all, j.payout(payment.PayoutReport{ProviderID: e.Payout}))
		}
	}
	return all
}

// payouts keeps the payouts that the provider lists, or that the file has. It runs after the entries, so that a payout that has ended is
// published with its settlements counted. The amount of a file's payout is kept if all its entries are in the span.
func (j *job) payouts(ctx context.Context) error {
	list, tells := j.Accounts.Get(j.Account).Books.(gateway.Payouts)
	if !tells && j.File == nil {
		return nil
	}
	var told []payment.Payout
	save := func() error {
		if len(told) == 0 {
			return nil
		}
		if err := j.Store.PayoutsSave(ctx, told); err != nil {
			return fmt.Errorf("keep %d payouts: %w", len(told), err)
		}
		told = nil
		return nil
	}
	take := func(r payment.PayoutReport) error {
		r.ProviderID = payment.StorableName(r.ProviderID)
		if told = append(told, j.payout(r)); len(told) < batchSize {
			return nil
		}
		return save()
	}
	if j.File != nil {
		for _, r := range j.paid {
			if j.partial[payment.StorableName(r.ProviderID)] {
				continue // its amount is not that of the entries in the span
			}
			if err := take(r); err != nil {
				return err
			}
		}
		return save()
	}
	err := list.Payouts(ctx, gateway.Span{From: j.Span.From.Add(-payoutAge), To: j.wide(j.Request).To}, take)
	if err != nil && !passedOn(err) {
		return fmt.Errorf("read the payouts: %w", err)
	}
	if j.unread == nil {
		j.unread = err
	}
	return save()
}
