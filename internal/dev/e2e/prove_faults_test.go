package e2e_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/paylatch/paylatch/internal/dev/faults"
)

// faultKind is a kind of fault. begin lets it happen to a target and returns its end; nil means that it is over.
type faultKind struct {
	name   string
	weight int
	// target is what it happens to: one fault of a target at a time.
	target func(d *rand.Rand) string
	begin  func(p *proof, t *testing.T, replica int, d *rand.Rand) func()
	// least and most bound how long it lasts.
	least, most time.Duration
}

func replica(d *rand.Rand) string { return "replica " + strconv.Itoa(d.IntN(replicas)) }

func link(what string) func(d *rand.Rand) string {
	return func(d *rand.Rand) string { return what + " " + strconv.Itoa(d.IntN(replicas)) }
}

func always(what string) func(d *rand.Rand) string {
	return func(*rand.Rand) string { return what }
}

// The kinds that are counted as kills.
const killedReplica, killedPostgres = "a replica is killed", "PostgreSQL is killed"

// faultKinds are all kinds.
var faultKinds = []faultKind{
	{killedReplica, 22, replica, (*proof).killReplica, 0, 1500 * time.Millisecond},
	{"a replica is frozen", 6, replica, (*proof).freezeReplica, 200 * time.Millisecond, 4 * time.Second},
	{"a replica is restarted", 3, replica, (*proof).restartReplica, 0, 500 * time.Millisecond},
	{killedPostgres, 3, always("PostgreSQL"), (*proof).killPostgres, 0, time.Second},
	{promoted, 2, always("PostgreSQL"), (*proof).promotePostgres, 0, 0},
	{"PostgreSQL is frozen", 2, always("PostgreSQL"), (*proof).freezePostgres, 200 * time.Millisecond, 2500 * time.Millisecond},
	{full, 3, always("PostgreSQL"), (*proof).fillDisk, 500 * time.Millisecond, 5 * time.Second},
	{"connections to PostgreSQL break", 6, link("database"), (*proof).resetDatabase, 0, 0},
	{"connections to PostgreSQL die silently", 3, link("database"), (*proof).loseDatabase, 0, 0},
	{"PostgreSQL's answers are truncated", 5, link("database"), (*proof).cutDatabase, 200 * time.Millisecond, 2 * time.Second},
	{"the way to PostgreSQL is frozen", 4, link("database"), (*proof).freezeDatabase, 100 * time.Millisecond, 2 * time.Second},
	{"connections to a replica break", 5, link("front"), (*proof).resetFront, 0, 0},
	{"a replica's answers are truncated", 5, link("front"), (*proof).cutFront, 200 * time.Millisecond, 2 * time.Second},
	{"the way to a replica is frozen", 4, link("front"), (*proof).freezeFront, 100 * time.Millisecond, 3 * time.Second},
	{"the provider misbehaves", 12, link("provider"), (*proof).breakProvider, 500 * time.Millisecond, 4 * time.Second},
	{"the provider is killed", 3, always("sandbox"), (*proof).killBox, 0, time.Second},
	{"the provider is frozen", 3, always("sandbox"), (*proof).freezeBox, 200 * time.Millisecond, 3 * time.Second},
	{"webhooks are refused", 3, always("webhooks"), (*proof).refuseWebhooks, 200 * time.Millisecond, 3 * time.Second},
	{"the provider's webhook secret is rotated by SIGHUP", 3, always("sandbox"), (*proof).rotateWebhookSecret, 200 * time.Millisecond, 2 * time.Second},
	{"a clock steps", 4, link("clock"), (*proof).stepClock, 0, 0},
	{"the database is migrated again", 2, always("migration"), (*proof).migrate, 500 * time.Millisecond, 3 * time.Second},
	{"the encryption keys are rotated", 1, always("keys"), (*proof).rotateKeys, 0, 0},
	{"the key of the tokens is rotated", 1, always("keys"), (*proof).rotateTokenKey, 0, 0},
}

func (p *proof) killReplica(_ *testing.T, i int, _ *rand.Rand) func() {
	n := p.nodes[i]
	n.process.kill()
	return n.start
}

