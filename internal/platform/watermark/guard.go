package watermark

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
)

const (
	// Every is how often the mark rises.
	Every = 5 * time.Second
	// Beat is how often a process shows that it lives, and how often it looks at the mark.
	Beat = time.Second
	// Alive is how long before a change of the server a process must have shown that it lived for its answer to be waited for.
	Alive = time.Minute
	// Patience is how long the answers are waited for.
	Patience = time.Minute
	// Recent is how long ago other processes may have been alive at the start of a process without files.
	Recent = 10 * time.Minute
	// Life is how long a process without a heartbeat is remembered.
	Life = 30 * 24 * time.Hour
	// Fresh is how old the last acknowledged heartbeat may be for [Guard.Confirmed]. A commit that waits for a standby is given up
	// after a longer time, and can be read only then.
	Fresh = 4 * time.Second
)

// Reading is what a connection reads first.
type Reading struct {
	Mark

	// Started is when the server started. Crashed changes after a crash.
	Started, Crashed time.Time
	// Waits is set where a commit waits for a synchronous standby.
	Waits bool
	// Beat is the last heartbeat of this process that the database has; zero for none.
	Beat time.Time
	// Held are the held accounts.
	Held []string
	// Silent are the processes that were alive before the last change of the server and have not answered since.
	Silent []Process
}

// Process is a process that serves from the database.
type Process struct {
	ID   uuid.UUID
	Name string
	// Recent is set if it was alive in the last minutes.
	Recent bool
}

// Store keeps the mark, the processes and the holds.
type Store interface {
	// ReadMark reads the mark, the held accounts, the silent processes, and the last heartbeat of a process.
	ReadMark(ctx context.Context, of uuid.UUID) (Reading, error)
	// RaiseMark raises the mark above a count and returns it; its server is left empty.
	RaiseMark(ctx context.Context, above int64) (Mark, error)
	// Lost describes the commits and the heartbeat that a server lacks. It fails if another server responds.
	Lost(ctx context.Context, server string, of Process, beatAt time.Time, commits []Commit) ([]string, error)
	// Beat writes that a process lives on a server.
	Beat(ctx context.Context, p Process, server string) (time.Time, error)
	// Leave writes that a process has ended.
	Leave(ctx context.Context, p Process) error
	// Forget forgets processes, and those without a heartbeat for long.
	Forget(ctx context.Context, list []Process) error
	// BeginEpoch begins an epoch of the feed of events, unless one has begun since a process saw the mark last, before the loss. Events
	// of after since may be lost.
	BeginEpoch(ctx context.Context, since, seen time.Time) error
	// HoldPays holds accounts. For an account that is held already, the earlier time counts.
	HoldPays(ctx context.Context, accounts []string, since time.Time, reason Reason) error
}

// Options configure a Guard.
type Options struct {
	// Dir is the directory of the mark's copy and of the last commits.
	Dir string
	// Name is the name of the process, for the log of others.
	Name string
	// Boot distinguishes the runs of the machine.
	Boot string
	// Accounts are the accounts to hold if the database may have lost payments.
	Accounts []string
	// Live is set in live. There, a database other than the one before counts as having lost everything; elsewhere it counts as new.
	Live bool
	// Now is the process's monotonic clock.
	Now func() time.Time
	// Events are called at each step of a change of the server; each may be nil.
	Events Events
}

// Events are called once for each change of the server.
type Events struct {
	// Changed: the server is another one, and the last commits are looked up.
	Changed func(reason Reason)
	// Unharmed: all processes have found their last commits.
	Unharmed func()
	// Alarm: the database may have lost writes since a time. Why is the evidence; it is empty for a mark that is behind.
	Alarm func(reason Reason, since time.Time, why string)
}

// Guard watches one database. It is safe for concurrent use.
type Guard struct {
	o      Options
	memory *memory

	mu    sync.Mutex
	known Mark
	// change is set while another server may lack commits.
	change *change
	// suspect is set when commits are lost, or may be, until the holds are written; since is the time after which writes may be
	// lost.
	suspect Reason
	since   time.Time
	held    []string
	// raised is when this process raised the mark last.
	raised time.Time
	// beaten is the last acknowledged heartbeat, by the database's clock; zero if the database need not have it.
	beaten time.Time
	// started and crashed are the server's run, and waits is whether its commits wait for a standby. confirmed is when the last heartbeat
	// began that was acknowledged in this run, by the process's clock.
	started, crashed time.Time
	waits            bool
	confirmed        time.Time
}

