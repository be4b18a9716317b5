package accounts

import (
	"bytes"
	"reflect"
	"slices"

	"github.com/paylatch/paylatch/internal/setup/config"
)

// Changes are the effects of a new configuration.
type Changes struct {
	// Added and Changed are the names of accounts that are in use with their new configuration.
	Added, Changed []string
	// Restart are the keys that take effect at the next start: all keys but accounts, and changes of accounts that would leave
	// open attempts without their provider. An account is named as accounts.NAME.
	Restart []string
}

// Reload puts the accounts of a configuration into use. If an account can't be built, or has another merchant under open payments, no
// account changes.
func (s *Set) Reload(cfg *config.Config) (Changes, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := Changes{Restart: differing(s.start, *cfg)}
	var fresh []entry
	for _, a := range cfg.Accounts {
		was := slices.IndexFunc(s.kept, func(e entry) bool { return e.config.Name == a.Name })
		if was >= 0 && lessens(s.kept[was].config, a) {
			c.Restart = append(c.Restart, "accounts."+a.Name)
			continue
		}
		if was >= 0 {
			a.Merchant = s.kept[was].config.Merchant
		}
		e, err := s.entry(a)
		switch {
		case err != nil:
			return Changes{}, err
		case was < 0:
			c.Added = append(c.Added, a.Name)
		case same(s.kept[was], e):
			continue
		default:
			c.Changed = append(c.Changed, a.Name)
		}
		fresh = append(fresh, e)
	}
	for _, e := range s.kept {
		if !slices.ContainsFunc(cfg.Accounts, func(a config.Account) bool { return a.Name == e.config.Name }) {
			c.Restart = append(c.Restart, "accounts."+e.config.Name)
		}
	}
	if err := s.reown(fresh); err != nil {
		return Changes{}, err
	}
	s.take(fresh)
	return c, nil
}

// take replaces accounts by rebuilt ones, and adds new ones.
func (s *Set) take(fresh []entry) {
	if len(fresh) == 0 {
		return
	}
	s.guard(fresh)
	kept := slices.Clone(s.kept)
	for _, e := range fresh {
		if i := slices.IndexFunc(kept, func(k entry) bool { return k.config.Name == e.config.Name }); i >= 0 {
			kept[i] = e
		} else {
			kept = append(kept, e)
		}
	}
	s.kept = kept
	if s.o.Begun != nil {
		used := make([]config.Account, len(kept))
		for i := range kept {
			used[i] = kept[i].config
		}
		s.o.Begun(Begun(&config.Config{Accounts: used}))
	}
	s.use()
}

// same reports whether two accounts are configured in the same way. A file that one names may have changed.
func same(was, now entry) bool {
	return reflect.DeepEqual(was.config, now.config) && bytes.Equal(was.verification, now.verification)
}

// lessens reports whether an account could do something that it can't any more.
func lessens(was, now config.Account) bool {
	return was.Kind != now.Kind || was.CanCharge() && !now.CanCharge() || was.TakesWebhooks() && !now.TakesWebhooks()
}

// differing lists the keys of the top level but accounts that have changed.
func differing(was, now config.Config) (keys []string) {
	a, b := reflect.ValueOf(was), reflect.ValueOf(now)
	for i := range a.NumField() {
		key := a.Type().Field(i).Tag.Get("koanf")
		if key != "accounts" && !reflect.DeepEqual(a.Field(i).Interface(), b.Field(i).Interface()) {
			keys = append(keys, key)
		}
	}
	return keys
}
