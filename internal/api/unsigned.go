package api

import (
	"context"
	"net/netip"
	"slices"
	"sync"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/api/render"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/throttle"
	"github.com/paylatch/paylatch/webhooks"
)

// Anyone may send unsigned deliveries. Each sender's network has a limit of its own, so that it can't use up the limit of another.
// All unsigned deliveries share a few lanes, so that other work of the database comes first.
const (
	// lookupsEach and lookupsAtOnce are how many deliveries of a network are looked up
	// in a second, and at once after a pause: whether a payment exists here.
	lookupsEach   = 2000
	lookupsAtOnce = 4000
	// unsignedEach and unsignedAtOnce are how many of existing payments an account takes from one network: each is stored
	// and costs a request to the provider.
	unsignedEach   = 50
	unsignedAtOnce = 500
	// unsignedBytes are stored of one: YooKassa's payments, the largest of these, have up
	// to 16 × 512 characters of metadata, in UTF-8.
	unsignedBytes = 32 << 10
	// unsignedLanes is how many unsigned webhooks are processed at a time; networkLanes is how many of them may come
	// from one network.
	unsignedLanes = 64
	networkLanes  = 32
)

// takeUnsigned takes in an unsigned delivery about a payment that exists here. A delivery about another payment is kept in
// memory for a while and not stored.
func (rc *Receiver) takeUnsigned(ctx context.Context, from netip.Addr, list []payment.ReceivedEvent) ([]fsm.Verdict, error) {
	network := throttle.Network(from)
	if rc.lookups.Reserve(network, list[0].At) > 0 || !rc.lanes.enter(network) {
		return nil, payment.ErrOverloaded
	}
	defer rc.lanes.leave(network)
	switch known, err := rc.known(ctx, list); {
	case err != nil:
		return nil, err
	case !known && tooMuch(list[0]):
		return nil, errTooMuch()
	case !known:
		if err := rc.Payments.Early(list[0].Account+" "+network, list); err != nil {
			return nil, err
		}
		return unknown(list), nil
	case rc.unsigned.Reserve(list[0].Account+" "+network, list[0].At) > 0:
		return nil, payment.ErrOverloaded
	case tooMuch(list[0]):
		return nil, errTooMuch()
	}
	return rc.Payments.Intake(ctx, list)
}

// known reports whether a delivery is about a payment that exists here. An unreadable delivery names no payment: if the sender's
// address authenticates it, it is stored all the same.
func (rc *Receiver) known(ctx context.Context, list []payment.ReceivedEvent) (bool, error) {
	if anyUnreadable(list) {
		return true, nil
	}
	return rc.Payments.Known(ctx, list)
}

// takeUnreadable stores signed deliveries that can't be parsed, under the rate limit of unsigned deliveries: a provider may sign a flood on
// demand. Their size does not matter, since the provider would send the same bytes again.
func (rc *Receiver) takeUnreadable(ctx context.Context, from netip.Addr, list []payment.ReceivedEvent) ([]fsm.Verdict, error) {
	network := throttle.Network(from)
	if rc.unsigned.Reserve(list[0].Account+" "+network, list[0].At) > 0 || !rc.lanes.enter(network) {
		return nil, payment.ErrOverloaded
	}
	defer rc.lanes.leave(network)
	return rc.Payments.Intake(ctx, list)
}

func anyUnreadable(list []payment.ReceivedEvent) bool {
	return slices.ContainsFunc(list, func(r payment.ReceivedEvent) bool { return r.Event.Kind == webhooks.KindUnreadable })
}

func unsigned(r payment.ReceivedEvent) bool { return r.Event.SecretIndex < 0 }

func anyUnsigned(list []payment.ReceivedEvent) bool { return slices.ContainsFunc(list, unsigned) }

// unknown returns the verdicts on a delivery of a payment that does not exist here.
func unknown(list []payment.ReceivedEvent) []fsm.Verdict {
	verdicts := make([]fsm.Verdict, len(list))
	for i, r := range list {
		verdicts[i] = payment.VerdictUnmatched
		if r.Event.Kind == webhooks.KindIgnored {
			verdicts[i] = payment.Ignored
		}
	}
	return verdicts
}

// tooMuch reports whether a delivery is larger than an unsigned one may be.
func tooMuch(r payment.ReceivedEvent) bool {
	size := len(r.Body)
	for name, value := range r.Headers {
		size += len(name) + len(value)
	}
	return size > unsignedBytes
}

func errTooMuch() error {
	return render.Refuse("body-too-large", "Send a smaller body, query and headers: the webhook is unsigned.")
}

// lanes bound how many deliveries are worked on at once. The zero value is ready.
type lanes struct {
	mu       sync.Mutex
	busy     int
	networks map[string]int
}

// enter reports whether there is a lane, which is given back by leave.
func (l *lanes) enter(network string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.busy >= unsignedLanes || l.networks[network] >= networkLanes {
		return false
	}
	if l.networks == nil {
		l.networks = make(map[string]int)
	}
	l.busy++
	l.networks[network]++
	return true
}

func (l *lanes) leave(network string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.busy--
	if l.networks[network]--; l.networks[network] == 0 {
		delete(l.networks, network)
	}
}
