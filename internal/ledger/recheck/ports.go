package recheck

import (
	"context"
	"time"

	"github.com/paylatch/paylatch/internal/payment"
)

// Cursor is the progress of the lookups of an account's attempts at an age.
type Cursor struct {
	Account string
	// Age is in whole days.
	Age   time.Duration
	After payment.AttemptID
	// Misses counts the consecutive turns in which the provider showed no attempt after the cursor.
	Misses int
}

// Attempt is a final attempt, with the version that it was listed with.
type Attempt struct {
	ID      payment.AttemptID
	Version int
}

// Batch is the next part after a cursor. Last is its end, or the cursor itself if nothing is left.
type Batch struct {
	Attempts []Attempt
	Last     payment.AttemptID
}

// Store keeps the cursors.
type Store interface {
	// CursorsTake gives the account's cursors to the caller for a turn and returns the time of the storage. It returns
	// no cursors while another process has the turn. Missing cursors begin as given.
	CursorsTake(ctx context.Context, account string, missing []Cursor, turn time.Duration) ([]Cursor, time.Time, error)
	// CursorMove moves a cursor from its place and writes its misses. It returns payment.ErrBusy if another process has
	// moved it.
	CursorMove(ctx context.Context, c Cursor, after payment.AttemptID) error
	// FinalAttempts lists at most limit final attempts after a cursor, and before until, that have moved or could move money.
	FinalAttempts(ctx context.Context, c Cursor, until payment.AttemptID, limit int) (Batch, error)
}

// Runner looks up attempts; *runner.Runner in the program.
type Runner interface {
	// Ask looks an attempt up and applies the reports.
	Ask(ctx context.Context, id payment.AttemptID, cause payment.Cause) (payment.View, error)
	// Due lists operations of an account that are due.
	Due(ctx context.Context, account string, limit int) ([]payment.OperationName, error)
}
