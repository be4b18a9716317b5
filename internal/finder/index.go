package finder

import (
	"context"
	"regexp"
	"time"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/internal/redact"
)

// Source is what the search's copy is made of.
type Source string

// The sources.
const (
	Orders   Source = "orders"
	Attempts Source = "attempts"
	Events   Source = "events"
)

// Mark is how far a source was read: the last item's time of creation and its id.
type Mark struct {
	At time.Time
	ID string
}

// Order is what of an order is searched.
type Order struct {
	ID, User, Description string
	Metadata              map[string]string
	At                    time.Time
}

// Event is what of a webhook is searched: its bytes, and what the attempt's stored payment method is shown as.
type Event struct {
	ID        uuid.UUID
	AttemptID *uuid.UUID
	Body      []byte
	Stored    string
	At        time.Time
}

// IndexStore keeps the copy. Each method takes a source for itself in a transaction; while another process has it, nothing is done and 0 returned. What is younger than
// the lag is left for later.
type IndexStore interface {
	// IndexOrders passes the next orders to a function and stores what it makes of them; it may be called twice.
	IndexOrders(ctx context.Context, lag time.Duration, most int, words func(Order) []string) (int, error)
	IndexAttempts(ctx context.Context, lag time.Duration, most int) (int, error)
	// IndexEvents passes the next webhooks to a function that returns the last four digits of a card, empty for none.
	IndexEvents(ctx context.Context, lag time.Duration, most int, card func(Event) string) (int, error)
}

const (
	// lag is longer than any transaction takes: an item that is committed late would be passed over.
	lag = 15 * time.Second
	// portion is how many items are copied at once.
	portion = 1000
)

// Index copies what orders, attempts and cards are searched by. It is safe for concurrent use.
type Index struct {
	store IndexStore
	lag   time.Duration
}

// NewIndex returns the index in a store.
func NewIndex(store IndexStore) *Index { return &Index{store, lag} }

// Without is an index that leaves nothing for later: for tests, and where no transaction is open.
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

// cardOf is the end of the card's number in a webhook or in the name of a stored payment method, empty for none.
func cardOf(e Event) string {
	if four := redact.CardEnd(e.Body); four != "" {
		return four
	}
	if m := endOfStored.FindStringSubmatch(e.Stored); m != nil {
		return m[1]
	}
	return ""
}
