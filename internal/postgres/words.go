package postgres

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/paylatch/paylatch/internal/backoffice/finder"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
)

// fewOrders is how many orders with some words are read whole to be put in their order.
const fewOrders = 5000

// words finds orders by words, in the way that reads the fewest rows. Frequent words are found among the newest orders.
// For rare words all orders are read. A word with a digit counts as rare.
func (s *FinderStore) words(ctx context.Context, db dbsqlc.DBTX, l finder.Lookup) ([]finder.Hit, error) {
	ways := []func(context.Context, dbsqlc.DBTX, finder.Lookup) ([]finder.Hit, bool, error){s.newestWords, s.fewWords, s.allWords}
	if slices.ContainsFunc(l.Words, func(w string) bool { return strings.ContainsAny(w, "0123456789") }) {
		ways = []func(context.Context, dbsqlc.DBTX, finder.Lookup) ([]finder.Hit, bool, error){s.fewWords, s.newestWords, s.allWords}
	}
	for _, way := range ways {
		if hits, whole, err := way(ctx, db, l); err != nil || whole {
			return hits, err
		}
	}
	return nil, nil
}

// Words are first searched among the newest orders. If their hits show that newestMore orders should fill a page,
// newestMore orders are searched.
const (
	newest     = 10_000
	newestMore = 50_000
)

// newestWords is whole if the newest orders have a page of hits.
func (s *FinderStore) newestWords(ctx context.Context, db dbsqlc.DBTX, l finder.Lookup) (hits []finder.Hit, whole bool, err error) {
	rows, err := s.newestOf(ctx, db, l, newest)
	if n := len(rows); err == nil && n < l.Most && n*(newestMore/newest) >= l.Most {
		rows, err = s.newestOf(ctx, db, l, newestMore)
	}
	for _, r := range rows {
		hits = append(hits, wordsHit((*dbsqlc.SearchWordsRow)(r)))
	}
	return hits, len(hits) == l.Most, err
}

func (s *FinderStore) newestOf(ctx context.Context, db dbsqlc.DBTX, l finder.Lookup, among int32) ([]*dbsqlc.SearchWordsNewestRow, error) {
	at, id := behind(l)
	return s.q.SearchWordsNewest(ctx, db, &dbsqlc.SearchWordsNewestParams{
		Words: l.Words, Names: finder.Names(l.Name, l.Name), BeforeAt: at, BeforeID: id, Among: among, Most: int32(l.Most), //nolint:gosec // a page
	})
}

// fewWords is whole if there are no more than a few.
func (s *FinderStore) fewWords(ctx context.Context, db dbsqlc.DBTX, l finder.Lookup) (hits []finder.Hit, whole bool, err error) {
	at, id := behind(l)
	rows, err := s.q.SearchWordsFew(ctx, db, &dbsqlc.SearchWordsFewParams{Words: l.Words, Names: finder.Names(l.Name, l.Name), Most: fewOrders + 1})
	for _, r := range rows {
		if c := r.CreatedAt.Compare(at); c < 0 || c == 0 && r.OrderID < id {
			hits = append(hits, wordsHit((*dbsqlc.SearchWordsRow)(r)))
		}
	}
	slices.SortFunc(hits, func(a, b finder.Hit) int { return cmp.Or(b.At.Compare(a.At), cmp.Compare(b.ID, a.ID)) })
	return hits[:min(len(hits), l.Most)], len(rows) <= fewOrders, err
}

// allWords is always whole.
func (s *FinderStore) allWords(ctx context.Context, db dbsqlc.DBTX, l finder.Lookup) (hits []finder.Hit, whole bool, err error) {
	at, id := behind(l)
	rows, err := s.q.SearchWords(ctx, db, &dbsqlc.SearchWordsParams{
		Words: l.Words, Names: finder.Names(l.Name, l.Name), BeforeAt: at, BeforeID: id, Most: int32(l.Most), //nolint:gosec // a page
	})
	for _, r := range rows {
		hits = append(hits, wordsHit(r))
	}
	return hits, true, err
}

func wordsHit(r *dbsqlc.SearchWordsRow) finder.Hit {
	return finder.Hit{Type: "order", ID: r.OrderID, OrderID: payment.OrderID(r.OrderID), Matched: "words", Rank: finder.Alike, At: r.CreatedAt}
}
