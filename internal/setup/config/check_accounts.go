package config

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider"
	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/all"
)

var accountName = regexp.MustCompile(`^[a-z0-9-]{1,64}$`)

func (r *report) accounts(c *Config) {
	var names []string
	for i, a := range c.Accounts {
		key := index("accounts", i)
		r.name(key+".name", a.Name, names)
		names = append(names, a.Name)
		r.account(key, a)
		if !c.has(a.Cell) {
			r.add(key+".cell", "must be the number of a configured cell, or 0")
		}
	}
	r.defaultAccount("default_account", c, c.DefaultAccount, 0, names)
	for i, of := range c.Cells {
		r.defaultAccount(index("cells", i)+".default_account", c, of.DefaultAccount, of.Number, names)
	}
}

// has reports whether there is a cell.
func (c *Config) has(number int) bool {
	return number == 0 || slices.ContainsFunc(c.Cells, func(of Cell) bool { return of.Number == number })
}

// defaultAccount leaves out accounts that have errors of their own.
func (r *report) defaultAccount(key string, c *Config, name string, number int, names []string) {
	if name == "" {
		return
	}
	i := slices.Index(names, name)
	switch {
	case i < 0 && !r.misnamed(names):
		r.add(key, "is not among the accounts (%s)%s", strings.Join(names, ", "), Suggest(name, names))
	case i >= 0 && !r.touches(index("accounts", i)) && !c.Accounts[i].CanCharge():
		r.add(key, "the account can't charge: it needs %s", needs(provider.Kinds()[c.Accounts[i].Kind]))
	case i >= 0 && !r.touches(index("accounts", i)) && c.Accounts[i].uncalled():
		r.add(key, "the account only receives webhooks, because paylatch can't start payments of the kind %s; choose another account, or leave the key out", c.Accounts[i].Kind)
	case i >= 0 && !r.touches(index("accounts", i)) && c.Accounts[i].Cell != number:
		r.add(key, "the account is in cell %d; choose an account of cell %d", c.Accounts[i].Cell, number)
	}
}

