package paypal_test

import (
	"cmp"
	"net/http"
	"strconv"
)

func (o *order) render() object {
	made := object{}
	for name, all := range map[string][]*movement{"captures": o.captures, "authorizations": o.authorizations} {
		if len(all) > 0 {
			made[name] = rendered(all)
		}
	}
	if len(o.refunds) > 0 {
		made["refunds"] = rendered(o.refunds)
	}
	unit := object{"reference_id": cmp.Or(o.method, "default"), "custom_id": o.custom, "amount": o.amount, "payee": object{"merchant_id": shop, "email_address": "shop@shop.example"}}
	if len(made) > 0 {
		unit["payments"] = made
	}
	links := []object{{"href": "https://api-m.sandbox.paypal.com/v2/checkout/orders/" + o.id, "rel": "self", "method": "GET"}}
	if o.status == "PAYER_ACTION_REQUIRED" {
		links = append(links, object{"href": o.page, "rel": "payer-action", "method": "GET"})
	}
	if o.status == "CREATED" {
		links = append(links, object{"href": o.page, "rel": "approve", "method": "GET"})
	}
	shown := object{
		"id": o.id, "intent": o.intent, "status": o.status, "purchase_units": []object{unit}, "links": links,
		"create_time": "2026-03-14T15:09:26Z",
	}
	if o.saves && o.status == "COMPLETED" {
		shown["payment_source"] = object{"paypal": object{
			"email_address": "jane@shop.example", "attributes": object{"vault": object{"id": "8kk8451t", "status": "VAULTED"}},
		}}
	}
	switch {
	case o.entered == nil:
	case o.method == "card":
		shown["payment_source"] = object{"card": o.entered}
	default:
		shown["payment_source"] = object{o.method: object{"name": "Jane Doe", "card": o.entered}}
	}
	return shown
}

func rendered[T interface{ render() object }](all []T) []object {
	shown := make([]object, len(all))
	for i, each := range all {
		shown[i] = each.render()
	}
	return shown
}

func (m *movement) render() object {
	shown := object{
		"id": m.id, "status": m.status, "amount": m.amount, "custom_id": m.of.custom, "create_time": "2026-03-14T15:09:26Z",
		"update_time": "2026-03-14T15:09:27Z", "payee": object{"merchant_id": shop, "email_address": "shop@shop.example"},
	}
	related := object{"order_id": m.of.id}
	up := "checkout/orders/" + m.of.id
	if m.from != "" {
		shown["final_capture"] = !m.open
		related["authorization_id"], up = m.from, "payments/authorizations/"+m.from
	}
	shown["supplementary_data"] = object{"related_ids": related}
	shown["links"] = []object{{"href": "https://api-m.sandbox.paypal.com/v2/" + up, "rel": "up", "method": "GET"}}
	if m.reason != "" {
		shown["status_details"] = object{"reason": m.reason}
	}
	if m.processor != "" {
		shown["processor_response"] = object{"response_code": m.processor}
	}
	if m.expires != "" {
		shown["expiration_time"] = m.expires
	}
	return shown
}

func (r *refund) render() object {
	return object{
		"id": r.id, "status": r.status, "amount": r.amount, "custom_id": r.custom, "create_time": "2026-03-14T15:09:28Z",
		"links": []object{{"href": "https://api-m.sandbox.paypal.com/v2/payments/captures/" + r.of, "rel": "up", "method": "GET"}},
	}
}

func (f *fake) showRefund(id string) (int, object) {
	for _, o := range f.orders {
		for _, made := range o.refunds {
			if made.id == id {
				return http.StatusOK, made.render()
			}
		}
	}
	return missing()
}

// enters takes a card in PayPal's script as the customer. The order then has this status, and this result of 3-D Secure.
func (f *fake) enters(id, status string, result object) {
	f.mu.Lock()
	defer f.mu.Unlock()
	o := f.orders[id]
	o.status, o.entered = status, object{"brand": "VISA", "last_digits": "7704", "type": "CREDIT"}
	if result != nil {
		o.entered["authentication_result"] = result
	}
}

// adds reports whether the parts of an order's amount add up, as PayPal checks.
func (in request) adds() bool {
	unit := in.PurchaseUnits[0]
	items, parts := 0, unit.Amount.Breakdown
	for _, i := range unit.Items {
		n, err := strconv.Atoi(i.Quantity)
		if err != nil {
			return false
		}
		items += n * i.UnitAmount.cents()
	}
	if len(unit.Items) == 0 {
		return parts == nil
	}
	sum := func(name string) int {
		if m, ok := parts[name]; ok {
			return m.cents()
		}
		return 0
	}
	return items == sum("item_total") && items+sum("shipping")-sum("discount") == unit.Amount.cents()
}
