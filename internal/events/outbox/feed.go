package outbox

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"
)

// Position is where an event is in the feed; 0 is before the first one.
type Position int64

// Beginning is before the oldest event that is kept.
const Beginning Position = -1

// End is behind the newest event that there is when a page is read.
const End Position = -2

// Event is an event that has a position.
type Event struct {
	Position Position
	// OrderID is empty for an event without an order.
	OrderID   string
	ID        uuid.UUID
	Type      string
	Subject   string
	Version   int
	Payload   []byte
	CreatedAt time.Time
}

// Query is a portion of the feed.
type Query struct {
	// After is exclusive, Until inclusive.
	After, Until Position
	// Types are those wanted; all of them where none is given.
	Types []string
	Limit int
}

// Store keeps the events.
type Store interface {
	// NumberEvents gives positions to the events of at most limit committed batches, in the order in
	// which their subjects changed, and returns the head before and after. While another process does,
	// both are 0. A position may have no event.
	NumberEvents(ctx context.Context, limit int) (from, to Position, err error)
	// EventsHead is the last position that was given.
	EventsHead(ctx context.Context) (Position, error)
	// EventsAfter reads a portion of the feed, oldest first.
	EventsAfter(ctx context.Context, q Query) ([]Event, error)
	// OldestEvent is the first position that is kept. It returns ErrNoEvent where there is none.
	OldestEvent(ctx context.Context) (Position, error)
	// PurgeEvents deletes events of before a time in whole batches, limit events or somewhat more, and
	// returns how many there were.
	PurgeEvents(ctx context.Context, before time.Time, limit int) (int, error)
}

var (
	// ErrNoEvent is returned where no event is kept.
	ErrNoEvent = errors.New("no event is kept")
	// ErrCursorInvalid is returned for a cursor that the feed has not made.
	ErrCursorInvalid = errors.New("this is no cursor of the feed")
	// ErrCursorExpired is returned for a cursor with events behind it that are not kept any more.
	ErrCursorExpired = errors.New("events behind this cursor are not kept any more")
)

// ParseCursor reads the cursor of a page. An empty one is the Beginning. It returns ErrCursorInvalid.
func ParseCursor(text string) (Position, error) {
	if text == "" {
		return Beginning, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, ErrCursorInvalid
	}
	return Position(n), nil
}

// String is the position as a cursor.
func (p Position) String() string { return strconv.FormatInt(int64(p), 10) }

// Page is a portion of the feed, with the cursor to go on from.
type Page struct {
	Events []Event
	Next   Position
}

// Feed reads events. It is safe for concurrent use.
type Feed struct {
	store Store
	head  *Head
}

// NewFeed returns the feed of a store. Its waiters are woken by head.
func NewFeed(store Store, head *Head) *Feed { return &Feed{store, head} }

// Read returns the events after a cursor, at most limit of them. With nothing new it waits for wait, and
// then returns none and a cursor that may be further on. It returns ErrCursorInvalid for a cursor that
// lies ahead of all events, and ErrCursorExpired.
func (f *Feed) Read(ctx context.Context, after Position, types []string, limit int, wait time.Duration) (Page, error) {
	after, err := f.begin(ctx, after)
	if err != nil {
		return Page{}, err
	}
	over := time.NewTimer(wait)
	defer over.Stop()
	for {
		moved := f.head.Moved()
		page, err := f.read(ctx, after, types, limit)
		if err != nil || len(page.Events) > 0 || wait <= 0 || f.head.over() {
			return page, err
		}
		after = page.Next
		select {
		case <-moved:
		case <-over.C:
			return page, nil
		case <-ctx.Done():
			return page, nil
		}
	}
}

// begin returns the cursor of events that are kept, or will be.
func (f *Feed) begin(ctx context.Context, after Position) (Position, error) {
	switch after {
	case Beginning:
		return 0, nil
	case End:
		return f.store.EventsHead(ctx)
	}
	return after, f.kept(ctx, after)
}

// read reads up to the head at its start, so that the cursor can pass events of
// other types.
func (f *Feed) read(ctx context.Context, after Position, types []string, limit int) (Page, error) {
	head, err := f.store.EventsHead(ctx)
	if err != nil {
		return Page{}, err
	}
	if head < after {
		return Page{}, fmt.Errorf("%w: it lies ahead of all events", ErrCursorInvalid)
	}
	if head == after {
		return Page{Next: after}, nil
	}
	events, err := f.store.EventsAfter(ctx, Query{After: after, Until: head, Types: types, Limit: limit})
	if err != nil {
		return Page{}, err
	}
	page := Page{Events: events, Next: head}
	if len(events) == limit {
		page.Next = events[limit-1].Position
	}
	return page, nil
}

// kept returns ErrCursorExpired where events behind a cursor are not kept any more.
func (f *Feed) kept(ctx context.Context, after Position) error {
	oldest, err := f.store.OldestEvent(ctx)
	switch {
	case errors.Is(err, ErrNoEvent):
		head, err := f.store.EventsHead(ctx)
		if err == nil && after < head {
			err = ErrCursorExpired
		}
		return err
	case err == nil && oldest > after+1:
		return ErrCursorExpired
	}
	return err
}