// New returns a guard that begins with the files of an earlier process.
func New(o Options) (*Guard, error) {
	known, err := readMark(o.Dir)
	if err != nil {
		return nil, err
	}
	memory, err := openMemory(o.Dir, o.Boot)
	if err != nil {
		return nil, err
	}
	if memory.head.Mark != (Mark{}) {
		known = memory.head.Mark // the copy may be another process's
	}
	return &Guard{o: o, memory: memory, known: known, beaten: memory.head.BeatAt}, nil
}

// Held reports whether an account is held.
func (g *Guard) Held(account string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.doubts() || slices.Contains(g.held, account)
}

// Cover sets the accounts to hold if the database may have lost payments, in place of Options.Accounts.
func (g *Guard) Cover(accounts []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.o.Accounts = accounts
}

// HeldAny reports whether any account is held. An order may have been paid through a held account.
func (g *Guard) HeldAny() bool { return len(g.All()) > 0 }

// Looking reports whether pays wait only until the last commits were looked up.
func (g *Guard) Looking() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.change != nil && g.suspect == "" && len(g.held) == 0
}

// All lists the held accounts.
func (g *Guard) All() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.doubts() {
		return slices.Clone(g.o.Accounts)
	}
	return slices.Clone(g.held)
}

// Unsettled reports whether the database may have forgotten commits, until that is settled and an epoch of the feed has begun.
func (g *Guard) Unsettled() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.doubts()
}

// Loss reports whether commits are lost, or may be, and the holds are not written yet. Events of after since may be lost; seen is
// when this process saw the mark last, before the loss.
func (g *Guard) Loss() (since, seen time.Time, lost bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	since, seen = g.since, g.known.At
	if seen.IsZero() { // this process began after the loss
		seen = since
	}
	if seen.Before(since) {
		since = seen
	}
	return since, seen, g.suspect != ""
}

// Confirmed reports whether everything that was read before this call outlives the server. Where commits wait for a synchronous standby, a
// commit can be read although no standby has it: the wait was given up, or the server has crashed meanwhile. A later heartbeat that was
// acknowledged shows that the standby has it.
func (g *Guard) Confirmed() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return !g.waits || !g.confirmed.IsZero() && g.o.Now().Sub(g.confirmed) < Fresh
}

// Again looks at the mark once more, in front of a call that must not be made on an older database. It is for connections by a pooler,
// which keeps them when the server changes.
func (g *Guard) Again(ctx context.Context, s Store) error {
	_, err := g.look(func() (Reading, error) { return s.ReadMark(ctx, g.Process()) })
	return err
}

func (g *Guard) doubts() bool { return g.suspect != "" || g.change != nil }

// Acknowledged remembers a commit that the database has acknowledged. It must be called before the commit has an effect
// elsewhere.
func (g *Guard) Acknowledged(c Commit) {
	g.memory.remember(c)
}

// Look reads the mark on a new connection, before the connection serves any pay. It compares the result of read with the mark
// from before the call, since the mark may rise meanwhile.
func (g *Guard) Look(read func() (Reading, error)) error {
	_, err := g.look(read)
	return err
}

func (g *Guard) look(read func() (Reading, error)) (Reading, error) {
	g.mu.Lock()
	known, beaten := g.known, g.beaten
	g.mu.Unlock()
	r, err := read()
	if err != nil {
		return r, err
	}
	reason, since := r.behind(known)
	if reason == OtherDatabase && !g.o.Live {
		reason, known = "", Mark{}
		g.forget()
	}
	crashed := g.runs(r)
	switch {
	case reason != "" || known == Mark{} || r.noticedSince(known):
	case r.forgot(beaten):
		reason, since = MarkBehind, r.Beat
	case crashed: // a server that keeps less than it should has lost its last commits by the crash
		reason = Crashed
	}
	switch others := g.others(r.Silent); {
	case reason == MarkBehind:
		g.alarm(reason, since, "", r.Held)
	case reason != "":
		g.ask(reason, since, r)
	case known == Mark{} && slices.ContainsFunc(others, func(p Process) bool { return p.Recent }):
		g.ask(OtherServer, r.At, r) // the process has begun in the middle of a change that it has not seen
	default:
		g.take(r, known)
	}
	return r, nil
}

// runs notes the server's run, and reports whether the server has crashed since the run before.
func (g *Guard) runs(r Reading) (crashed bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	crashed = !g.crashed.IsZero() && !r.Crashed.Equal(g.crashed)
	if g.waits = r.Waits; crashed || !r.Started.Equal(g.started) {
		g.confirmed = time.Time{}
	}
	g.started, g.crashed = r.Started, r.Crashed
	return crashed
}

