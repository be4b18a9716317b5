package postgres

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/internal/backoffice/finder"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
)

// behind is the place where hits of rank Alike begin; all of them follow the hits of rank Exact.
func behind(l finder.Lookup) (at time.Time, id string) {
	if l.Behind.Rank == finder.Exact {
		return time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), lastRune
	}
	return l.Behind.At, l.Behind.ID
}

// span is the creation time of the searched objects.
func span(l finder.Lookup) (from, to time.Time) {
	if l.Days != nil {
		return l.Days.From(), l.Days.To()
	}
	return time.Time{}, time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)
}

func attemptHit(id uuid.UUID, order string, at time.Time, matched string) finder.Hit {
	return finder.Hit{
		Type: "attempt", ID: id.String(), OrderID: payment.OrderID(order), AttemptID: (*payment.AttemptID)(&id), Matched: matched, Rank: finder.Alike, At: at,
	}
}

const (
	// pastDays is how many days an amount without a day is looked for: the newest firstDays at first and, until there is a page of hits,
	// moreDays times as many.
	pastDays  = 366
	firstDays = 3
	moreDays  = 5
)

// searchDays returns the UTC days of a lookup, newest first.
func searchDays(l finder.Lookup) (texts []string) {
	at, _ := behind(l)
	first, last := l.Now.AddDate(0, 0, -pastDays), l.Now.AddDate(0, 0, 1)
	if l.Days != nil {
		first, last = l.Days.From(), l.Days.To()
	}
	if at.Before(last) {
		last = at
	}
	for d := last.UTC(); !d.Before(first.UTC().Truncate(24 * time.Hour)); d = d.AddDate(0, 0, -1) {
		texts = append(texts, d.Format(time.DateOnly))
	}
	return texts
}

func amountsParams(l finder.Lookup) *dbsqlc.SearchAmountsParams {
	from, to := span(l)
	at, id := behind(l)
	wanted := finder.AnyAmount()
	if l.Amount != nil {
		wanted = *l.Amount
	}
	p := &dbsqlc.SearchAmountsParams{
		Days: searchDays(l), WithoutDigits: finder.WithoutDigits(), WithThree: finder.WithThreeDigits(), Currencies: wanted.Currencies, LastFour: l.LastFour,
		BeforeAt: at, BeforeID: id, CreatedFrom: from, CreatedTo: to, Most: int32(l.Most), //nolint:gosec // a page
	}
	if p.Currencies == nil {
		p.Currencies = []string{}
	}
	for _, r := range wanted.Ranges {
		p.Lows, p.Highs, p.Digits = append(p.Lows, r.Low), append(p.Highs, r.High), append(p.Digits, int32(r.Digits)) //nolint:gosec // at most 3
	}
	return p
}

func (s *FinderStore) amounts(ctx context.Context, db dbsqlc.DBTX, l finder.Lookup) ([]finder.Hit, error) {
	p := amountsParams(l)
	var hits []finder.Hit
	for all, step := p.Days, firstDays; len(all) > 0 && len(hits) < l.Most; step *= moreDays {
		p.Days = all[:min(step, len(all))]
		all = all[len(p.Days):]
		rows, err := s.q.SearchAmounts(ctx, db, p)
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			hits = append(hits, attemptHit(r.AttemptID, r.OrderID, r.CreatedAt, "amount"))
		}
	}
	return hits, nil
}

// days finds the payments of some days.
func (s *FinderStore) days(ctx context.Context, db dbsqlc.DBTX, l finder.Lookup) ([]finder.Hit, error) {
	from, to := span(l)
	at, id := behind(l)
	rows, err := s.q.SearchDays(ctx, db, &dbsqlc.SearchDaysParams{CreatedFrom: from, CreatedTo: to, BeforeAt: at, BeforeID: id, Most: int32(l.Most)}) //nolint:gosec // a page
	hits := make([]finder.Hit, len(rows))
	for i, r := range rows {
		hits[i] = attemptHit(r.AttemptID, r.OrderID, r.CreatedAt, "day")
	}
	return hits, err
}

func (s *FinderStore) cards(ctx context.Context, db dbsqlc.DBTX, l finder.Lookup) ([]finder.Hit, error) {
	from, to := span(l)
	at, id := behind(l)
	rows, err := s.q.SearchCards(ctx, db, &dbsqlc.SearchCardsParams{
		LastFour: l.LastFour, Texts: l.Texts, BeforeAt: at, BeforeID: id, CreatedFrom: from, CreatedTo: to, Most: int32(l.Most), //nolint:gosec // a page
	})
	hits := make([]finder.Hit, len(rows))
	for i, r := range rows {
		hits[i] = attemptHit(r.AttemptID, r.OrderID, r.CreatedAt, "card_last_four")
	}
	return hits, err
}