func (p *proof) freezeReplica(_ *testing.T, i int, _ *rand.Rand) func() {
	frozen := p.nodes[i].process
	frozen.signal(syscall.SIGSTOP)
	return func() { frozen.signal(syscall.SIGCONT) }
}

// restartReplica ends it as an operator does.
func (p *proof) restartReplica(t *testing.T, i int, _ *rand.Rand) func() {
	t.Helper()
	n := p.nodes[i]
	n.process.signal(syscall.SIGTERM)
	return func() {
		select {
		case <-n.process.done:
		case <-time.After(10 * time.Second):
			n.process.kill()
		}
		n.start()
	}
}

func (p *proof) killPostgres(t *testing.T, _ int, _ *rand.Rand) func() {
	t.Helper()
	crash(t, p.pg)
	return func() { p.servedBy(revive(t, p.pg)) }
}

func (p *proof) freezePostgres(t *testing.T, _ int, _ *rand.Rand) func() {
	t.Helper()
	of := append([]int{p.pg.Pid()}, children(p.pg.Pid())...)
	for _, pid := range of {
		_ = syscall.Kill(pid, syscall.SIGSTOP)
	}
	return func() {
		for _, pid := range slices.Backward(of) {
			_ = syscall.Kill(pid, syscall.SIGCONT)
		}
	}
}

// children are the child processes of a process.
func children(of int) (all []int) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range stats {
		text, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
		if len(fields) > 1 && fields[1] == strconv.Itoa(of) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
			all = append(all, pid)
		}
	}
	return all
}

func (p *proof) resetDatabase(_ *testing.T, i int, _ *rand.Rand) func() {
	p.nodes[i].database.Reset()
	return nil
}

func (p *proof) loseDatabase(_ *testing.T, i int, _ *rand.Rand) func() {
	p.nodes[i].database.Blackhole()
	return nil
}

func (p *proof) cutDatabase(_ *testing.T, i int, d *rand.Rand) func() {
	way := p.nodes[i].database
	way.CutAfter(int64(1 + d.IntN(20_000)))
	way.Reset()
	return func() { way.CutAfter(0) }
}

func (p *proof) freezeDatabase(_ *testing.T, i int, _ *rand.Rand) func() {
	p.nodes[i].database.Freeze()
	return p.nodes[i].database.Thaw
}

func (p *proof) resetFront(_ *testing.T, i int, _ *rand.Rand) func() {
	p.fronts[i].Reset()
	return nil
}

func (p *proof) cutFront(_ *testing.T, i int, d *rand.Rand) func() {
	p.fronts[i].CutAfter(int64(1 + d.IntN(1500)))
	return func() { p.fronts[i].CutAfter(0) }
}

func (p *proof) freezeFront(_ *testing.T, i int, _ *rand.Rand) func() {
	p.fronts[i].Freeze()
	return p.fronts[i].Thaw
}

// breakProvider breaks one of two or three calls of a replica. The lies are responses that the provider never gave, to calls that it did.
func (p *proof) breakProvider(_ *testing.T, i int, d *rand.Rand) func() {
	lie := func(status int, body string) faults.Fault {
		return func(on faults.Way) faults.Way {
			return func(r *faults.Request) *faults.Response {
				on(r)
				return &faults.Response{Status: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: []byte(body)}
			}
		}
	}
	all := []faults.Fault{
		faults.Lose, faults.Drop, faults.Hang, faults.Cut, faults.Answer(http.StatusBadGateway, ""), faults.Answer(http.StatusTooManyRequests, "{}"),
		faults.Delay(time.Duration(200+d.IntN(1500)) * time.Millisecond), lie(http.StatusOK, "<html>We are back soon</html>"), lie(http.StatusInternalServerError, "{}"),
		lie(http.StatusOK, "{}"), arriveLate(time.Duration(1100+d.IntN(5000)) * time.Millisecond),
	}
	at, every := d.IntN(len(all)), 1+d.IntN(3)
	which := []func(*faults.Request) bool{faults.Commands, func(*faults.Request) bool { return true }}[d.IntN(2)]
	gate := p.nodes[i].provider
	gate.Break(faults.When(everyNth(every, which), all[at]))
	return gate.Mend
}

