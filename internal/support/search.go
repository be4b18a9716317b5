package support

import (
	"context"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
)

// maxQuery bounds the text of a search, in bytes. A provider's stored id is at most as
// long; a user's may be longer, and is found by its beginning.
const maxQuery = 512

// Search finds orders, attempts, refunds and events by any id that a customer or a
// provider could quote, exactly or by its beginning, newest first. If more than 1,000
// ids of one sort share a beginning, only the 1,000 that sort last are searched. It
// returns payment.ErrForbidden and a payment.ValidationError.
func (s *Service) Search(ctx context.Context, who Staff, text string, p Page) (hits []Hit, next string, err error) {
	if err := who.mayLook(); err != nil {
		return nil, "", err
	}
	text = strings.TrimSpace(text)
	if text == "" || len(text) > maxQuery || !storable(text) {
		return nil, "", invalid("q", "must be an id or its beginning, 1 to 512 bytes")
	}
	first, last := idsFrom(text)
	hits, err = s.store.Search(ctx, SearchQuery{
		Text: text, First: first, Last: last, Before: p.before, BeforeID: p.beforeID, Limit: p.limit + 1,
	})
	if err := s.audited(ctx, who.entry(Searched, "search", text), err); err != nil {
		return nil, "", err
	}
	hits, next = Cut(p, hits, func(h Hit) (time.Time, string) { return h.At, h.ID })
	return hits, next, nil
}

// leastHex is the minimum length of the beginning of an id of ours: all ids of one year
// begin alike.
const leastHex = 6

// idsFrom returns the range of ids that begin with a text, also without dashes and as
// the beginning of an idempotency key of ours ("<32 hex>-charge-0"). An empty range ends
// before it begins.
func idsFrom(text string) (first, last uuid.UUID) {
	digits := strings.ToLower(text)
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

// dashed reports whether all dashes are where an id has them.
func dashed(text string) bool {
	for i, c := range text {
		if c == '-' != slices.Contains([]int{8, 13, 18, 23}, i) {
			return false
		}
	}
	return true
}
