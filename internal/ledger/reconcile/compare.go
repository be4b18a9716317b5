package reconcile

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// standing is the result of comparing an entry with the recorded movements.
type standing int

const (
	// recorded entries agree: a named movement of the same amount, or a total that is not above the recorded total.
	recorded standing = iota
	// absent entries are of money that is not recorded.
	absent
	// other entries are of a named movement that is recorded with another amount or currency.
	other
)

// compare compares the gathered entries with the recorded movements.
func (j *job) compare(ctx context.Context) error {
	if len(j.batch) == 0 {
		return nil
	}
	entries := j.batch
	j.batch = nil
	rises, err := j.rises(ctx, entries)
	if err != nil {
		return err
	}
	entries = slices.AppendSeq(entries, maps.Values(rises))
	of, err := j.find(ctx, entries)
	if err != nil {
		return err
	}
	alone, err := j.alone(ctx, entries)
	if err != nil {
		return err
	}
	found, unknown, own := j.divided(entries, of, alone)
	if err := j.keep(ctx, without(slices.Concat(own, unknown), alone)); err != nil {
		return err
	}
	attempts, err := j.recorded(ctx, found, of)
	if err != nil {
		return err
	}
	for i, e := range found {
		if attempts[of[e.ID]].Capture != payment.CaptureSeveral {
			found[i].Movement = e.Movement.AsTotal()
		}
	}
	found = slices.DeleteFunc(found, func(e gateway.Entry) bool {
		a := attempts[of[e.ID]]
		return e.Implied && !a.ReturnedBefore(e.Movement)
	})
	if err := j.settle(ctx, without(found, alone), of, attempts); err != nil {
		return err
	}
	implied := func(e gateway.Entry) bool { // another entry has the movement
		_, rise := rises[e.ID]
		return rise || e.Implied
	}
	found, unknown = slices.DeleteFunc(found, implied), slices.DeleteFunc(unknown, implied)
	differ, rest := j.differing(withoutFailedRefunds(found, of, attempts, alone, &j.run.Count.Agreed), of, attempts, &j.run.Count.Agreed)
	if err := j.askAll(ctx, slices.SortedFunc(maps.Keys(differ), byID), func(payment.AttemptID, error) {}); err != nil {
		return err
	}
	if attempts, err = j.recorded(ctx, rest, of); err != nil {
		return err
	}
	differ, _ = j.differing(rest, of, attempts, &j.run.Count.LookedUp)
	for id, entries := range differ {
		j.leave(id, entries)
	}
	if err := j.unmatched(ctx, unknown); err != nil {
		return err
	}
	return j.moved(ctx)
}

// divided divides entries into those of recorded payments, those of other payments, and the account's own. It leaves out, and counts, a
// refund that failed and was never read.
func (j *job) divided(entries []gateway.Entry, of map[string]payment.AttemptID, alone map[string]bool) (found, unknown, own []gateway.Entry) {
	for _, e := range entries {
		switch _, known := of[e.ID]; {
		case e.Own != "":
			own = append(own, e)
		case known:
			found = append(found, e)
		case alone[e.ID] && e.Movement.Kind == payment.MovementRefundReversal:
			j.run.Count.Foreign++ // a refund that failed
		default:
			unknown = append(unknown, e)
		}
	}
	return found, unknown, own
}

func byID(a, b payment.AttemptID) int { return cmp.Compare(a.String(), b.String()) }

// leave keeps entries for the end of the span.
func (j *job) leave(id payment.AttemptID, entries []gateway.Entry) {
	if j.left[id] == nil {
		j.left[id] = map[string]gateway.Entry{}
	}
	for _, e := range entries {
		j.left[id][e.ID] = e
	}
}

