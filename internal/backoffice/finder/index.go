package finder

import (
	"context"
	"regexp"
	"time"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/internal/platform/redact"
)

// Source is a source of the search's copy.
type Source string

// The sources.
const (
	Orders   Source = "orders"
	Attempts Source = "attempts"
	Events   Source = "events"
)

// Mark is the position up to which a source was read: the last item's time of creation and its id.
type Mark struct {
	At time.Time
	ID string
}

// Order has the searchable fields of an order.
type Order struct {
	ID, User, Description string
	Metadata              map[string]string
	At                    time.Time
}

// Event has the searchable fields of a webhook: its bytes, and the display name of the attempt's stored payment method.
type Event struct {
	ID        uuid.UUID
	AttemptID *uuid.UUID
	Body      []byte
	Stored    string
	At        time.Time
}

// IndexStore keeps the copy. Each method locks its source in a transaction. While another process has the lock, the method does
// nothing and returns 0. Items that are younger than the lag are left for later.
type IndexStore interface {
	// IndexOrders passes the next orders to the function words and stores the returned words. It may call words twice.
	IndexOrders(ctx context.Context, lag time.Duration, most int, words func(Order) []string) (int, error)
	IndexAttempts(ctx context.Context, lag time.Duration, most int) (int, error)
	// IndexEvents passes the next webhooks to a function that returns the last four digits of a card, or an empty text.
	IndexEvents(ctx context.Context, lag time.Duration, most int, card func(Event) string) (int, error)
}

const (
	// lag is longer than any transaction takes; with a shorter lag, an item that is committed late would be passed over.
	lag = 15 * time.Second
	// portion is how many items are copied at once.
	portion = 1000
)

// Index copies the search terms of orders, attempts and cards. It is safe for concurrent use.
type Index struct {
	store IndexStore
	lag   time.Duration
}

// NewIndex returns the index in a store.
func NewIndex(store IndexStore) *Index { return &Index{store, lag} }

// Without returns an index that leaves nothing for later: for tests, and for times without open transactions.
func (x *Index) Without() *Index { return &Index{x.store, 0} }

// Copy copies a portion of each source and reports whether there may be more.
func (x *Index) Copy(ctx context.Context) (more bool, err error) {
	for _, copied := range []func() (int, error){
		func() (int, error) { return x.store.IndexOrders(ctx, x.lag, portion, OrderWords) },
		func() (int, error) { return x.store.IndexAttempts(ctx, x.lag, portion) },
		func() (int, error) { return x.store.IndexEvents(ctx, x.lag, portion, cardOf) },
	} {
		n, err := copied()
		if err != nil {
			return false, err
		}
		more = more || n == portion
	}
	return more, nil
}

// endOfStored is how adapters show a stored card, as "visa •••• 4242".
var endOfStored = regexp.MustCompile(`[*•]{2,} ?([0-9]{4})$`)

// cardOf returns the last digits of the card's number in a webhook or in the name of a stored payment method, or an empty text.
func cardOf(e Event) string {
	if four := redact.CardEnd(e.Body); four != "" {
		return four
	}
	if m := endOfStored.FindStringSubmatch(e.Stored); m != nil {
		return m[1]
	}
	return ""
}
