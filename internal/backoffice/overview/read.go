package overview

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/paylatch/paylatch/internal/payment"
)

const (
	hoursShown = 24
	week       = 7 * 24 * time.Hour
	// mostOpen bounds how many open operations are looked at.
	mostOpen = 200_000
)

func (s *Service) read(ctx context.Context) (Overview, error) {
	now := s.Now().UTC()
	o := Overview{At: now}
	hour := now.Truncate(time.Hour)
	for _, part := range []func() error{
		func() (err error) { o.Uncounted, err = s.Store.Uncounted(ctx); return err },
		func() error { return s.readHours(ctx, &o, hour.Add(-(hoursShown-1)*time.Hour)) },
		func() error { return s.readRates(ctx, &o, hour) },
		func() error { return s.readOpen(ctx, &o) },
		func() (err error) { o.Cases, err = s.Store.Cases(ctx); return err },
		func() (err error) { o.Silent, err = s.Accounts.Stale(ctx); return err },
		func() error { return s.readEndpoints(ctx, &o) },
	} {
		if err := part(); err != nil {
			return Overview{}, err
		}
	}
	worstFirst(o.Cases)
	o.Standing = s.standing()
	return o, nil
}

func (s *Service) readHours(ctx context.Context, o *Overview, since time.Time) error {
	list, err := s.Store.Series(ctx, since)
	if err != nil {
		return err
	}
	o.Hours = make([]Hour, hoursShown)
	for i := range o.Hours {
		o.Hours[i].From = since.Add(time.Duration(i) * time.Hour)
	}
	for _, one := range list {
		i := int(one.Hour.Sub(since) / time.Hour)
		switch {
		case one.Subject == "refund":
			o.Refunds.add(one)
		case one.Subject == "attempt" && i >= 0 && i < hoursShown:
			o.Hours[i].add(one)
		}
	}
	return nil
}

func (h *Hour) add(o Outcome) {
	switch {
	case o.Status == "succeeded":
		h.Succeeded += o.Count
		h.Volume = sum(h.Volume, o)
	case o.Cancelled:
		h.Cancelled += o.Count
	default:
		h.Failed += o.Count
	}
}

func (r *Refunds) add(o Outcome) {
	if o.Status != "succeeded" {
		r.Failed += o.Count
		return
	}
	r.Succeeded += o.Count
	r.Sums = sum(r.Sums, o)
}

// sum adds an amount to a list that is in the order of its currencies.
func sum(list []payment.Money, o Outcome) []payment.Money {
	c := payment.Currency(o.Currency)
	i, there := slices.BinarySearchFunc(list, c, func(m payment.Money, c payment.Currency) int { return cmp.Compare(m.Currency, c) })
	if !there {
		list = slices.Insert(list, i, payment.Money{Currency: c})
	}
	list[i].Minor += o.Amount
	return list
}

func (s *Service) readRates(ctx context.Context, o *Overview, hour time.Time) error {
	end := hour.Add(time.Hour)
	list, err := s.Store.Rates(ctx, end.Add(-24*time.Hour), end.Add(-week), end.Add(-2*week))
	if err != nil {
		return err
	}
	o.Accounts = approvals(list, func(r Rates) string { return r.Account })
	o.Currencies = approvals(list, func(r Rates) string { return r.Currency })
	return nil
}

// approvals sums rates up by a name.
func approvals(list []Rates, name func(Rates) string) []Approval {
	by := map[string]Approval{}
	for _, r := range list {
		by[name(r)] = Approval{name(r), r.Day, r.Week, r.Before}.Plus(by[name(r)])
	}
	all := make([]Approval, 0, len(by))
	for _, a := range by {
		all = append(all, a)
	}
	slices.SortFunc(all, func(a, b Approval) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

func (s *Service) readOpen(ctx context.Context, o *Overview) error {
	list, err := s.Store.Open(ctx, mostOpen)
	if err != nil {
		return err
	}
	var looked int64
	by := map[string]map[Band]int64{}
	for _, one := range list {
		looked += one.Count
		if one.Refund {
			o.Refunds.Pending += one.Count
		}
		if !slices.Contains(Bands(), one.Band) {
			continue
		}
		if by[one.Account] == nil {
			by[one.Account] = map[Band]int64{}
		}
		by[one.Account][one.Band] += one.Count
		o.Unknown.Total += one.Count
		if o.Unknown.Oldest.IsZero() || one.Oldest.Before(o.Unknown.Oldest) {
			o.Unknown.Oldest = one.Oldest
		}
	}
	o.Unknown.More = looked >= mostOpen
	for account, ages := range by {
		o.Unknown.Accounts = append(o.Unknown.Accounts, UnknownOf{account, ages})
	}
	slices.SortFunc(o.Unknown.Accounts, func(a, b UnknownOf) int { return cmp.Compare(a.Account, b.Account) })
	return nil
}
