package stripe

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/stripe/stripe-go/v86"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// providerData returns the members of Stripe's request that provider_data may contain. metadata is not allowed, because
// its marks identify the payment. The Stripe-Account header is not allowed either: a lookup has only the payment's id
// and would search the platform's own account.
func providerData() []string {
	return []string{
		"application_fee_amount", "on_behalf_of", "payment_method_options", "payment_method_types", "radar_options", "transfer_data",
		"transfer_group", "use_stripe_sdk",
	}
}

// reserved returns the members that are not allowed at any depth. They would change how the payment is captured, or
// which method is charged or stored.
func reserved() []string { return []string{"capture_method", "persistent_token", "setup_future_usage"} }

// acceptsData checks provider_data at all depths.
func acceptsData(n *kit.Needs, d gateway.Details) {
	n.Data(d, providerData()...)
	for _, name := range slices.Sorted(maps.Keys(d.ProviderData)) {
		var value any
		n.If(json.Unmarshal(d.ProviderData[name], &value) != nil, "provider_data."+name, "is not JSON")
		for _, member := range reserved() {
			n.If(has(value, member), "provider_data."+name, "must not have "+member)
		}
	}
}

func has(value any, name string) bool {
	switch v := value.(type) {
	case map[string]any:
		for member, inner := range v {
			if member == name || has(inner, name) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, func(inner any) bool { return has(inner, name) })
	}
	return false
}

// extend adds provider_data to a request. It omits members that are not allowed; Accepts refuses them.
func extend(p *stripe.PaymentIntentCreateParams, d gateway.Details) {
	for _, name := range providerData() {
		var value any
		if raw, ok := d.ProviderData[name]; !ok || decode(raw, &value) != nil {
			continue
		}
		if name == "payment_method_types" { // Stripe takes either these types or the automatic types
			p.AutomaticPaymentMethods = nil
		}
		flatten(value, name, func(name, value string) { p.AddExtra(name, value) })
	}
}

// decode decodes JSON and keeps the text of numbers.
func decode(raw json.RawMessage, out *any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return d.Decode(out) //nolint:wrapcheck // the caller leaves out what can't be read
}

// flatten writes JSON in the format of Stripe's forms: a[b][0]=c.
func flatten(value any, name string, add func(name, value string)) {
	switch v := value.(type) {
	case map[string]any:
		for _, member := range slices.Sorted(maps.Keys(v)) {
			if !slices.Contains(reserved(), member) {
				flatten(v[member], name+"["+member+"]", add)
			}
		}
	case []any:
		for i, item := range v {
			flatten(item, name+"["+strconv.Itoa(i)+"]", add)
		}
	case string:
		add(name, v)
	case json.Number:
		add(name, v.String())
	case bool:
		add(name, strconv.FormatBool(v))
	}
}
