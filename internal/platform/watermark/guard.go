package watermark

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Every is how often the mark rises.
const Every = 5 * time.Second

// Store keeps the mark and the holds.
type Store interface {
	// ReadMark reads the mark and the held accounts.
	ReadMark(ctx context.Context) (Mark, []string, error)
	// RaiseMark raises the mark above a count and returns it; its server is left empty.
	RaiseMark(ctx context.Context, above int64) (Mark, error)
	// HoldPays holds accounts. For an account that is held already, the earlier time counts.
	HoldPays(ctx context.Context, accounts []string, since time.Time, reason Reason) error
}

// Options configure a Guard.
type Options struct {
	// Dir is the directory of the mark's copy.
	Dir string
	// Accounts are the accounts to hold if the database may have lost payments.
	Accounts []string
	// Live: a database other than before counts as one that has lost everything. Outside live it counts as a new one.
	Live bool
	// Alarm is called once for a database that may have lost writes since a time.
	Alarm func(reason Reason, since time.Time)
}

// Guard watches one database. It is safe for concurrent use.
type Guard struct {
	o Options

	mu    sync.Mutex
	known Mark
	// suspect is set when a mark was found behind, until the holds are written; since is the time after which writes may be
	// lost.
	suspect Reason
	since   time.Time
	held    []string
}

// New returns a guard that begins with the file of an earlier process.
func New(o Options) (*Guard, error) {
	known, err := readMark(o.Dir)
	return &Guard{o: o, known: known}, err
}

// Held reports whether an account is held.
func (g *Guard) Held(account string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.suspect != "" || slices.Contains(g.held, account)
}

// Cover sets the accounts to hold if the database may have lost payments, in place of Options.Accounts.
func (g *Guard) Cover(accounts []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.o.Accounts = accounts
}

// HeldAny reports whether any account is held. An order may have been paid through a held account.
func (g *Guard) HeldAny() bool { return len(g.All()) > 0 }

// All lists the held accounts.
func (g *Guard) All() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.suspect != "" {
		return slices.Clone(g.o.Accounts)
	}
	return slices.Clone(g.held)
}

// Look reads the mark on a new connection, before the connection serves any pay. It compares the result of read with the mark
// from before the call, since the mark may rise meanwhile.
func (g *Guard) Look(read func() (Mark, []string, error)) error {
	g.mu.Lock()
	known := g.known
	g.mu.Unlock()
	m, held, err := read()
	if err != nil {
		return err
	}
	reason, since := m.behind(known)
	if reason == OtherDatabase && !g.o.Live {
		reason, known = "", Mark{}
	}
	if reason == "" {
		g.take(m, known, held)
		return nil
	}
	if g.doubt(reason, since, held) && g.o.Alarm != nil {
		g.o.Alarm(reason, since)
	}
	return nil
}

// take takes over a mark that is not behind.
func (g *Guard) take(m, known Mark, held []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.held = g.configured(held)
	if g.suspect == "" && (known == Mark{} || m.noticedSince(known) || m.Count >= g.known.Count) {
		g.known = m
	}
}

// doubt holds all accounts, and reports whether it is the first to do so.
func (g *Guard) doubt(reason Reason, since time.Time, held []string) (first bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.held = g.configured(held)
	if first = g.suspect == ""; first || since.Before(g.since) {
		g.suspect, g.since = reason, since
	}
	return first
}

// configured returns the accounts that the configuration still has.
func (g *Guard) configured(held []string) []string {
	return slices.DeleteFunc(slices.Clone(held), func(name string) bool { return !slices.Contains(g.o.Accounts, name) })
}

// Tick reads the mark, writes the holds of a database that was found behind, raises the mark and writes its copy.
func (g *Guard) Tick(ctx context.Context, s Store) error {
	var server string
	err := g.Look(func() (Mark, []string, error) {
		m, held, err := s.ReadMark(ctx)
		server = m.Server
		return m, held, err
	})
	if err != nil {
		return err
	}
	g.mu.Lock()
	suspect, since, above, accounts := g.suspect, g.since, g.known.Count, g.o.Accounts
	g.mu.Unlock()
	if suspect != "" {
		if err := s.HoldPays(ctx, accounts, since, suspect); err != nil {
			return err
		}
	}
	raised, err := s.RaiseMark(ctx, above)
	if err != nil {
		return err
	}
	raised.Server = server
	g.settle(raised, suspect, accounts)
	return write(g.o.Dir, fileName, raised)
}

// settle takes over a mark that was raised after the holds of some accounts were written.
func (g *Guard) settle(raised Mark, written Reason, accounts []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.known = raised
	if written != "" && g.suspect == written {
		g.suspect = ""
		g.held = slices.Clone(accounts)
	}
}
