package stripe_test

import (
	"net/http"
	"net/url"
	"strconv"
)

// show returns a payment intent. It contains its charge and the charge's newest refunds if they are expanded.
func (f *fake) show(id string, in url.Values) (int, object) {
	pi := f.intents[id]
	if pi == nil {
		return missing()
	}
	shown := pi.render()
	if in.Get("expand[0]") != "latest_charge.refunds" {
		return http.StatusOK, shown
	}
	if f.restricted {
		return http.StatusForbidden, stripeError("invalid_request_error", "", "")
	}
	_, refunds := f.listRefunds("", url.Values{"payment_intent": {id}, "limit": {"10"}})
	shown["latest_charge"] = object{"object": "charge", "id": pi.charge, "disputed": len(pi.disputes) > 0, "refunds": refunds}
	return http.StatusOK, shown
}

func (f *fake) listDisputes(_ string, in url.Values) (int, object) {
	if limit, err := strconv.Atoi(in.Get("limit")); err != nil || limit < 1 || limit > 100 {
		return http.StatusBadRequest, stripeError("invalid_request_error", "parameter_invalid_integer", "")
	}
	if f.noDisputes {
		return http.StatusForbidden, stripeError("invalid_request_error", "", "")
	}
	found := []object{}
	if pi := f.intents[in.Get("payment_intent")]; pi != nil {
		found = append(found, pi.disputes...)
	}
	return http.StatusOK, object{"object": "list", "data": found, "has_more": false}
}

// disputed returns a dispute of the intent pi_1 with its balance transactions.
func disputed(status string, moved ...object) object {
	return sourced("dispute", "dp_1", "pi_1", 1999, object{
		"status": status, "reason": "fraudulent", "balance_transactions": moved, "evidence_details": object{"due_by": at(86400)},
	})
}
