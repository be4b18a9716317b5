package paypal_test

import "net/http"

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
	unit := object{"reference_id": "default", "custom_id": o.custom, "amount": o.amount, "payee": object{"merchant_id": shop, "email_address": "shop@shop.example"}}
	if len(made) > 0 {
		unit["payments"] = made
	}
	links := []object{{"href": "https://api-m.sandbox.paypal.com/v2/checkout/orders/" + o.id, "rel": "self", "method": "GET"}}
	if o.status == "PAYER_ACTION_REQUIRED" {
		links = append(links, object{"href": o.page, "rel": "payer-action", "method": "GET"})
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
