package watermark

import (
	"context"
	"slices"
	"strings"
	"time"
)

// change is another server, or another database, that may lack commits.
type change struct {
	reason Reason
	// since is the time after which writes may be lost.
	since time.Time
	// server is the present server, began when it was noticed.
	server string
	began  time.Time
	// answered is set once this process has found its commits there.
	answered bool
}

// ask begins the lookup of the last commits.
func (g *Guard) ask(reason Reason, since time.Time, r Reading) {
	g.mu.Lock()
	first := !g.doubts()
	g.held = g.configured(r.Held)
	if g.suspect == "" {
		if g.change == nil {
			g.change = &change{reason: reason, since: since, began: g.o.Now()}
		}
		if since.Before(g.change.since) {
			g.change.since = since
		}
		if g.change.server != r.Server {
			g.change.server, g.change.answered = r.Server, false
		}
	}
	g.mu.Unlock()
	if first && g.o.Events.Changed != nil {
		g.o.Events.Changed(reason)
	}
}

// settle settles a change of the server. It returns false while the result is open. A process first answers and then reads
// the answers of the others, so the last process to answer sees them all.
func (g *Guard) settle(ctx context.Context, s Store, r Reading) (settled bool, err error) {
	c, known := g.pending()
	switch {
	case c == nil:
		g.confirm(r.Server == known.Server)
		return true, nil
	case r.Server != c.server:
		return false, nil
	}
	g.confirm(c.answered)
	if !c.answered {
		if why, err := g.harm(ctx, s, r, known); err != nil || why != "" {
			return g.harmed(*c, r, why), err
		}
		if err := g.beat(ctx, s, r.Server, known); err != nil {
			return false, err
		}
		g.answered(r.Server)
		if r, err = s.ReadMark(ctx, g.Process()); err != nil || r.Server != c.server {
			return false, err
		}
	}
	others := g.others(r.Silent)
	if len(others) == 0 {
		g.unharmed(r.Mark)
		return true, nil
	}
	if g.o.Now().Sub(c.began) < Patience {
		return false, nil
	}
	names := make([]string, len(others))
	for i, p := range others {
		names[i] = p.Name
	}
	return g.harmed(*c, r, "no answer from "+strings.Join(names, ", ")), nil
}

// confirm drops the commits before the last heartbeat, if a later statement ran on the same server.
func (g *Guard) confirm(same bool) {
	if same {
		g.memory.confirm()
	}
}

// harm looks up the commits of this process, and of the process before in the same directory. It returns a reason to hold pays,
// or "".
func (g *Guard) harm(ctx context.Context, s Store, r Reading, known Mark) (string, error) {
	of, commits, full := g.memory.known()
	self := g.self()
	lost, err := s.Lost(ctx, r.Server, self, of.BeatAt, commits)
	if err != nil {
		return "", err
	}
	asked := slices.ContainsFunc(r.Silent, func(p Process) bool { return p.ID == self.ID })
	switch {
	case len(lost) > 0:
		return "lost: " + strings.Join(lost, ", "), nil
	case of.BeatAt.IsZero() && known != Mark{}:
		return "no commits are stored in the data_dir of " + self.Name, nil
	case full:
		return self.Name + " has acknowledged more commits than its file can hold", nil
	case of.Unsure && asked:
		return "the machine of " + self.Name + " crashed shortly before, so its file may lack the last commits", nil
	}
	return "", nil
}

// harmed holds pays if there is a reason.
func (g *Guard) harmed(c change, r Reading, why string) bool {
	if why == "" {
		return false
	}
	reason := c.reason
	if reason == Crashed {
		reason = MarkBehind
	}
	g.alarm(reason, c.since, why, r.Held)
	return true
}

// pending returns the change that is not settled, or nil, and the mark from before.
func (g *Guard) pending() (*change, Mark) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.change == nil {
		return nil, g.known
	}
	c := *g.change
	return &c, g.known
}

func (g *Guard) answered(server string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.change != nil && g.change.server == server {
		g.change.answered = true
	}
}

// unharmed goes on with a server that has everything.
func (g *Guard) unharmed(m Mark) {
	g.mu.Lock()
	if g.change == nil || g.change.server != m.Server {
		g.mu.Unlock()
		return
	}
	g.change, g.known = nil, m
	g.mu.Unlock()
	if g.o.Events.Unharmed != nil {
		g.o.Events.Unharmed()
	}
}
