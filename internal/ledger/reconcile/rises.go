package reconcile

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// rises returns entries, by their ids, of the money by which totals have risen since they were stored. A stored entry keeps its amount,
// which becomes the own amount of its total. Its rises are numbered from 2. They have no time, because the provider dates the total alone.
func (j *job) rises(ctx context.Context, entries []gateway.Entry) (map[string]gateway.Entry, error) {
	rises := map[string]gateway.Entry{}
	left := map[string]gateway.Entry{} // totals, less what is stored of them, by the id of the entry that has the next part
	for _, e := range entries {
		if e.Part = nil; e.Grows && left[e.ID].Money().Minor < e.Money().Minor {
			left[e.ID] = e
		}
	}
	for n := 2; len(left) > 0; n++ {
		kept, err := j.Store.EntriesKept(ctx, j.Account, slices.Collect(maps.Keys(left)))
		if err != nil {
			return nil, fmt.Errorf("look for %d totals: %w", len(left), err)
		}
		owning(entries, kept)
		next := map[string]gateway.Entry{}
		for id, e := range left {
			was, stored := kept[id]
			if n > 2 {
				rises[id] = rise(e, id, was, stored)
			}
			if rest := e.Money(); stored && was.Currency == rest.Currency && was.Minor < rest.Minor {
				e.Part = &payment.Money{Minor: rest.Minor - was.Minor, Currency: rest.Currency}
				next[fmt.Sprintf("%s/%d", e.ID, n)] = e
			}
		}
		left = next
	}
	return rises, nil
}

// rise is the entry of a rise of a total: its stored amount, or else all that is left of the total.
func rise(total gateway.Entry, id string, was payment.Money, stored bool) gateway.Entry {
	total.ID, total.Movement.At = id, time.Time{}
	if stored {
		total.Part = &was
	}
	return total
}

// owning gives totals their stored amounts as their own.
func owning(entries []gateway.Entry, kept map[string]payment.Money) {
	for i, e := range entries {
		if was, stored := kept[e.ID]; stored && e.Grows {
			entries[i].Part = &was
		}
	}
}