// find returns the attempts of entries, by the entries' ids. The attempt with the payment's id has priority over
// attempts with other names.
func (j *job) find(ctx context.Context, entries []gateway.Entry) (map[string]payment.AttemptID, error) {
	var names []payment.Reference
	for _, e := range entries {
		for _, name := range e.Names() {
			names = append(names, payment.Reference{Account: j.Account, Name: name})
		}
	}
	owners, err := j.Store.ReferencesKnown(ctx, names)
	if err != nil {
		return nil, fmt.Errorf("find the attempts of %d entries: %w", len(entries), err)
	}
	of := make(map[string]payment.AttemptID, len(entries))
	for _, e := range entries {
		for _, name := range slices.Backward(e.Names()) { // the last is the payment's
			if id, known := owners[payment.Reference{Account: j.Account, Name: name}]; known {
				of[e.ID] = id
				break
			}
		}
	}
	return of, nil
}

// alone returns the ids of the entries that take back an entry which is neither stored nor among them. Neither of the two was ever in
// the balance here, so they are not kept.
func (j *job) alone(ctx context.Context, entries []gateway.Entry) (map[string]bool, error) {
	var undone []string
	for _, e := range entries {
		if e.Undoes != "" {
			undone = append(undone, e.Undoes)
		}
	}
	if len(undone) == 0 {
		return nil, nil //nolint:nilnil // no entry takes another one back
	}
	stored, err := j.Store.EntriesKept(ctx, j.Account, undone)
	if err != nil {
		return nil, fmt.Errorf("look for %d entries that are taken back: %w", len(undone), err)
	}
	kept, alone := map[string]bool{}, map[string]bool{}
	for id := range stored {
		kept[id] = true
	}
	for _, e := range entries {
		kept[e.ID] = kept[e.ID] || e.Undoes == ""
	}
	for _, e := range entries {
		alone[e.ID] = e.Undoes != "" && !kept[e.Undoes]
	}
	return alone, nil
}

// without returns the entries that are not alone.
func without(entries []gateway.Entry, alone map[string]bool) []gateway.Entry {
	return slices.DeleteFunc(slices.Clone(entries), func(e gateway.Entry) bool { return alone[e.ID] })
}

// withoutFailedRefunds returns the entries without reversals of refunds that are neither stored nor recorded. In the records such a refund
// has only failed, so the entry agrees. The reversal of a capture is compared in any case: its payment may wait for its outcome.
func withoutFailedRefunds(
	entries []gateway.Entry, of map[string]payment.AttemptID, attempts map[payment.AttemptID]payment.Attempt, alone map[string]bool, agreed *int,
) []gateway.Entry {
	return slices.DeleteFunc(slices.Clone(entries), func(e gateway.Entry) bool {
		a := attempts[of[e.ID]]
		failed := alone[e.ID] && undoesUnknown(&a, e)
		if failed {
			*agreed++
		}
		return failed
	})
}

// settle keeps the entries of recorded payments.
func (j *job) settle(ctx context.Context, entries []gateway.Entry, of map[string]payment.AttemptID, attempts map[payment.AttemptID]payment.Attempt) error {
	if len(entries) == 0 {
		return nil
	}
	all := map[string]payment.Settlement{}
	for _, e := range entries {
		a := attempts[of[e.ID]]
		s := payment.Settlement{
			Account: j.Account, EntryID: e.ID, OrderID: a.OrderID, AttemptID: a.ID, Kind: e.Movement.Kind, MovementID: cmp.Or(e.Movement.ID, e.Movement.Dispute),
			Payment: e.Payment, Money: e.Money(), Fee: e.Fee, Net: e.Net, PayoutID: e.Payout, At: e.Movement.At, RecordedAt: j.Now(),
		}
		if was, twice := all[e.ID]; twice {
			was.PayoutID, was.Fee, was.Net = cmp.Or(was.PayoutID, s.PayoutID), cmp.Or(was.Fee, s.Fee), cmp.Or(was.Net, s.Net)
			s = was
		}
		all[e.ID] = s
	}
	if err := j.Store.SettlementsSave(ctx, slices.Collect(maps.Values(all)), j.named(entries)); err != nil {
		return fmt.Errorf("keep %d settlements: %w", len(all), err)
	}
	return nil
}

