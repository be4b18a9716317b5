package watermark

import (
	"time"

	"github.com/google/uuid"
)

// Mark is how far a database has come.
type Mark struct {
	// Database is an id that was made with its schema; backups keep it.
	Database uuid.UUID `json:"database"`
	// Server is the server's identifier with its timeline. The timeline changes after a restore to a point in time and after a
	// standby has taken over.
	Server string `json:"server"`
	// Count only rises.
	Count int64 `json:"count"`
	// At is the database's clock when it rose last.
	At time.Time `json:"at"`
	// GapFrom and GapTo are the last period in which the mark did not rise: no process served, or the database was restored to
	// GapFrom. Zero if there was no such period.
	GapFrom time.Time `json:"-"`
	GapTo   time.Time `json:"-"`
	// Noticed is when accounts were held last; zero if accounts were never held.
	Noticed time.Time `json:"-"`
}

// Reason is why a database may have forgotten something.
type Reason string

// The reasons.
const (
	MarkBehind    Reason = "mark_behind"
	OtherServer   Reason = "other_server"
	OtherDatabase Reason = "other_database"
	// Crashed is a server that has crashed and has started again.
	Crashed Reason = "crashed"
)

// behind returns why a mark may be of an older database than an earlier mark, and since when writes may be lost. The reason is
// empty if the mark is not older.
func (m Mark) behind(known Mark) (Reason, time.Time) {
	since := m.At
	lost := !m.GapFrom.IsZero() && known.At.After(m.GapFrom) && known.At.Before(m.GapTo)
	if lost { // another process has raised the mark of the restored database since
		since = m.GapFrom
	}
	switch {
	case known == Mark{}, m.noticedSince(known):
		return "", time.Time{}
	case m.Database != known.Database:
		return OtherDatabase, since
	case m.Count < known.Count, lost:
		return MarkBehind, since
	case m.Server != known.Server:
		return OtherServer, since
	}
	return "", time.Time{}
}

// noticedSince reports whether another process has held the accounts since a mark was read, because it noticed the same loss.
func (m Mark) noticedSince(known Mark) bool {
	return m.Database == known.Database && m.Noticed.After(known.At)
}

// forgot reports whether a database lacks a heartbeat that it has acknowledged. A heartbeat may be missing as a whole: old ones are deleted.
func (r Reading) forgot(beaten time.Time) bool {
	return !r.Beat.IsZero() && r.Beat.Before(beaten)
}

// Hold is an account that is held: its pays and refunds wait.
type Hold struct {
	Account string
	// Writes between Since and HeldAt may be lost.
	Since, HeldAt time.Time
	Reason        Reason
}
