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
// its marks identify the payment. The header Stripe-Account is a matter of the configuration: a lookup has only the
// payment's id, and must search the same account.
func providerData() []string {
	return []string{
		"application_fee_amount", "on_behalf_of", "payment_method_options", "payment_method_types", "radar_options", "transfer_data",
		"transfer_group", "use_stripe_sdk",
	}
}

// reserved returns the members that are not allowed at any depth. They would change how the payment is captured, or
// which method is charged or stored.
func reserved() []string {
	return []string{"capture_method", "persistent_token", "request_multicapture", "setup_future_usage"}
}

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

// further describes the members of Stripe's requests for a capture and a refund that provider_data may contain. A
// connected account keeps what a payment transferred to it, and the platform pays the refund alone, unless the refund has
// reverse_transfer (https://docs.stripe.com/connect/destination-charges#issue-refunds).
func further() gateway.Further {
	return gateway.Further{
		Capture: gateway.Members{
			"application_fee_amount": kit.AnyMinor, "statement_descriptor": kit.TextTo(22), "statement_descriptor_suffix": kit.TextTo(22),
			"transfer_data": kit.ObjectOf(gateway.Members{"amount": kit.AnyMinor}),
		},
		Refund: gateway.Members{"refund_application_fee": kit.AnyBool, "reverse_transfer": kit.AnyBool},
		Split: gateway.Split{
			Pay: []string{"on_behalf_of", "transfer_data"}, Refund: []string{"reverse_transfer"},
			Advice: "send `reverse_transfer` as true, and the connected account gives its part back, or as false, and the platform pays for it",
		},
	}
}

// extend adds provider_data to a request. It omits members that are not allowed; Accepts refuses them.
func extend(p *stripe.PaymentIntentCreateParams, d gateway.Details) {
	if _, ok := d.ProviderData["payment_method_types"]; ok { // Stripe takes either these types or the automatic types
		p.AutomaticPaymentMethods = nil
	}
	addData(&p.Params, d.ProviderData, providerData())
}

// addData adds the allowed members of provider_data to the parameters of a request.
func addData(p *stripe.Params, data gateway.Data, allowed []string) {
	for _, name := range allowed {
		var value any
		if raw, ok := data[name]; ok && decode(raw, &value) == nil {
			flatten(value, name, p.AddExtra)
		}
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
