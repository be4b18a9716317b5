package stripe_test

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// books are the fake's lists besides payments, each the oldest first.
type books struct {
	transactions, payouts, events []object
	// paidOut are the transactions by payout.
	paidOut map[string][]object
}

func (f *fake) keepBooks(b *books) {
	f.HandleFunc("GET /v1/balance_transactions", f.question(func(_ string, in url.Values) (int, object) {
		from := b.transactions
		if payout := in.Get("payout"); payout != "" {
			from = b.paidOut[payout]
		}
		status, said := listed(from, in)
		if data, ok := said["data"].([]object); ok && in.Get("expand[0]") != "data.source" {
			for i := range data {
				data[i] = with(data[i], "source", data[i]["source"].(object)["id"])
			}
		}
		return status, said
	}))
	f.HandleFunc("GET /v1/payouts", f.question(func(_ string, in url.Values) (int, object) { return listed(b.payouts, in) }))
	f.HandleFunc("GET /v1/events", f.question(func(_ string, in url.Values) (int, object) { return listed(b.events, in) }))
}

// listed returns the requested page of the newest items.
func listed(all []object, in url.Values) (int, object) {
	if limit, err := strconv.Atoi(in.Get("limit")); err != nil || limit < 1 || limit > 100 {
		return http.StatusBadRequest, stripeError("invalid_request_error", "parameter_invalid_integer", "")
	}
	data := []object{}
	after := in.Get("starting_after")
	for _, one := range slices.Backward(all) {
		at, _ := one["created"].(int)
		from, to := number(in.Get("created[gte]"), 0), number(in.Get("created[lt]"), 1<<40)
		switch {
		case after != "":
			if one["id"] == after {
				after = ""
			}
		case at >= from && at < to:
			data = append(data, one)
		}
	}
	more := len(data) > pageSize
	return http.StatusOK, object{"object": "list", "data": data[:min(len(data), pageSize)], "has_more": more}
}

func number(text string, otherwise int) int {
	if n, err := strconv.Atoi(text); err == nil {
		return n
	}
	return otherwise
}

// with returns an object with a further member.
func with(o object, name string, value any) object {
	c := maps.Clone(o)
	c[name] = value
	return c
}

// transaction returns a balance transaction in the currency of its source.
func transaction(id, kind string, at, amount, fee int, source object) object {
	return object{
		"object": "balance_transaction", "id": id, "type": kind, "created": at, "amount": amount, "fee": fee, "net": amount - fee,
		"currency": "eur", "status": "available", "source": source,
	}
}

// sourced returns a charge, a refund or a dispute of an intent's payment.
func sourced(kind, id, intent string, amount int, more object) object {
	o := object{
		"object": kind, "id": id, "payment_intent": intent, "amount": amount, "currency": "eur",
		"metadata": object{"payment_attempt_id": "att-" + intent, "order_id": "order-" + intent},
	}
	if kind != "refund" {
		o["livemode"] = true
	}
	if kind != "charge" {
		o["charge"] = "ch_" + strings.TrimPrefix(intent, "pi_")
	}
	maps.Copy(o, more)
	return o
}