// forget drops everything: the database is a new one.
func (g *Guard) forget() {
	g.memory.forget()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.beaten = time.Time{}
}

// take takes over a mark that is not behind.
func (g *Guard) take(r Reading, known Mark) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.held = g.configured(r.Held)
	if g.change != nil && known != (Mark{}) && !r.noticedSince(known) {
		return // the connection leads to the server of before, others don't
	}
	g.change = nil
	if r.noticedSince(known) {
		g.beaten = time.Time{} // the loss of it is noticed
	}
	if g.suspect == "" && (known == Mark{} || r.noticedSince(known) || r.Count >= g.known.Count) {
		g.known = r.Mark
	}
}

// alarm holds all accounts.
func (g *Guard) alarm(reason Reason, since time.Time, why string, held []string) {
	if g.doubt(reason, since, held) && g.o.Events.Alarm != nil {
		g.o.Events.Alarm(reason, since, why)
	}
}

// doubt holds all accounts, and reports whether it is the first to do so.
func (g *Guard) doubt(reason Reason, since time.Time, held []string) (first bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.change = nil
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

// Tick reads the mark, settles a change of the server as far as it can, shows that this process lives, and raises the mark with
// its copy when that is due.
func (g *Guard) Tick(ctx context.Context, s Store) error {
	r, err := g.look(func() (Reading, error) { return s.ReadMark(ctx, g.Process()) })
	if err != nil {
		return err
	}
	if settled, err := g.settle(ctx, s, r); !settled {
		return err
	}
	return g.goOn(ctx, s, r)
}

// goOn writes the holds of a database that has lost something, and shows that the mark and this process go on.
func (g *Guard) goOn(ctx context.Context, s Store, r Reading) error {
	g.mu.Lock()
	suspect, since, mark, accounts, due := g.suspect, g.since, g.known, g.o.Accounts, g.o.Now().Sub(g.raised) >= Every
	first := g.raised.IsZero()
	g.mu.Unlock()
	mark.Server = r.Server
	if since, seen, lost := g.Loss(); lost {
		if err := s.BeginEpoch(ctx, since, seen); err != nil {
			return err
		}
	}
	if suspect != "" {
		if err := s.HoldPays(ctx, accounts, since, suspect); err != nil {
			return err
		}
		if err := s.Forget(ctx, g.others(r.Silent)); err != nil {
			return err
		}
	} else if first {
		if err := s.Forget(ctx, nil); err != nil {
			return err
		}
	}
	var copied error
	if suspect != "" || due {
		raised, err := s.RaiseMark(ctx, mark.Count)
		if err != nil {
			return err
		}
		raised.Server = r.Server
		g.raise(raised, suspect, accounts)
		mark, copied = raised, write(g.o.Dir, fileName, raised)
	}
	return errors.Join(g.beat(ctx, s, r.Server, mark), copied, g.memory.failure())
}

// beat shows that this process lives on a server. Its file goes on with the mark of a server that has all commits.
func (g *Guard) beat(ctx context.Context, s Store, server string, mark Mark) error {
	g.mu.Lock()
	started, crashed, since := g.started, g.crashed, g.o.Now()
	g.mu.Unlock()
	begun := g.memory.now()
	at, err := s.Beat(ctx, g.self(), server)
	if err != nil {
		return err
	}
	g.memory.beat(begun, at, mark)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.beaten = at
	if g.started.Equal(started) && g.crashed.Equal(crashed) {
		g.confirmed = since
	}
	return nil
}

// raise takes over a mark that was raised after the holds of some accounts were written.
func (g *Guard) raise(raised Mark, written Reason, accounts []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.known, g.raised = raised, g.o.Now()
	if written != "" && g.suspect == written {
		g.suspect, g.beaten = "", time.Time{}
		g.held = slices.Clone(accounts)
	}
}

// Leave ends the guard of a process that serves, after its last commit. The other processes wait for no answer of it.
func (g *Guard) Leave(ctx context.Context, s Store) error {
	self := g.self()
	if err := g.memory.close(); err != nil {
		return err
	}
	g.mu.Lock()
	unsettled := g.doubts()
	g.mu.Unlock()
	if unsettled {
		return nil // its successor answers
	}
	return s.Leave(ctx, self)
}

// Process is the id under which this process is in the database.
func (g *Guard) Process() uuid.UUID { return g.memory.head.Process }

func (g *Guard) self() Process { return Process{ID: g.Process(), Name: g.o.Name} }

// others returns the processes but this one.
func (g *Guard) others(list []Process) []Process {
	self := g.self().ID
	return slices.DeleteFunc(slices.Clone(list), func(p Process) bool { return p.ID == self })
}