// orderPrefix is the beginning of an order_id that a merchant chooses.
var orderPrefix = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,64}$`)

func (r *report) cells(c *Config) {
	var numbers []int
	var prefixes []string
	for i, of := range c.Cells {
		key := index("cells", i)
		switch {
		case of.Number < 1 || of.Number >= 1<<payment.CellBits:
			r.add(key+".number", "must be 1 to %d", 1<<payment.CellBits-1)
		case slices.Contains(numbers, of.Number):
			r.add(key+".number", "an earlier cell has the same number; choose another")
		}
		numbers = append(numbers, of.Number)
		if of.DatabaseURL == "" {
			r.add(key+".database_url", "is missing: set a PostgreSQL, such as postgres://user:password@host/database")
		}
		r.databaseURL(key+".database_url", of.DatabaseURL)
		r.databaseURL(key+".direct_url", of.DirectURL)
		r.databaseURL(key+".read_url", of.ReadURL)
		if c.Database.Pooler == TransactionPooler && of.DirectURL == "" {
			r.add(key+".direct_url", "is missing: database.pooler is transaction, but LISTEN and migrations need sessions of their own")
		}
		if able := c.chargeable(of.Number); of.DefaultAccount == "" && len(able) > 1 {
			r.add(key+".default_account", "several accounts of the cell can charge; choose one of %s", strings.Join(able, ", "))
		}
		for j, p := range of.OrderPrefixes {
			r.orderPrefix(index(key+".order_prefixes", j), p, prefixes)
			prefixes = append(prefixes, p)
		}
	}
}

// orderPrefix checks that a prefix leads to one cell.
func (r *report) orderPrefix(key, prefix string, earlier []string) {
	overlaps := func(p string) bool { return strings.HasPrefix(p, prefix) || strings.HasPrefix(prefix, p) }
	switch {
	case !orderPrefix.MatchString(prefix):
		r.add(key, "must be 1 to 64 characters of A–Z, a–z, 0–9 and . _ : -")
	case slices.ContainsFunc(earlier, overlaps):
		r.add(key, "overlaps with an earlier prefix: each order_id must belong to one cell")
	case overlaps(payment.OwnOrderPrefix):
		r.add(key, "overlaps with %s, the prefix of order ids that paylatch creates; choose another", payment.OwnOrderPrefix)
	}
}

// misnamed reports whether the accounts, or the name of one, could not be read.
func (r *report) misnamed(names []string) bool {
	for i := range names {
		if r.touches(index("accounts", i) + ".name") {
			return true
		}
	}
	return len(names) == 0 && r.touches("accounts")
}

func (r *report) name(key, name string, earlier []string) {
	switch {
	case !accountName.MatchString(name):
		r.add(key, "must be 1 to 64 of a–z, 0–9 and -")
	case slices.Contains(earlier, name):
		r.add(key, "an earlier account has the same name; choose another")
	}
}

func (r *report) account(key string, a Account) {
	k, ok := provider.Kinds()[a.Kind]
	if !ok {
		r.add(key+".kind", "must be one of %s%s", strings.Join(all.Kinds(), ", "), Suggest(a.Kind, all.Kinds()))
		return
	}
	r.url(key+".base_url", a.BaseURL)
	r.url(key+".public_url", a.PublicURL)
	r.oneOf(key+".late_success", a.LateSuccess, "manual", "auto_refund")
	r.oneOf(key+".second_hold", a.SecondHold, "cancel", "review")
	if a.LateSuccess == "auto_refund" && !a.refunds() {
		r.add(key+".late_success", "must be manual: paylatch can't send refunds for this account, because its kind does not support refunds or the keys for calls are missing")
	}
	r.oneOf(key+".enabled", a.Enabled, enabledPays, enabledWebhooks, enabledAll)
	r.foreign(key, a)
	r.ownKeys(key, a, k)
	r.positive(key+".expiry.awaiting_customer", a.Expiry.AwaitingCustomer)
	r.positive(key+".expiry.authorized", a.Expiry.Authorized)
	r.positive(key+".expiry.slow", a.Expiry.Slow)
	r.positive(key+".breaker.open_for", a.Breaker.OpenFor)
	r.natural(key+".breaker.failures", a.Breaker.Failures)
	r.natural(key+".rate_limit.per_second", a.RateLimit.PerSecond)
	r.natural(key+".rate_limit.burst", a.RateLimit.Burst)
	if a.RateLimit.Burst > 0 && a.RateLimit.PerSecond == 0 {
		r.add(key+".rate_limit.burst", "has no effect without per_second")
	}
	for _, field := range a.present() {
		if !understands(k, field) {
			r.add(key+"."+field, "is not a key of the kind %s; remove it", a.Kind)
		}
	}
	currency := string(a.Fields[webhooks.CurrencyKey().Name])
	if _, listed := (webhooks.Money{Currency: currency}).Decimal(); currency != "" && !listed {
		r.add(key+".currency", "must be a currency of ISO 4217 in upper case, such as RUB")
	}
	r.complete(key, a, k)
	r.verifier(key, a)
}

// ownKeys checks the keys that only some kinds have.
func (r *report) ownKeys(key string, a Account, k provider.Kind) {
	for _, own := range k.Keys {
		value := string(a.Fields[own.Name])
		if value == "" {
			continue
		}
		if own.OneOf != nil {
			r.oneOf(key+"."+own.Name, value, own.OneOf...)
		}
		if own.With != "" && a.Fields[own.With] == "" {
			r.add(key+"."+own.With, "is required with %s", own.Name)
		}
	}
}

const (
	enabledPays     = "pays"
	enabledWebhooks = "webhooks"
	enabledAll      = "all"
)

const (
	foreignCount  = "count"
	foreignReview = "review"
	// foreignMost is how long a foreign event is found by a name that an attempt gains.
	foreignMost = 30 * 24 * time.Hour
)

func (r *report) foreign(key string, a Account) {
	if a.Foreign != "" {
		r.oneOf(key+".foreign", a.Foreign, foreignCount, foreignReview)
	}
	if a.ForeignAfter <= 0 || a.ForeignAfter > foreignMost {
		r.add(key+".foreign_after", "must be longer than 0 and at most 720h, such as 10m")
	}
}

// complete checks that the account is good for something and that nothing was begun without being finished.
func (r *report) complete(key string, a Account, k provider.Kind) {
	if (a.Fields["basic_auth.user"] == "") != (a.Fields["basic_auth.password"] == "") {
		r.add(key+".basic_auth", "needs both user and password")
	}
	var covered []string
	for _, group := range [][]string{k.Webhooks, k.Calls} {
		lacking := a.missing(group)
		begun := slices.DeleteFunc(slices.Clone(group), func(f string) bool {
			return slices.Contains(lacking, f) || slices.Contains(covered, f) || slices.Contains(everyKind(), f) || a.onlyNames(f)
		})
		if len(lacking) == 0 || len(begun) > 0 {
			covered = append(covered, group...)
		}
		for _, field := range lacking {
			if len(begun) > 0 {
				r.add(key+"."+field, "is required with %s", strings.Join(begun, " and "))
			}
		}
	}
	if !a.CanCharge() && !a.TakesWebhooks() && !r.touches(key) {
		r.add(key, "can neither receive webhooks nor charge: the kind %s needs %s", a.Kind, needs(k))
	}
	if a.Enabled == enabledPays && (!a.CanCharge() || a.uncalled()) && !r.touches(key) {
		r.add(key+".enabled", "must not be pays: the account can't charge")
	}
}

// onlyNames reports whether a key names the merchant of an account that receives webhooks, which begins no configuration of calls.
func (a Account) onlyNames(key string) bool {
	return a.TakesWebhooks() && slices.Contains(provider.Kinds()[a.Kind].Adapter.Merchant.Keys, key)
}

func needs(k provider.Kind) string {
	var parts []string
	if len(k.Webhooks) > 0 {
		parts = append(parts, strings.Join(k.Webhooks, " and ")+" to receive webhooks")
	}
	if len(k.Calls) > 0 {
		parts = append(parts, strings.Join(k.Calls, " and ")+" to charge")
	}
	return strings.Join(parts, ", ")
}

// verifier makes the account's verifier, so that a key of the wrong form is found now and not with the first webhook.
func (r *report) verifier(key string, a Account) {
	if r.touches(key) || !a.TakesWebhooks() {
		return
	}
	c, err := a.Webhooks()
	if err != nil {
		r.add(key+".cert_roots", "%v", err)
		return
	}
	c.Certificate = func(context.Context, string) ([]byte, error) { return nil, errOffline }
	if _, err := all.New(a.Kind, c); err != nil {
		r.add(key, "can't verify webhooks: %v", err)
	}
}
