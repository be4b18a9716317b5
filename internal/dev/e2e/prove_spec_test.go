package e2e_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/anishathalye/porcupine"
)

// The sequential specification of an order: which answers are right if the calls had come one after the other. The provider moves an
// attempt between any two calls, so an answer may have newer news of an attempt than any before it, and never older news.

// attemptState is an attempt as its callers have seen it. A floor has the status, and the version only at least.
type attemptState struct {
	key, id, status    string
	version            int
	captured, refunded int64
	floor              bool
}

// orderState is an order as its callers have seen it.
type orderState struct { //nolint:recvcheck // a step changes a copy
	made, cancelled bool
	attempts        []attemptState
}

// effect is a part of a call that happens at once. A pay takes effect when its attempt is there, and its answer shows the attempt as it is
// later; others may see it in between. The cancellation of an order is like that.
type effect struct {
	*clientCall

	answer bool
}

func (d *clientCall) effects() []effect {
	if d.Kind == callPay && d.Status == 201 || d.Kind == callCancelOrder && d.Status == 200 {
		return []effect{{d, false}, {d, true}}
	}
	return []effect{{d, true}}
}

// spec is one order's model. An operation without an answer may have happened, or not.
var spec = porcupine.NondeterministicModel{
	Init:              func() []any { return []any{orderState{}} },
	Step:              func(s, _, did any) []any { return s.(orderState).step(did.(effect)) },
	Equal:             func(a, b any) bool { return a.(orderState).equal(b.(orderState)) },
	DescribeOperation: func(_, did any) string { return did.(effect).String() },
	DescribeState:     func(s any) string { return fmt.Sprintf("%+v", s) },
}

func (k orderState) equal(o orderState) bool {
	return k.made == o.made && k.cancelled == o.cancelled && slices.Equal(k.attempts, o.attempts)
}

func (k orderState) step(d effect) []any {
	k.attempts = slices.Clone(k.attempts)
	var ok bool
	switch {
	case d.Unknown:
		return k.perhaps(d.clientCall)
	case d.Kind == callPay && !d.answer:
		ok = k.begin(d.Key)
	case d.Kind == callCancelOrder && !d.answer:
		k.cancelled, ok = true, k.made
	case d.Kind == callOrder:
		k.made, ok = true, d.Status == 201
	case d.Kind == callRead || d.Kind == callPay && d.Status == 201 || d.Status == 200 && d.Kind != callReadOrder && d.Kind != callCancelOrder:
		ok = k.see(d.Seen)
	case d.Kind == callReadOrder:
		ok = k.seeAll(d.Order)
	case d.Kind == callCancelOrder && d.Status == 200:
		// A repeat shows the order as it is now: a charge of before the request may have paid it.
		again := d.Sends > 1 && d.Order.Status == "paid"
		ok = k.cancelled && (d.Order.Status == "open" || d.Order.Status == "cancelled" && k.end() || again && k.seeAll(d.Order))
	case d.Kind == callRefund && d.Status == 201:
		ok = k.paid(func(s attemptState) bool { return s.id == d.Attempt })
	default:
		return k.refuse(d.clientCall)
	}
	return which(ok, k)
}

// begin makes the attempt of a key, unless it exists. No other attempt is live, and none was paid.
func (k *orderState) begin(key string) bool {
	if slices.ContainsFunc(k.attempts, func(s attemptState) bool { return s.key == key }) {
		return true
	}
	fits := k.made && !k.cancelled && k.end()
	k.attempts = append(k.attempts, attemptState{key: key, status: "pending", version: 1, floor: true})
	return fits
}

// end has all attempts failed, if that can be.
func (k *orderState) end() bool {
	for i, s := range k.attempts {
		if s.status == "pending" {
			k.attempts[i].status, k.attempts[i].version, k.attempts[i].floor = "failed", s.version+1, true
		}
	}
	return !slices.ContainsFunc(k.attempts, func(s attemptState) bool { return s.status == "succeeded" })
}

