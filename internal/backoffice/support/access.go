package support

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/paylatch/paylatch/internal/payment"
)

// Refusal is a refused sign-in, token, or call that is for staff.
type Refusal struct {
	Action Action
	// Staff is the caller, as far as it was authenticated.
	Staff
	// Call is the call; empty for a sign-in.
	Call string
	// Reason is a text of ours, never the caller's: refusals of one reason are sampled together.
	Reason string
}

const (
	// sampleTime is how long refusals are counted together.
	sampleTime = time.Hour
	// sampledEach and sampledAll bound the entries of one action and reason in that time, for one peer and for all. The rest is counted in
	// one more entry.
	sampledEach = 5
	sampledAll  = 40
	// maxReasons, maxPeers and maxUnsaved bound the memory, the last while the storage is gone.
	maxReasons = 64
	maxPeers   = 1000
	maxUnsaved = 4096
	// namedPeers is the number of peers in the audit log entry that counts the rest.
	namedPeers = 10
)

// AccessLog writes sign-outs, and a sample of the refusals, into the audit log. A flood of refusals fills neither the disk nor the memory.
// No caller waits for the writes. A process that crashes loses the entries since its last Flush. It is safe for concurrent use.
type AccessLog struct {
	store Store
	now   func() time.Time

	flushing sync.Mutex
	mu       sync.Mutex
	samples  map[sampled]*sample
	unsaved  []AuditEntry
}

// sampled is the key of a sample.
type sampled struct {
	action Action
	reason string
}

type sample struct {
	begun   time.Time
	written int
	// peers counts the refusals of each peer. rest counts the refusals without an entry of their own; last is the latest of these.
	peers map[string]int
	rest  int
	last  Refusal
}

// NewAccessLog returns an access log that is written by Flush.
func NewAccessLog(store Store, now func() time.Time) *AccessLog {
	return &AccessLog{store: store, now: now, samples: map[sampled]*sample{}}
}

// SignedOut records a sign-out. It does not wait: a session ends whether or not that can be written now.
func (l *AccessLog) SignedOut(who Staff) {
	d := who.entry(SignedOut, "", "")
	d.ID, d.Outcome = payment.OnlyCell.NewID(), Done
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unsaved = append(l.unsaved, d)
}

// Refused records a refusal. It does not wait.
func (l *AccessLog) Refused(r Refusal) {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := sampled{r.Action, r.Reason}
	if l.samples[key] == nil && len(l.samples) >= maxReasons {
		key.reason = ""
	}
	s := l.samples[key]
	if s == nil {
		s = &sample{begun: l.now(), peers: map[string]int{}}
		l.samples[key] = s
	}
	from := peer(r.Address)
	if _, counted := s.peers[from]; counted || len(s.peers) < maxPeers {
		s.peers[from]++
	}
	if n := s.peers[from]; n < 1 || n > sampledEach || s.written >= sampledAll || len(l.unsaved) >= maxUnsaved {
		s.rest, s.last = s.rest+1, r
		return
	}
	s.written++
	l.unsaved = append(l.unsaved, r.entry(map[string]any{"refusal": r.Reason}))
}

// peer returns the sender of an address: for IPv6 a network of 64 bits, in which one machine has all addresses.
func peer(address string) string {
	ip, err := netip.ParseAddr(address)
	if err != nil || !ip.Is6() || ip.Is4In6() {
		return address
	}
	network, _ := ip.WithZone("").Prefix(64)
	return network.String()
}

func (r Refusal) entry(detail map[string]any) AuditEntry {
	d := r.Staff.entry(r.Action, "", r.Call)
	if r.Call != "" {
		d.TargetType = "call"
	}
	d.ID, d.Outcome, d.Detail = payment.OnlyCell.NewID(), Refused, detail
	return d
}

// Flush writes the records, and the counts of the past hours. Records that the storage does not accept stay for the next call.
func (l *AccessLog) Flush(ctx context.Context) error { return l.flush(ctx, sampleTime) }

// Close is Flush that also counts the hours that are not over.
func (l *AccessLog) Close(ctx context.Context) error { return l.flush(ctx, 0) }

func (l *AccessLog) flush(ctx context.Context, least time.Duration) error {
	l.flushing.Lock()
	defer l.flushing.Unlock()
	list := l.take(least)
	for i, d := range list {
		err := l.store.AuditInsert(ctx, d)
		if errors.Is(err, payment.ErrUnavailable) || ctx.Err() != nil {
			l.mu.Lock()
			l.unsaved = append(list[i:], l.unsaved...)
			l.mu.Unlock()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// take returns the audit log entries to write, and ends the samples that are at least so old.
func (l *AccessLog) take(least time.Duration) []AuditEntry {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := l.unsaved
	l.unsaved = nil
	for key, s := range l.samples {
		if l.now().Sub(s.begun) < least {
			continue
		}
		delete(l.samples, key)
		if s.rest > 0 {
			list = append(list, s.last.entry(s.summary(key.reason)))
		}
	}
	return list
}

// summary returns the detail of the entry that counts the rest.
func (s *sample) summary(reason string) map[string]any {
	names := make([]string, 0, len(s.peers))
	for name := range s.peers {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return s.peers[b] - s.peers[a] })
	most := make(map[string]int, namedPeers)
	for _, name := range names[:min(len(names), namedPeers)] {
		most[name] = s.peers[name]
	}
	return map[string]any{"refusal": reason, "more": s.rest, "since": s.begun.UTC().Format(time.RFC3339), "peers": len(s.peers), "most": most}
}
