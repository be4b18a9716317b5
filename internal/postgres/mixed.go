package postgres

import (
	"context"
	"slices"
	"strings"

	"github.com/paylatch/paylatch/internal/backoffice/finder"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
)

// First the orders of the newestPayments newest payments with an amount are searched for words. The next round takes as
// many payments as should fill a page of hits by the rate so far, and at least morePayments times as many as before. If
// fewer than foundOften hits were found, few orders have the words.
const (
	newestPayments = 500
	morePayments   = 2
	mostPayments   = 20_000
	foundOften     = 5
)

// amountsAndWords finds payments with an amount, or of some days, for orders that have words, in the way that reads the fewest rows. Frequent
// words are found among the newest payments with the amount. For rare words all their orders are read. A text with a
// digit or an @ counts as rare.
func (s *FinderStore) amountsAndWords(ctx context.Context, db dbsqlc.DBTX, l finder.Lookup) ([]finder.Hit, error) {
	m := &mixed{FinderStore: s, db: db, l: l, variants: finder.Variants(l.Beside), from: l}
	rare := slices.ContainsFunc(l.Beside, func(text string) bool { return strings.ContainsAny(text, "@0123456789") })
	m.from.Most = newestPayments
	if !rare {
		if done, err := m.next(ctx); err != nil || done {
			return m.hits, err
		}
	}
	if len(m.hits) < foundOften {
		if hits, whole, err := m.few(ctx); err != nil || whole {
			return hits, err
		}
	}
	for {
		if done, err := m.next(ctx); err != nil || done {
			return m.hits, err
		}
	}
}

// mixed is a search for payments by amount and words, and the hits so far.
type mixed struct {
	*FinderStore
	db       dbsqlc.DBTX
	l        finder.Lookup
	variants []string
	hits     []finder.Hit
	// seen is how many payments were looked at.
	seen int
	// from is the lookup of the payments that are looked at next.
	from finder.Lookup
}

// next looks at the next payments with the amount, or of the days, newest first. It is done if there is a page of hits, or no further payment.
func (m *mixed) next(ctx context.Context) (done bool, err error) {
	read := m.amounts
	if m.l.Amount == nil {
		read = m.days
	}
	paid, err := read(ctx, m.db, m.from)
	if err != nil || len(paid) == 0 {
		return true, err
	}
	more := len(paid) >= m.from.Most
	paid = paid[:min(len(paid), m.from.Most)]
	orders := make([]string, len(paid))
	for i, h := range paid {
		orders[i] = string(h.OrderID)
	}
	rows, err := m.q.SearchVariantsAmong(ctx, m.db, &dbsqlc.SearchVariantsAmongParams{OrderIds: orders, Variants: m.variants})
	if err != nil {
		return true, err
	}
	have := make(map[payment.OrderID]bool, len(rows))
	for _, id := range rows {
		have[payment.OrderID(id)] = true
	}
	for _, h := range paid {
		if have[h.OrderID] && len(m.hits) < m.l.Most {
			h.Matched = m.matched()
			m.hits = append(m.hits, h)
		}
	}
	last := paid[len(paid)-1]
	done = len(m.hits) == m.l.Most || !more
	m.from.Behind = finder.Place{Rank: finder.Alike, At: last.At, ID: last.ID}
	m.seen += len(paid)
	m.from.Most = min(max(m.from.Most*morePayments, m.seen*5/4*(m.l.Most-len(m.hits))/max(1, len(m.hits))), mostPayments)
	return done, nil
}

// matched is the kind of match that hits have.
func (m *mixed) matched() string {
	if m.l.Amount == nil {
		return "day_and_words"
	}
	return "amount_and_words"
}

// few is whole if no more than a few orders have the words.
func (m *mixed) few(ctx context.Context) (hits []finder.Hit, whole bool, err error) {
	orders, err := m.q.SearchVariantsFew(ctx, m.db, &dbsqlc.SearchVariantsFewParams{Variants: m.variants, Most: fewOrders + 1})
	if err != nil || len(orders) > fewOrders {
		return nil, false, err
	}
	a := amountsParams(m.l)
	rows, err := m.q.SearchAmountsAmong(ctx, m.db, &dbsqlc.SearchAmountsAmongParams{
		OrderIds: orders, Lows: a.Lows, Highs: a.Highs, Digits: a.Digits, WithoutDigits: a.WithoutDigits, WithThree: a.WithThree, Currencies: a.Currencies,
		LastFour: a.LastFour, BeforeAt: a.BeforeAt, BeforeID: a.BeforeID, CreatedFrom: a.CreatedFrom, CreatedTo: a.CreatedTo, Most: a.Most,
	})
	for _, r := range rows {
		hits = append(hits, attemptHit(r.AttemptID, r.OrderID, r.CreatedAt, m.matched()))
	}
	return hits, true, err
}
