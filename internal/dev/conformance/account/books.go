package account

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// booksBefore is how much earlier than the run the books are read: the provider's clock may differ.
const booksBefore = 5 * time.Minute

// books compares the provider's books with the payments of the run: each is there once, with its amounts.
func books(ctx context.Context, r *run) (string, error) {
	switch {
	case r.account.Books == nil && r.account.Statement != nil:
		return "", notOfferedError("the provider has no list of the account's money, only a file to download (`paylatch reconcile --file`)")
	case r.account.Books == nil:
		return "", notOfferedError("the adapter reads no books")
	}
	if _, err := r.needPaid(); err != nil {
		return "", err
	}
	var entries []gateway.Entry
	err := r.until(ctx, func() error {
		var err error
		if entries, err = r.entries(ctx); err != nil {
			return err
		}
		return r.booked(entries)
	})
	var differs failure
	if errors.As(err, &differs) && differs.fault == FaultMissingInBooks && r.account.BooksLag > 0 {
		return "", SkipError(fmt.Sprintf("the books may lack a new payment for %s, and do: %s", r.account.BooksLag, differs.text))
	}
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d entries, each payment once", len(entries)), nil
}

// entries reads the entries of the run's payments.
func (r *run) entries(ctx context.Context) (entries []gateway.Entry, err error) {
	in := gateway.Span{From: r.started.Add(-booksBefore), To: r.Now().Add(booksBefore)}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.Timeout)
	defer cancel()
	err = r.account.Books.Entries(ctx, in, func(e gateway.Entry) error {
		if slices.ContainsFunc(r.made, func(m *made) bool { return m.books(e) }) {
			entries = append(entries, e)
		}
		return nil
	})
	if errors.Is(err, gateway.ErrUnreadable) { // entries of others
		err = nil
	}
	return entries, err
}

// books reports whether an entry names the payment.
func (m *made) books(e gateway.Entry) bool {
	names := []string{m.charge.Attempt.String()}
	if m.out != nil {
		names = append(names, m.out.ProviderPaymentID, m.out.Container)
	}
	return slices.ContainsFunc(e.Names(), func(name string) bool { return name != "" && slices.Contains(names, name) })
}

// booked compares the entries with the payments.
func (r *run) booked(entries []gateway.Entry) error {
	for _, m := range r.made {
		if m.out == nil {
			continue
		}
		captured, refunded := map[string]int64{}, int64(0)
		seen := map[string]bool{}
		for _, e := range entries {
			if !m.books(e) || seen[e.ID] {
				continue
			}
			seen[e.ID] = true
			switch e.Movement.Kind { //nolint:exhaustive // the others do not belong to these payments
			case payment.MovementCapture:
				captured[e.Payment] += e.Movement.Money.Minor
			case payment.MovementRefund:
				refunded += e.Movement.Money.Minor
			}
		}
		if err := m.compare(captured, refunded); err != nil {
			return err
		}
	}
	return nil
}

// compare compares one payment with what the books have of it. Refunds may come to the books later.
func (m *made) compare(captured map[string]int64, refunded int64) error {
	switch {
	case len(captured) > 1:
		return fail(FaultSecondInBooks, toLook, "the books have %d payments for one charge, of %s", len(captured), m.id())
	case len(captured) == 0 && m.captured > 0:
		return notYetError{fail(FaultMissingInBooks, "the books must have each payment: reconciliation would report it otherwise", "the books do not have the payment %s", m.id())}
	}
	for _, minor := range captured {
		if unpaid := m.captured == 0 && (m.over || m.ended(nil) && !m.out.PageOpen); unpaid && minor > 0 {
			return fail(FaultDifferingInBooks, toLook, "the books have %s for the payment %s, which was not paid: %s",
				payment.Money{Minor: minor, Currency: m.charge.Money.Currency}, m.id(), state(*m.out))
		}
		if m.captured > 0 && minor != m.captured {
			return notYetError{fail(FaultDifferingInBooks, toLook, "the books have %s for the payment %s, of which %s were captured",
				payment.Money{Minor: minor, Currency: m.charge.Money.Currency}, m.id(), payment.Money{Minor: m.captured, Currency: m.charge.Money.Currency})}
		}
	}
	if refunded > m.refunded {
		return fail(FaultDifferingInBooks, toLook, "the books have refunds of %s for the payment %s, and %s were requested",
			payment.Money{Minor: refunded, Currency: m.charge.Money.Currency}, m.id(), payment.Money{Minor: m.refunded, Currency: m.charge.Money.Currency})
	}
	return nil
}
