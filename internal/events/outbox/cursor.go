package outbox

import (
	"math"
	"strconv"
	"strings"
)

// Cursor is a position in the feed, with the epoch in which it was given to a reader.
type Cursor struct {
	// Epoch is the number of the epoch; the first one is 0.
	Epoch    int64
	Position Position
}

// Beginning is before the oldest event that is kept.
func Beginning() Cursor { return Cursor{Position: -1} }

// End is behind the newest event that there is when a page is read.
func End() Cursor { return Cursor{Position: -2} }

// epochDigits is the base of the number of an epoch in a cursor.
const epochDigits = 36

// ParseCursor reads the cursor of a page. An empty one is the Beginning. It returns ErrCursorInvalid.
func ParseCursor(text string) (Cursor, error) {
	if text == "" {
		return Beginning(), nil
	}
	epoch, position, later := strings.Cut(text, "-")
	if !later {
		epoch, position = "0", text
	}
	e, wrongEpoch := strconv.ParseUint(epoch, epochDigits, 63)
	p, wrongPosition := strconv.ParseUint(position, 10, 63)
	if wrongEpoch != nil || wrongPosition != nil || later && e == 0 {
		return Cursor{}, ErrCursorInvalid
	}
	return Cursor{int64(e), Position(p)}, nil
}

// String is the cursor as a text: POSITION or, after the first epoch, EPOCH-POSITION.
func (c Cursor) String() string {
	position := strconv.FormatInt(int64(c.Position), 10)
	if c.Epoch == 0 {
		return position
	}
	return strconv.FormatInt(c.Epoch, epochDigits) + "-" + position
}

// Epoch is a time in which the feed has forgotten nothing. A restore that lost commits begins the next one: positions are given out
// again.
type Epoch struct {
	Number int64
	// Shared is the last position whose event is surely the same as in the epochs before.
	Shared Position
}

// Line is how far the feed has come.
type Line struct {
	// Head is the last position that was given.
	Head Position
	// Epochs are those after the first one, oldest first.
	Epochs []Epoch
}

// At is a position as a cursor of the present epoch.
func (l Line) At(p Position) Cursor {
	if n := len(l.Epochs); n > 0 {
		return Cursor{l.Epochs[n-1].Number, p}
	}
	return Cursor{Position: p}
}

// shared is the last position up to which the events of an epoch are those of the present one. Of an epoch that the database has
// forgotten nothing is known.
func (l Line) shared(epoch int64) (last Position, known bool) {
	last, known = math.MaxInt64, epoch == 0
	for _, e := range l.Epochs {
		if e.Number == epoch {
			known = true
		}
		if e.Number > epoch {
			last = min(last, e.Shared)
		}
	}
	if !known {
		last = 0
	}
	return last, known
}

// ExpiredError is returned for a cursor that a restore has lost: its position has another event now, or none yet. It is an
// ErrCursorExpired.
type ExpiredError struct {
	// RestartAfter is a cursor from which nothing is missed; events come again.
	RestartAfter Cursor
}

// Error implements error.
func (e *ExpiredError) Error() string {
	return "the database was restored to a time before this cursor: read again after " + e.RestartAfter.String()
}

// Unwrap makes it an ErrCursorExpired.
func (e *ExpiredError) Unwrap() error { return ErrCursorExpired }
