package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/internal/backoffice/finder"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
	"github.com/paylatch/paylatch/internal/postgres/envelope"
	"github.com/paylatch/paylatch/internal/postgres/pipeline"
	"github.com/paylatch/paylatch/internal/postgres/pool"
)

// FinderStore finds the objects of a staff search, and maintains the copy that is searched by amount, card and
// words.
//
// A search locks nothing. While a portion is copied, its transaction holds the row with the progress of its source. A
// process that finds this row locked has nothing to do.

var (
	_ finder.Store      = (*FinderStore)(nil)
	_ finder.IndexStore = (*FinderStore)(nil)
)

// FinderStore finds. It is safe for concurrent use.
type FinderStore struct {
	pool *pool.Pool
	q    *dbsqlc.Queries
	keys *envelope.Keys
}

// NewFinderStore returns a store on the connections of p. The keys open providers' data.
func NewFinderStore(p *pool.Pool, keys *envelope.Keys) *FinderStore {
	return &FinderStore{pool: p, q: dbsqlc.New(), keys: keys}
}

// Find implements finder.Store.
func (s *FinderStore) Find(ctx context.Context, l finder.Lookup) (hits []finder.Hit, err error) {
	err = s.pool.OnceBehind(ctx, func(ctx context.Context, tx *pipeline.Tx) error {
		hits = nil
		l := l
		if err := s.spell(ctx, tx, &l); err != nil {
			return err
		}
		parts := []func(context.Context, dbsqlc.DBTX, finder.Lookup) ([]finder.Hit, error){s.exact, s.alike}
		switch {
		case len(l.Beside) > 0:
			parts = append(parts, s.amountsAndWords)
		case l.Amount != nil:
			parts = append(parts, s.amounts)
		case l.LastFour != "":
			parts = append(parts, s.cards)
		case l.Days != nil:
			parts = append(parts, s.days)
		}
		if len(l.Words) > 0 {
			parts = append(parts, s.words)
		}
		for _, find := range parts {
			some, err := find(ctx, tx, l)
			if err != nil {
				return fmt.Errorf("search: %w", err)
			}
			if hits = append(hits, some...); len(some) == l.Most && some[0].Rank == finder.Exact {
				return nil // these come before all others
			}
		}
		return nil
	})
	return hits, err
}

// spell adds to the texts of a lookup how ids of orders and users that are its name in another case are spelled.
func (s *FinderStore) spell(ctx context.Context, db dbsqlc.DBTX, l *finder.Lookup) error {
	rows, err := s.q.SearchSpellings(ctx, db, finder.Names(l.Name, l.Name))
	if err != nil {
		return fmt.Errorf("search the spellings of an id: %w", err)
	}
	texts := slices.Clip(l.Texts)
	seen := map[string]bool{}
	for _, t := range texts {
		seen[t] = true
	}
	for _, row := range rows {
		for _, id := range []string{row.OrderID, row.UserID} {
			if strings.ToLower(id) == l.Name && !seen[id] {
				seen[id] = true
				texts = append(texts, id)
			}
		}
	}
	l.Texts = texts
	return nil
}

// lastRune ends a range of all texts that begin alike.
const lastRune = "\U0010FFFF"

// exact finds objects with an id that equals one of the texts.
func (s *FinderStore) exact(ctx context.Context, db dbsqlc.DBTX, l finder.Lookup) ([]finder.Hit, error) {
	if l.Behind.Rank != finder.Exact {
		return nil, nil
	}
	p := lookup(l)
	p.Texts, p.Beginnings = l.Texts, []string{}
	if l.First != l.Last {
		p.FirstID, p.LastID = uuid.Max, uuid.Nil
	}
	return s.ids(ctx, db, p)
}

// alike finds objects with an id that begins with one of the texts.
func (s *FinderStore) alike(ctx context.Context, db dbsqlc.DBTX, l finder.Lookup) ([]finder.Hit, error) {
	p := lookup(l)
	p.Texts, p.Beginnings = []string{}, l.Texts
	if l.First == l.Last {
		p.FirstID, p.LastID = uuid.Max, uuid.Nil
	}
	return s.ids(ctx, db, p)
}

func lookup(l finder.Lookup) *dbsqlc.SearchIDsParams {
	return &dbsqlc.SearchIDsParams{
		Exact: l.Texts, Past: lastRune, ExactBefore: l.Behind.At, FirstID: l.First, LastID: l.Last,
		BeforeRank: int32(l.Behind.Rank), BeforeAt: l.Behind.At, BeforeID: l.Behind.ID, Most: int32(l.Most), //nolint:gosec // a page
	}
}

func (s *FinderStore) ids(ctx context.Context, db dbsqlc.DBTX, p *dbsqlc.SearchIDsParams) ([]finder.Hit, error) {
	rows, err := s.q.SearchIDs(ctx, db, p)
	hits := make([]finder.Hit, len(rows))
	for i, r := range rows {
		hits[i] = finder.Hit{
			Type: r.Type, ID: r.ID, OrderID: payment.OrderID(r.OrderID), AttemptID: (*payment.AttemptID)(r.AttemptID), Matched: r.Matched,
			Key: r.Key, Rank: finder.Rank(r.Rank), At: r.At,
		}
	}
	return hits, err
}

// Details implements finder.Store.
func (s *FinderStore) Details(ctx context.Context, hits []finder.Hit) ([]finder.Hit, error) {
	if len(hits) == 0 {
		return hits, nil
	}
	p := &dbsqlc.SearchDetailsParams{}
	for i, h := range hits {
		id, _ := uuid.Parse(h.ID) // an order's id may not be a UUID
		p.Nths, p.Types, p.Ids = append(p.Nths, int32(i)), append(p.Types, h.Type), append(p.Ids, id)
		p.OrderIds = append(p.OrderIds, string(h.OrderID))
		attempt := uuid.Nil
		if h.AttemptID != nil {
			attempt = uuid.UUID(*h.AttemptID)
		}
		p.AttemptIds = append(p.AttemptIds, attempt)
	}
	err := s.pool.OnceBehind(ctx, func(ctx context.Context, tx *pipeline.Tx) error {
		rows, err := s.q.SearchDetails(ctx, tx, p)
		if err != nil {
			return fmt.Errorf("read what was found: %w", err)
		}
		for _, r := range rows {
			h := &hits[r.Nth]
			h.Status, h.User = r.Status, payment.UserID(r.UserID)
			h.Money = moneyOf(r)
		}
		return nil
	})
	return hits, err
}

// moneyOf is the money of a hit, nil without money. An unreadable part of an event is left out: the event's page shows
// more.
func moneyOf(r *dbsqlc.SearchDetailsRow) *payment.Money {
	if r.Amount != 0 {
		return &payment.Money{Minor: r.Amount, Currency: payment.Currency(r.Currency)}
	}
	var named struct {
		Money *struct {
			Minor    int64  `json:"minor"`
			Currency string `json:"currency"`
		} `json:"money"`
	}
	if err := json.Unmarshal(r.News, &named); err != nil || named.Money == nil {
		return nil
	}
	return &payment.Money{Minor: named.Money.Minor, Currency: payment.Currency(named.Money.Currency)}
}
