package checkout

import (
	"encoding/json"
	"fmt"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// providerData returns the members of POST /payments and of POST /payment-sessions that provider_data may contain.
// metadata is not allowed, because its marks identify the payment. capture_on is not allowed, because it would change when
// the money is taken. expires_on is not allowed, because a cancel relies on the end of the session.
// payment_method_configuration is not allowed, because it would store cards.
func providerData() []string {
	return []string{
		"3ds", "amount_allocations", "authorization_type", "billing_descriptor", "customer_retry", "description", "disabled_payment_methods",
		"display_name", "enabled_payment_methods", "locale", "marketplace", "previous_payment_id", "processing", "recipient", "risk", "sender",
	}
}

// onlyOf returns the members of provider_data that one of the two requests lacks.
func onlyOf(sessions bool) []string {
	if sessions {
		return []string{"customer_retry", "disabled_payment_methods", "display_name", "enabled_payment_methods", "locale"}
	}
	return []string{"marketplace", "previous_payment_id"}
}

// further describes the members of POST /payments/{id}/captures and …/refunds that provider_data may contain. Checkout.com
// does not document the entities that bear a refund without allocations (https://www.checkout.com/docs/platforms/split-payments).
func further() gateway.Further {
	return gateway.Further{
		Capture: gateway.Members{"amount_allocations": kit.AnyList, "marketplace": kit.AnyObject},
		Refund:  gateway.Members{"amount_allocations": kit.AnyList},
		Split: gateway.Split{
			Pay: []string{"amount_allocations", "marketplace"}, Refund: []string{"amount_allocations"},
			Advice: "send `amount_allocations` with the entities of the payment that give their parts back; the part of your own entity is the platform's",
		},
	}
}

// extend adds provider_data to a request. It completes 3ds and billing_descriptor with the members that provider_data
// must not remove.
func extend(p paymentRequest, d gateway.Details) (map[string]json.RawMessage, error) {
	body, err := kit.Extend(p, d.ProviderData, providerData())
	if err != nil {
		return nil, err
	}
	if p.SuccessURL == "" || isLocal(d.Token) {
		delete(body, "3ds")
	} else if body["3ds"], err = with(d.ProviderData["3ds"], map[string]any{"enabled": true, "attempt_n3d": true}); err != nil {
		return nil, err
	}
	if raw, ok := d.ProviderData["billing_descriptor"]; ok && d.StatementDescriptor != "" {
		body["billing_descriptor"], err = with(raw, map[string]any{"name": d.StatementDescriptor})
	}
	return body, err
}

// with returns an object with further members.
func with(raw json.RawMessage, members map[string]any) (json.RawMessage, error) {
	object := map[string]any{}
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &object); err != nil {
			return nil, fmt.Errorf("%w: %w", gateway.ErrUnsupportedRequest, err)
		}
	}
	for name, value := range members {
		if _, has := object[name]; !has || name == "enabled" {
			object[name] = value
		}
	}
	made, err := json.Marshal(object)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", gateway.ErrUnsupportedRequest, err)
	}
	return made, nil
}