// paid has an attempt succeeded that matches, if that can be.
func (k *orderState) paid(match func(s attemptState) bool) bool {
	for i, s := range k.attempts {
		if match(s) && s.status == "pending" {
			k.attempts[i].status, k.attempts[i].version, k.attempts[i].floor = "succeeded", s.version+1, true
		}
	}
	return slices.ContainsFunc(k.attempts, func(s attemptState) bool { return match(s) && s.status == "succeeded" })
}

// see learns news of an attempt. A final status stays, the version rises, and one version has one content.
func (k *orderState) see(a attemptView) bool {
	i := slices.IndexFunc(k.attempts, func(s attemptState) bool { return s.id == a.ID || s.id == "" && (a.Key == "" || s.key == a.Key) })
	if i < 0 || a.ID == "" {
		return false
	}
	was, now := k.attempts[i], attemptState{k.attempts[i].key, a.ID, a.Status, a.Version, a.Captured, a.Refunded, false}
	k.attempts[i] = now
	if was.floor || was.version < now.version {
		return was.version <= now.version && (was.status == "pending" || was.status == now.status) && was.refunded <= now.refunded
	}
	return was == now
}

// seeAll learns a whole order: each attempt that was seen is in it, and its status is that of its attempts.
func (k *orderState) seeAll(o *orderView) bool {
	paid := false
	for _, a := range o.Attempts {
		paid = paid || a.Status == "succeeded"
		if !k.see(a) {
			return false
		}
	}
	listed := !slices.ContainsFunc(k.attempts, func(s attemptState) bool {
		return s.id != "" && !slices.ContainsFunc(o.Attempts, func(a attemptView) bool { return a.ID == s.id })
	})
	return listed && paid == (o.Status == "paid") && (k.cancelled || o.Status != "cancelled")
}

// refuse has the reason of a refusal be true.
func (k orderState) refuse(d *clientCall) []any {
	other := slices.ContainsFunc(k.attempts, func(s attemptState) bool { return s.key != d.Key && s.status != "succeeded" })
	switch d.Code {
	case "payment-in-progress":
		return which(other && (d.Seen.ID == "" || k.see(d.Seen)), k)
	case "order-already-paid":
		late := slices.ContainsFunc(k.attempts, func(s attemptState) bool { return s.status != "succeeded" && slices.Contains(d.Late, s.key) })
		asked := orderState{k.made, k.cancelled || d.Kind == callCancelOrder, slices.Clone(k.attempts)}
		paid := k.paid(func(attemptState) bool { return true }) || late
		asked.attempts = k.attempts
		return which(paid, k, asked)
	case "order-cancelled":
		return which(k.cancelled, k)
	default: // of the attempt as it is now, such as attempt-final; its next read shows it
		return which(k.made, k)
	}
}

// perhaps returns the states that are possible after an operation whose answer was lost: it was executed, or it was not.
func (k orderState) perhaps(d *clientCall) []any {
	did := orderState{k.made || d.Kind == callOrder, k.cancelled || d.Kind == callCancelOrder, slices.Clone(k.attempts)}
	if d.Kind == callPay && !did.begin(d.Key) {
		return []any{k}
	}
	return []any{k, did}
}

func which(ok bool, states ...orderState) []any {
	if !ok {
		return nil
	}
	all := make([]any, len(states))
	for i, s := range states {
		all[i] = s
	}
	return all
}

// String is the call in a picture of a history.
func (d effect) String() string {
	text := strings.TrimSpace(fmt.Sprintf("%s %s%s", d.Kind, d.Key, d.Attempt))
	switch {
	case !d.answer:
		return text
	case d.Unknown:
		return text + " → no answer"
	case d.Code != "":
		return fmt.Sprintf("%s → %d %s %s", text, d.Status, d.Code, d.Seen.ID)
	case d.Order != nil:
		return fmt.Sprintf("%s → %+v", text, *d.Order)
	default:
		return fmt.Sprintf("%s → %d %+v", text, d.Status, d.Seen)
	}
}
