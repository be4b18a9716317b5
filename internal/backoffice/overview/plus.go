package overview

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/paylatch/paylatch/internal/engine/intake"
	"github.com/paylatch/paylatch/internal/payment"
)

// Plus merges the numbers of two services that have no events in common. It adds counts and sums, and computes rates from the
// sums. It takes the oldest age and the worst state. The result has the time of the earlier overview, and the hours of the later
// one.
func (o Overview) Plus(p Overview) Overview {
	return Overview{
		At: earlier(o.At, p.At), Uncounted: o.Uncounted + p.Uncounted,
		Hours:    hours(o.Hours, p.Hours),
		Accounts: together(o.Accounts, p.Accounts, approvalName, Approval.Plus), Currencies: together(o.Currencies, p.Currencies, approvalName, Approval.Plus),
		Unknown: o.Unknown.plus(p.Unknown),
		Cases:   worstFirst(together(o.Cases, p.Cases, func(c Cases) string { return c.Kind }, Cases.plus)),
		Refunds: bothRefunds(o.Refunds, p.Refunds),
		Silent: together(o.Silent, p.Silent, func(s intake.StaleAccount) string { return s.Account }, func(s, _ intake.StaleAccount) intake.StaleAccount {
			return s
		}),
		Standing:  together(o.Standing, p.Standing, func(s Standing) string { return s.Account }, Standing.worse),
		Endpoints: together(o.Endpoints, p.Endpoints, func(e Endpoint) string { return e.Name }, Endpoint.plus),
	}
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func approvalName(a Approval) string { return a.Name }

// together merges two lists by name, and adds up entries of the same name.
func together[T any](a, b []T, name func(T) string, plus func(T, T) T) []T {
	by := make(map[string]T, len(a)+len(b))
	for _, one := range slices.Concat(a, b) {
		if there, twice := by[name(one)]; twice {
			one = plus(there, one)
		}
		by[name(one)] = one
	}
	all := make([]T, 0, len(by))
	for _, n := range slices.Sorted(maps.Keys(by)) {
		all = append(all, by[n])
	}
	return all
}

// hours adds up equal hours. Two services that were read around the end of an hour have 23 hours in common.
func hours(a, b []Hour) []Hour {
	if len(a) == 0 || len(b) > 0 && a[0].From.Before(b[0].From) {
		a, b = b, a
	}
	all := slices.Clone(a)
	for i, h := range all {
		for _, other := range b {
			if other.From.Equal(h.From) {
				all[i] = bothHours(h, other)
			}
		}
	}
	return all
}

func bothHours(h, g Hour) Hour {
	return Hour{h.From, h.Succeeded + g.Succeeded, h.Failed + g.Failed, h.Cancelled + g.Cancelled, sums(h.Volume, g.Volume)}
}

// sums adds money up by currency.
func sums(a, b []payment.Money) []payment.Money {
	return together(a, b, func(m payment.Money) string { return string(m.Currency) }, func(m, n payment.Money) payment.Money {
		return payment.Money{Minor: m.Minor + n.Minor, Currency: m.Currency}
	})
}

func (u Unknown) plus(v Unknown) Unknown {
	all := Unknown{Total: u.Total + v.Total, Oldest: u.Oldest, More: u.More || v.More}
	if all.Oldest.IsZero() || !v.Oldest.IsZero() && v.Oldest.Before(all.Oldest) {
		all.Oldest = v.Oldest
	}
	all.Accounts = together(u.Accounts, v.Accounts, func(a UnknownOf) string { return a.Account }, func(a, b UnknownOf) UnknownOf {
		ages := map[Band]int64{}
		for _, band := range Bands() {
			ages[band] = a.Ages[band] + b.Ages[band]
		}
		return UnknownOf{a.Account, ages}
	})
	return all
}

func (c Cases) plus(d Cases) Cases { return Cases{c.Kind, c.Count + d.Count, max(c.Oldest, d.Oldest)} }

func worstFirst(list []Cases) []Cases {
	slices.SortFunc(list, func(a, b Cases) int { return cmp.Or(cmp.Compare(b.Oldest, a.Oldest), cmp.Compare(a.Kind, b.Kind)) })
	return list
}

func bothRefunds(r, s Refunds) Refunds {
	return Refunds{r.Succeeded + s.Succeeded, r.Failed + s.Failed, r.Pending + s.Pending, sums(r.Sums, s.Sums)}
}

// worse is the state of an account that two services have, which is held if one holds it.
func (s Standing) worse(t Standing) Standing {
	states := []Breaker{Closed, HalfOpen, Open}
	if slices.Index(states, t.Breaker) > slices.Index(states, s.Breaker) {
		s.Breaker = t.Breaker
	}
	s.Held = s.Held || t.Held
	return s
}

// plus is an endpoint that gets the events of two services.
func (e Endpoint) plus(f Endpoint) Endpoint {
	return Endpoint{e.Name, e.Gone || f.Gone, e.Behind + f.Behind, e.Retries + f.Retries, e.Dead + f.Dead, max(e.Oldest, f.Oldest)}
}
