package overview

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/paylatch/paylatch/internal/events/endpoint"
)

// standing lists the accounts that have a breaker or are held, by name.
func (s *Service) standing() []Standing {
	by := map[string]Standing{}
	for account, state := range s.Breakers() {
		by[account] = Standing{Account: account, Breaker: breaker(state)}
	}
	for _, account := range s.Held() {
		by[account] = Standing{Account: account, Breaker: cmp.Or(by[account].Breaker, Closed), Held: true}
	}
	list := make([]Standing, 0, len(by))
	for _, account := range slices.Sorted(maps.Keys(by)) {
		list = append(list, by[account])
	}
	return list
}

// breaker returns the state that a gauge of package metrics has.
func breaker(state float64) Breaker {
	switch state {
	case 0:
		return Closed
	case 1:
		return HalfOpen
	}
	return Open
}

func (s *Service) readEndpoints(ctx context.Context, o *Overview) error {
	list, err := s.Endpoints.List(ctx)
	if err != nil {
		return err
	}
	for _, one := range list {
		e := Endpoint{Name: one.Name, Gone: one.State == endpoint.Gone, Behind: one.Behind, Retries: one.Retries, Dead: one.Dead}
		if !one.Oldest.IsZero() {
			e.Oldest = max(0, o.At.Sub(one.Oldest))
		}
		o.Endpoints = append(o.Endpoints, e)
	}
	return nil
}

// UnknownByAge returns the number of unknown outcomes by account and age, every age included, for the metrics.
func (s *Service) UnknownByAge(ctx context.Context) (map[string]map[string]int64, error) {
	o, err := s.Read(ctx)
	if err != nil {
		return nil, err
	}
	by := map[string]map[string]int64{}
	for _, u := range o.Unknown.Accounts {
		ages := map[string]int64{}
		for _, b := range Bands() {
			ages[string(b)] = u.Ages[b]
		}
		by[u.Account] = ages
	}
	return by, nil
}
