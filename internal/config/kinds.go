package config

import (
	"maps"
	"reflect"
	"slices"
)

// kind lists the fields of an account that a provider needs and understands.
type kind struct {
	webhooks []string // needed to prove a webhook
	calls    []string // needed to call the provider; none: it can't be called
	optional []string
	unsigned bool // a webhook is proven by asking the provider
	uncalled bool // there is no adapter yet
}

// kinds has each kind; the manual has it as a table.
func kinds() map[string]kind {
	secrets, key := "webhook_secrets", "api_key"
	return map[string]kind{
		"sandbox":       {webhooks: []string{secrets}, calls: []string{"base_url"}},
		"standard":      {webhooks: []string{secrets}},
		"stripe":        {webhooks: []string{secrets}, calls: []string{key}},
		"adyen":         {webhooks: []string{secrets}, calls: []string{key, "merchant_account"}, optional: []string{"basic_auth", "capture"}},
		"paypal":        {webhooks: []string{"webhook_id"}, calls: []string{"client_id", "client_secret"}, optional: []string{"cert_roots"}},
		"yookassa":      {calls: []string{"shop_id", key}, unsigned: true},
		"cloudpayments": {webhooks: []string{secrets}, calls: []string{"public_id", secrets}, optional: []string{"currency"}},
		"tbank":         {webhooks: []string{secrets}, calls: []string{"terminal_key", secrets}, optional: []string{"currency"}},
		"robokassa":     {webhooks: []string{secrets}, calls: []string{"merchant_login", secrets}, optional: []string{"hash", "currency"}, uncalled: true},
		"mollie":        {webhooks: []string{secrets}, calls: []string{key}, unsigned: true},
		"square":        {webhooks: []string{secrets, "public_url"}, calls: []string{key}},
		"razorpay":      {webhooks: []string{secrets}, calls: []string{"key_id", "key_secret"}},
		"checkout":      {webhooks: []string{secrets}, calls: []string{key}, optional: []string{"authorization"}},
		"gocardless":    {webhooks: []string{secrets}, calls: []string{key}, uncalled: true},
		"paddle":        {webhooks: []string{secrets}, calls: []string{key}, uncalled: true},
		"braintree":     {webhooks: []string{secrets, "public_key"}, calls: []string{"merchant_id", "public_key", secrets}, uncalled: true},
		"comgate":       {webhooks: []string{secrets}, calls: []string{"merchant", secrets}, uncalled: true},
		"gopay":         {calls: []string{"client_id", "client_secret", "goid"}, unsigned: true, uncalled: true},
		"lemonsqueezy":  {webhooks: []string{secrets}},
	}
}

func kindNames() []string { return slices.Sorted(maps.Keys(kinds())) }

// everyKind lists the fields that any account may have.
func everyKind() []string {
	return []string{"name", "kind", "base_url", "public_url", "allowed_ips", "tolerance", "late_success", "offered", "expiry", "breaker", "rate_limit"}
}

// understands reports whether the field means anything to the kind.
func (k kind) understands(field string) bool {
	return slices.Contains(slices.Concat(everyKind(), k.webhooks, k.calls, k.optional), field)
}

// present lists the fields that the account has.
func (a Account) present() []string {
	var names []string
	v := reflect.ValueOf(a)
	for i := range v.NumField() {
		if !v.Field(i).IsZero() {
			names = append(names, keyOf(v.Type().Field(i)))
		}
	}
	return names
}

// missing lists those of the fields that the account lacks.
func (a Account) missing(fields []string) []string {
	have := a.present()
	return slices.DeleteFunc(slices.Clone(fields), func(f string) bool { return slices.Contains(have, f) })
}
