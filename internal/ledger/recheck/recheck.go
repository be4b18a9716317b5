package recheck

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"time"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/current"
)

const (
	day = 24 * time.Hour
	// Budget is how many attempts of an account are looked up in a turn at most.
	Budget = 60
	// Turn is how long a process has an account's cursors. It begins no lookup in the last part of it.
	Turn  = time.Minute
	ahead = Turn * 3 / 4

	batchMost = 20
	// rounds is how often one attempt is looked up in a turn. inARow is how many consecutive lookups must fail to end
	// the turn. missesMost is the number of such turns after which one attempt is skipped.
	rounds     = 3
	inARow     = 3
	missesMost = 10
)

// ages are the ages at which an attempt is looked up: after the first day, week and month, and at the end of the time
// for disputes.
var ages = []time.Duration{day, 7 * day, 30 * day, 120 * day} //nolint:gochecknoglobals // a list

// The results of a lookup.
const (
	Changed   = "changed"
	Unchanged = "unchanged"
	NotFound  = "not_found"
	HeldBack  = "held_back"
	// Failed lookups are not repeated at this age.
	Failed = "failed"
)

// Options configure a Rechecker. All are required.
type Options struct {
	Store    Store
	Runner   Runner
	Accounts *current.Map[gateway.Account]
	// Counted is called with the result of each lookup.
	Counted func(account, result string)
	Now     func() time.Time
}

// Rechecker looks final attempts up. It is safe for concurrent use, and in many processes.
type Rechecker struct{ Options }

// New returns a rechecker.
func New(o Options) *Rechecker { return &Rechecker{o} }

// Lookups lists the accounts that have lookups.
func (r *Rechecker) Lookups() (names []string) {
	for name, a := range r.Accounts.All() {
		if a.Provider != nil && !a.Provider.Capabilities().Blind() {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Turn looks up attempts of an account within its budget, if no other process has the turn. It ends when no attempt is
// left, when the turn or ctx ends, or when the provider shows no payment.
func (r *Rechecker) Turn(ctx context.Context, account string) error {
	began := r.Now()
	cursors, now, err := r.Store.CursorsTake(ctx, account, starts(account, began), Turn)
	if err != nil || len(cursors) == 0 {
		return err
	}
	due, err := r.Runner.Due(ctx, account, Budget)
	if err != nil {
		return err
	}
	slices.SortFunc(cursors, func(a, b Cursor) int { return cmp.Compare(b.behind(), a.behind()) })
	t := &turn{Rechecker: r, budget: Budget - len(due), now: now, until: began.Add(ahead)}
	for moved := true; moved && !t.over(ctx); {
		moved = false
		for i := range cursors {
			more, err := t.batch(ctx, &cursors[i])
			if errors.Is(err, errEnd) || errors.Is(err, payment.ErrBusy) {
				return nil
			} else if err != nil {
				return err
			}
			moved = moved || more
		}
	}
	return nil
}

// starts returns the first cursors of an account: one day before each age, so that an old database is not looked up from its
// beginning.
func starts(account string, now time.Time) (all []Cursor) {
	for _, age := range ages {
		all = append(all, Cursor{Account: account, Age: age, After: first(now.Add(-age - day))})
	}
	return all
}

// behind is how far a cursor is behind, from an arbitrary time on.
func (c Cursor) behind() int64 {
	return -int64(binary.BigEndian.Uint64(c.After[:])>>16) - c.Age.Milliseconds()
}

// first is before all ids of attempts that began at a time or later, and after all others.
func first(at time.Time) (id payment.AttemptID) {
	binary.BigEndian.PutUint64(id[:], uint64(at.UnixMilli())<<16)
	return id
}
