package finder

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/backoffice/parts"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/redact"
)

// Hit is an object that matches a search.
type Hit struct {
	// Type is order, attempt, refund or event.
	Type, ID string
	// OrderID and AttemptID are the order and the attempt of the hit; zero if there is no such object.
	OrderID   payment.OrderID
	AttemptID *payment.AttemptID
	// User is the order's user; may be empty.
	User payment.UserID
	// Money is the object's amount; nil if it has no amount.
	Money *payment.Money
	// Status is the object's own; of an event, its verdict.
	Status string
	// Matched is the field that is or begins with the text, or the part of the plan that matched: amount, card_last_four, words,
	// amount_and_words, day or day_and_words.
	Matched string
	// Key is the key of a further request on the object, if that key matched; else empty. The key of the request that created
	// the object is not here.
	Key string
	// Rank is Exact if a field is the text.
	Rank Rank
	At   time.Time
	// part is the one of a union that found it.
	part int
}

// Rank is how well a hit matches; lower ones come first.
type Rank int

// The ranks.
const (
	Exact Rank = iota
	Alike
)

// Place is the position of a hit among all hits.
type Place struct {
	Rank Rank
	At   time.Time
	ID   string
}

func (h Hit) place() Place { return Place{h.Rank, h.At, h.ID} }

// Lookup is one page of a plan's search.
type Lookup struct {
	Plan

	// First and Last bound paylatch's ids that begin with the text. They are an empty range if no id can begin so.
	First, Last uuid.UUID
	// Behind is the place that the hits follow.
	Behind Place
	// Now bounds the days of an amount without one.
	Now  time.Time
	Most int
}

// Store searches. Its errors are those of package payment.
type Store interface {
	// Find searches all parts of a plan and returns the first hits behind a place, by rank and then newest first. Each hit has
	// its ids, the time and the matched field.
	Find(ctx context.Context, l Lookup) ([]Hit, error)
	// Details adds the money, the user and the status to hits.
	Details(ctx context.Context, hits []Hit) ([]Hit, error)
}

// Audit writes a search into the audit log before the search is run; *support.Service in the program.
type Audit interface {
	Watch(ctx context.Context, who support.Staff, action support.Action, targetType, target string, act func() error) error
}

// Service is the search. It is safe for concurrent use.
type Service struct {
	store Store
	audit Audit
	now   func() time.Time
}

// New returns the search in a store. The days of a text are days of the time zone in which now returns the time.
func New(store Store, audit Audit, now func() time.Time) *Service { return &Service{store, audit, now} }

// Query is a search as it was typed. An empty cursor is the beginning, an empty limit 25.
type Query struct{ Text, Cursor, Limit string }

// Found is a page of hits.
type Found struct {
	Hits []Hit
	// Next is the cursor of the next page, empty at the end.
	Next string
	// Understood describes the search beside ids in words; empty if only ids were searched.
	Understood string
}

// Search finds orders, attempts, refunds and events by a text that a customer or a provider could quote: hits with exactly this
// id first, then the others, newest first. If more than 1,000 ids of one sort share a beginning, only the 1,000 that sort last
// are searched. It returns payment.ErrForbidden and a payment.ValidationError.
func (s *Service) Search(ctx context.Context, who support.Staff, q Query) (Found, error) {
	if err := who.Require(payment.RoleSupport, payment.RoleAdmin); err != nil {
		return Found{}, err
	}
	text := strings.TrimSpace(q.Text)
	if text == "" || len(text) > mostQuery || !payment.IsStorable(text) {
		return Found{}, invalid("q", "must be an id or its beginning, an amount with a day, a card's last four digits, or words: 1 to 512 bytes")
	}
	if redact.CardNumberIn(text) {
		return Found{}, invalid("q", "must not contain a card number: its last four digits are enough")
	}
	behind, limit, err := parsePage(q)
	if err != nil {
		return Found{}, err
	}
	l := Lookup{Plan: Parse(text, s.now()), Behind: behind, Now: s.now(), Most: limit + 1}
	l.First, l.Last = idsFrom(l.Name)
	found := Found{Understood: l.Understood()}
	err = s.audit.Watch(ctx, who, support.Searched, "search", text, func() error {
		ctx := authz.WithReader(ctx, who.Reader())
		hits, err := s.store.Find(ctx, l)
		for _, plan := range l.fallbacks() {
			if err != nil || len(hits) > 0 {
				break
			}
			l.Plan = plan
			found.Understood = l.Understood()
			hits, err = s.store.Find(ctx, l)
		}
		if left, some := errors.AsType[*parts.OmittedError](err); some {
			found.Understood = beside(found.Understood, left)
		} else if err != nil {
			return err
		}
		if hits = merged(hits); len(hits) > limit {
			hits = hits[:limit]
			found.Next = hits[limit-1].place().cursor()
		}
		found.Hits, err = s.store.Details(ctx, hits)
		return err
	})
	if err != nil {
		return Found{}, err
	}
	return found, nil
}

// merged returns the hits in their order, each once, with its best match.
func merged(hits []Hit) []Hit {
	type key struct{ kind, id string }
	once := map[key]Hit{}
	for _, h := range hits {
		k := key{h.Type, h.ID}
		if there, seen := once[k]; !seen || h.Rank < there.Rank {
			once[k] = h
		}
	}
	list := make([]Hit, 0, len(once))
	for _, h := range once {
		list = append(list, h)
	}
	slices.SortFunc(list, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(a.Rank, b.Rank), b.At.Compare(a.At), cmp.Compare(b.ID, a.ID), cmp.Compare(a.Type, b.Type))
	})
	return list
}

// leastHex is the minimum length of the beginning of a paylatch id, since all ids of one year begin alike.
const leastHex = 6

// idsFrom returns the range of ids that begin with a text in lower case. The text may have no dashes, and may be the beginning
// of a paylatch idempotency key ("<32 hex>-charge-0"). An empty range ends before it begins.
func idsFrom(digits string) (first, last uuid.UUID) {
	if whole, _, found := strings.Cut(digits, "-"); found && len(whole) == hex.EncodedLen(len(first)) {
		digits = whole
	} else if dashed(digits) {
		digits = strings.ReplaceAll(digits, "-", "")
	}
	missing := hex.EncodedLen(len(first)) - len(digits)
	if len(digits) < leastHex || missing < 0 {
		return uuid.Max, uuid.Nil
	}
	if _, err := hex.Decode(first[:], []byte(digits+strings.Repeat("0", missing))); err != nil {
		return uuid.Max, uuid.Nil
	}
	_, _ = hex.Decode(last[:], []byte(digits+strings.Repeat("f", missing)))
	return first, last
}

// dashed reports whether all dashes are at the places of an id's dashes.
func dashed(text string) bool {
	for i, c := range text {
		if c == '-' != slices.Contains([]int{8, 13, 18, 23}, i) {
			return false
		}
	}
	return true
}
