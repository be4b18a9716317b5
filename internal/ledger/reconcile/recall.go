package reconcile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/ledger/imports"
	"github.com/paylatch/paylatch/internal/payment"
)

// reserved is the user of an order that is in the provider's books only. No token has it.
const reserved payment.UserID = "paylatch"

// recall makes lost attempts of captured payments again. They are ours by their mark, and began in the period that the
// restored database of a held account lacks. Otherwise their orders could be paid again. A lost order is made for the
// reserved user.
//
// All made attempts are reviewed, since the shop may not have received their events. A payment that can't be made is
// reviewed as well. Unless another attempt pays its order, the run then counts as incomplete: the account stays held.
func (j *job) recall(ctx context.Context) error {
	if j.Recall == nil || j.hold == nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(j.unknown)) {
		u := j.unknown[name]
		if past, _ := j.past(u); !j.forgotten(past) || slices.ContainsFunc(u.entries, j.elsewhere) {
			continue
		}
		err := j.remake(ctx, u)
		refused := (*imports.RefusalError)(nil)
		switch {
		case err == nil:
			u.recalled = true
			j.run.Count.Recalled++
			j.run.Count.Review -= len(u.entries)
			j.batch = append(j.batch, u.entries...)
		case errors.Is(err, payment.ErrUnavailable), ctx.Err() != nil:
			return fmt.Errorf("make the forgotten payment %s again: %w", name, err)
		case errors.Is(err, errLater):
			j.later = fmt.Errorf("%w: %s", err, name)
		default: // a payment that the storage rejects must not keep others from being compared
			u.why = "the database refuses it"
			if errors.As(err, &refused) {
				u.why = refused.Text
			}
			if refused == nil || refused.Later {
				j.later = fmt.Errorf("%w: %w", errLater, err)
			}
		}
	}
	return j.compare(ctx)
}

// remake makes a forgotten payment again. If its order was missing in the database, the customer may have created it anew since: then it
// is that order's payment.
func (j *job) remake(ctx context.Context, u *unknown) error {
	for {
		past, whole := j.past(u)
		if !whole {
			return fmt.Errorf("%w: the books have no order for it, or another amount than its order", errLater)
		}
		err := j.Recall(ctx, past)
		if _, refused := errors.AsType[*imports.RefusalError](err); !refused || u.order != nil {
			return err
		}
		orders, readErr := j.Store.Orders(ctx, []payment.OrderID{past.Order})
		if readErr != nil {
			return fmt.Errorf("read order %s: %w", past.Order, readErr)
		}
		order, created := orders[past.Order]
		if !created {
			return err
		}
		u.order = &order
	}
}

var errLater = errors.New("a forgotten payment can't be recorded again yet")

// forgotten reports whether a payment has a mark of ours, was captured, and was begun in the time that the account is held for. The
// id is of a process's clock, and the hold of the database's, so both ends have the margin.
func (j *job) forgotten(p imports.Past) bool {
	if p.Attempt == (payment.AttemptID{}) || p.AmountCaptured == 0 {
		return false
	}
	made := madeAt(p.Attempt)
	return !made.Before(j.hold.Since.Add(-margin)) && !made.After(j.hold.Until.Add(margin))
}

// elsewhere reports whether an entry is of a payment in the account's other mode, or to another payee. Such a payment has paid nothing,
// with a restored database or without.
func (j *job) elsewhere(e gateway.Entry) bool {
	account := j.Accounts.Get(j.Account)
	return e.Live != nil && account.Live != nil && *e.Live != *account.Live ||
		e.Payee != "" && len(account.Payees) > 0 && !slices.Contains(account.Payees, e.Payee)
}

// past is a lost payment in the form of an import. It returns false if the order is missing or does not fit.
func (j *job) past(u *unknown) (p imports.Past, whole bool) {
	p, whole = imports.Past{Account: j.Account, Succeeded: true, User: reserved}, true
	var names []string
	for _, e := range u.entries {
		names = append(names, e.Names()...)
		p.Order, p.Payment = cmp.Or(p.Order, e.Order), cmp.Or(p.Payment, e.Payment)
		if m := e.Movement; m.Kind == payment.MovementCapture {
			whole = whole && (p.AmountCaptured == 0 || p.Money.Currency == m.Money.Currency)
			p.AmountCaptured += m.Money.Minor
			p.Money, p.FinalizedAt = m.Money, slices.MaxFunc([]time.Time{p.FinalizedAt, m.At}, time.Time.Compare)
		}
	}
	for _, name := range names {
		if id, ours := payment.OwnAttemptID(name); ours {
			p.Attempt, p.Request = id, payment.RequestID("books:"+name)
		}
	}
	if p.Attempt == (payment.AttemptID{}) || p.Order == "" || p.Payment == "" || p.AmountCaptured == 0 || !whole {
		return p, false
	}
	p.CreatedAt = madeAt(p.Attempt)
	p.FinalizedAt = slices.MaxFunc([]time.Time{p.FinalizedAt, p.CreatedAt}, time.Time.Compare)
	slices.Sort(names)
	p.References = slices.DeleteFunc(slices.Compact(names), func(name string) bool { return name == p.Payment || name == p.Attempt.String() })
	return p, u.fits(&p)
}

// fits gives a payment the user and the amount of its order, if there is one, and reports whether exactly that was captured. A part
// may be the work of whoever wrote the order's id into a payment of their own: it must not pay the order.
func (u *unknown) fits(p *imports.Past) bool {
	p.Money.Minor = p.AmountCaptured
	if u.order == nil {
		return true
	}
	fits := u.order.Money.Currency == p.Money.Currency && u.order.Money.Minor == p.AmountCaptured
	p.User, p.Money = u.order.UserID, u.order.Money
	return fits
}

// madeAt is when an id of ours was made (RFC 9562, version 7).
func madeAt(id payment.AttemptID) time.Time {
	seconds, nanos := uuid.UUID(id).Time().UnixTime()
	return time.Unix(seconds, nanos).UTC()
}

// unknown is a payment of the books that is not recorded here.
type unknown struct {
	entries []gateway.Entry
	// order is the payment's order, nil if that is unknown, too.
	order *payment.Order
	// recalled is set if the payment was made again; otherwise why is the reason.
	recalled bool
	why      string
}