// arriveLate lets a call arrive after its caller has given up and others may have looked for its effect.
func arriveLate(by time.Duration) faults.Fault {
	return func(on faults.Way) faults.Way {
		return func(r *faults.Request) *faults.Response {
			ctx := context.WithoutCancel(r.Context())
			breathe(ctx, by)
			return on(&faults.Request{Request: r.WithContext(ctx), Body: r.Body})
		}
	}
}

func (p *proof) killBox(t *testing.T, _ int, _ *rand.Rand) func() {
	t.Helper()
	p.box.kill()
	return p.startBox
}

func (p *proof) freezeBox(_ *testing.T, _ int, _ *rand.Rand) func() {
	frozen := p.box
	frozen.signal(syscall.SIGSTOP)
	return func() { frozen.signal(syscall.SIGCONT) }
}

func (p *proof) refuseWebhooks(_ *testing.T, _ int, _ *rand.Rand) func() {
	p.hooks.shut()
	return func() { p.hooks.Break(p.courier.carry) }
}

// activeFault is a fault that is under way.
type activeFault struct {
	name, target string
	until        time.Time
	end          func()
}

// attack lets faults happen by the dice, up to three at a time, until the time is over. Then all have ended.
func (p *proof) attack(t *testing.T, d *rand.Rand, until time.Time) {
	t.Helper()
	var under []activeFault
	end := func(late func(b activeFault) bool) {
		under = slices.DeleteFunc(under, func(b activeFault) bool {
			if !late(b) {
				return false
			}
			b.end()
			p.history.note("mended", b.target, "%s", b.name)
			return true
		})
	}
	next := time.Now()
	for time.Now().Before(until) && t.Context().Err() == nil && !p.caught() {
		end(func(b activeFault) bool { return time.Now().After(b.until) })
		p.supervise(t, func(target string) bool { return taken(under, target) })
		if time.Now().After(next) && len(under) < 3 {
			if b, ok := p.strike(t, d, under); ok && b.end != nil {
				under = append(under, b)
			}
			next = time.Now().Add(time.Duration(50+d.IntN(900)) * time.Millisecond)
		}
		breathe(t.Context(), 10*time.Millisecond)
	}
	end(func(activeFault) bool { return true })
}

// strike lets the next fault happen, unless its target has one.
func (p *proof) strike(t *testing.T, d *rand.Rand, under []activeFault) (activeFault, bool) {
	t.Helper()
	m := pick(d)
	target, lasts := m.target(d), m.least
	if m.most > m.least {
		lasts += time.Duration(d.Int64N(int64(m.most - m.least)))
	}
	own := rand.New(rand.NewPCG(d.Uint64(), d.Uint64()))
	everybody := strings.HasPrefix(target, "replica") && taken(under, "keys") || target == "keys" && slices.ContainsFunc(under, func(b activeFault) bool { return strings.HasPrefix(b.target, "replica") })
	if taken(under, target) || everybody || !p.can(m.name) {
		return activeFault{}, false
	}
	i := 0
	if at := strings.LastIndexByte(target, ' '); at >= 0 {
		i, _ = strconv.Atoi(target[at+1:])
	}
	p.history.note("fault", target, "%s for %s", m.name, lasts)
	p.history.count("fault: " + m.name)
	return activeFault{m.name, target, time.Now().Add(lasts), m.begin(p, t, i, own)}, true
}

// can tells whether a kind of fault is possible now.
func (p *proof) can(kind string) bool {
	switch kind {
	case promoted:
		return p.pair != nil && p.pair.standby != nil
	case full:
		return p.disks != nil
	default:
		return true
	}
}

func taken(under []activeFault, target string) bool {
	return slices.ContainsFunc(under, func(b activeFault) bool { return b.target == target })
}

func pick(d *rand.Rand) faultKind {
	sum := 0
	for _, m := range faultKinds {
		sum += m.weight
	}
	at := d.IntN(sum)
	for _, m := range faultKinds {
		if at -= m.weight; at < 0 {
			return m
		}
	}
	panic(fmt.Sprint("unreachable: ", at))
}
