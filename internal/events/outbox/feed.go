package outbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/internal/payment"
)

// Position is where an event is in the feed; 0 is before the first one.
type Position int64

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
	// EventsLine is the head with the epochs.
	EventsLine(ctx context.Context) (Line, error)
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
	// ErrCursorExpired is returned for a cursor with events behind it that are not kept any more, or that a restore has lost.
	ErrCursorExpired = errors.New("events after this cursor were deleted")
)

// Page is a portion of the feed, with the cursor to go on from.
type Page struct {
	Events []Event
	Next   Cursor
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
// lies ahead of all events, and ErrCursorExpired, as an ExpiredError where it knows from where nothing is missed.
func (f *Feed) Read(ctx context.Context, after Cursor, types []string, limit int, wait time.Duration) (Page, error) {
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
func (f *Feed) begin(ctx context.Context, after Cursor) (Cursor, error) {
	line, err := f.store.EventsLine(ctx)
	switch {
	case err != nil:
		return after, err
	case after == Beginning():
		return line.At(0), nil
	case after == End():
		return line.At(line.Head), nil
	}
	if err := f.fits(ctx, line, after); err != nil {
		return after, err
	}
	oldest, err := f.oldest(ctx, line)
	if err == nil && oldest > after.Position+1 {
		err = ErrCursorExpired
	}
	return after, err
}

// read reads up to the head at its start, so that the cursor can pass events of
// other types.
func (f *Feed) read(ctx context.Context, after Cursor, types []string, limit int) (Page, error) {
	line, err := f.store.EventsLine(ctx) // again: the database may have been restored during a wait
	if err == nil {
		err = f.fits(ctx, line, after)
	}
	if err != nil {
		return Page{}, err
	}
	if line.Head == after.Position {
		return Page{Next: line.At(line.Head)}, nil
	}
	events, err := f.store.EventsAfter(ctx, Query{After: after.Position, Until: line.Head, Types: types, Limit: limit})
	if err != nil {
		return Page{}, err
	}
	page := Page{Events: events, Next: line.At(line.Head)}
	if len(events) == limit {
		page.Next = line.At(events[limit-1].Position)
	}
	return page, nil
}

// fits returns an error for a cursor that lies ahead of all events, or whose events before it are not all of the present feed.
func (f *Feed) fits(ctx context.Context, line Line, after Cursor) error {
	switch shared, known := line.shared(after.Epoch); {
	case after.Position > shared:
		return f.lost(ctx, line, after, shared, known)
	case after.Position <= line.Head:
		return nil
	case f.head.unsettled():
		return fmt.Errorf("%w: the database may have been restored, so this cursor can't be checked yet", payment.ErrUnavailable)
	}
	return fmt.Errorf("%w: it is after all events", ErrCursorInvalid)
}

// lost returns from where a reader misses nothing whose cursor a restore has lost. A reader of an epoch that is lost as a whole begins
// with the oldest event.
func (f *Feed) lost(ctx context.Context, line Line, after Cursor, shared Position, known bool) error {
	oldest, err := f.oldest(ctx, line)
	if err != nil {
		return err
	}
	from, read := oldest-1, after.Position
	if known {
		from, read = shared, shared
	}
	if read < oldest-1 {
		return ErrCursorExpired
	}
	return &ExpiredError{RestartAfter: line.At(from)}
}

// oldest is the first position that is kept, or will be.
func (f *Feed) oldest(ctx context.Context, line Line) (Position, error) {
	oldest, err := f.store.OldestEvent(ctx)
	if errors.Is(err, ErrNoEvent) {
		return line.Head + 1, nil
	}
	return oldest, err
}