// keep keeps the entries that belong to no recorded payment, so that the month's journal has all of the books.
func (j *job) keep(ctx context.Context, entries []gateway.Entry) error {
	if len(entries) == 0 {
		return nil
	}
	all := map[string]payment.AccountEntry{}
	for _, e := range entries {
		one := payment.AccountEntry{
			Account: j.Account, EntryID: e.ID, Kind: cmp.Or(string(e.Own), string(e.Movement.Kind)), Payment: e.Payment, Money: e.Money(),
			Fee: e.Fee, Net: e.Net, PayoutID: e.Payout, At: e.Movement.At, RecordedAt: j.Now(),
		}
		if was, twice := all[e.ID]; twice {
			was.PayoutID, was.Fee, was.Net = cmp.Or(was.PayoutID, one.PayoutID), cmp.Or(was.Fee, one.Fee), cmp.Or(was.Net, one.Net)
			one = was
		}
		all[e.ID] = one
	}
	if err := j.Store.AccountEntriesSave(ctx, slices.Collect(maps.Values(all)), j.named(entries)); err != nil {
		return fmt.Errorf("keep %d entries without a payment: %w", len(all), err)
	}
	return nil
}

// recorded reads the attempts of entries.
func (j *job) recorded(ctx context.Context, entries []gateway.Entry, of map[string]payment.AttemptID) (map[payment.AttemptID]payment.Attempt, error) {
	seen := map[payment.AttemptID]bool{}
	for _, e := range entries {
		seen[of[e.ID]] = true
	}
	if len(seen) == 0 {
		return nil, nil //nolint:nilnil // no attempts to read
	}
	attempts, err := j.Store.Recorded(ctx, slices.Collect(maps.Keys(seen)))
	if err != nil {
		return nil, fmt.Errorf("read %d attempts: %w", len(seen), err)
	}
	return attempts, nil
}

// differing returns the entries that differ from the records, by attempt and in total, and counts the others.
func (j *job) differing(
	entries []gateway.Entry, of map[string]payment.AttemptID, attempts map[payment.AttemptID]payment.Attempt, agreed *int,
) (differ map[payment.AttemptID][]gateway.Entry, rest []gateway.Entry) {
	differ = map[payment.AttemptID][]gateway.Entry{}
	for _, e := range entries {
		a := attempts[of[e.ID]]
		if j.standing(&a, e) == recorded {
			*agreed++
			continue
		}
		differ[a.ID], rest = append(differ[a.ID], e), append(rest, e)
	}
	return differ, rest
}

func (j *job) standing(a *payment.Attempt, e gateway.Entry) standing {
	m := e.Movement
	if m.Dispute != "" {
		return disputed(a, m)
	}
	if m.ID != "" {
		switch known, ok := a.Movement(m.Kind, m.ID); {
		case !ok:
			return absent
		case m.Money.Currency != "" && known.Money != m.Money:
			return other
		}
		return recorded
	}
	of, sum := a.KeyOf(e.Payment), int64(0)
	for _, r := range a.Movements {
		if r.Kind == m.Kind && r.Payment == of && (r.Money.Currency == m.Money.Currency || m.Money.Currency == "") {
			sum += r.Money.Minor
		}
	}
	if sum < m.Money.Minor || sum == 0 {
		return absent
	}
	return recorded
}

// disputed compares an entry about a dispute with the recorded movements.
func disputed(a *payment.Attempt, m payment.MovementReport) standing {
	known, ok := a.Movement(m.Kind, cmp.Or(m.ID, m.Dispute))
	switch {
	case ok && m.Money.Currency != "" && (known.Money.Currency != m.Money.Currency || m.ID != "" && known.Money != m.Money):
		return other
	case a.LacksRound(m):
		return absent
	}
	return recorded
}
