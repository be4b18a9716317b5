package braintree_test

import (
	"maps"
	"net/http"
	"slices"
	"strings"
)

type changed struct {
	Transaction struct {
		Amount string `json:"amount"`
		Order  string `json:"order_id"`
		Key    string `json:"api_request_key"`
	} `json:"transaction"`
}

func (f *fake) find(r *http.Request, _ []byte) answer {
	t := f.transactions[r.PathValue("id")]
	if t == nil {
		return missing()
	}
	if t.kind == "sale" && t.status == "submitted_for_settlement" && !f.slow {
		t.status = "settled"
	}
	return t.told(http.StatusOK)
}

// change carries a command about a transaction out, and returns its answer with 200.
func (f *fake) change(r *http.Request, body []byte, run func(t *transaction, in changed) string) answer {
	t := f.transactions[r.PathValue("id")]
	var in changed
	switch {
	case t == nil:
		return missing()
	case len(body) > 0 && !strictly(body, &in):
		return answer{status: http.StatusForbidden}
	}
	a := f.keyed(in.Transaction.Key, body, func() (*transaction, answer) {
		if code := run(t, in); code != "" {
			return nil, failure(code)
		}
		return t, answer{}
	})
	if a.status == http.StatusCreated {
		a.status = http.StatusOK
	}
	return a
}

func (f *fake) submit(r *http.Request, body []byte) answer {
	return f.change(r, body, func(t *transaction, in changed) string {
		switch amount := cents(in.Transaction.Amount); {
		case t.status != "authorized":
			return "91507"
		case amount == 0 || amount > t.amount:
			return "91522"
		default:
			t.status, t.amount = "submitted_for_settlement", amount
		}
		return ""
	})
}

func (f *fake) void(r *http.Request, body []byte) answer {
	return f.change(r, body, func(t *transaction, _ changed) string {
		if t.status != "authorized" && t.status != "submitted_for_settlement" {
			return "91504"
		}
		t.status = "voided"
		return ""
	})
}

func (f *fake) refund(r *http.Request, body []byte) answer {
	of := f.transactions[r.PathValue("id")]
	var in changed
	switch {
	case of == nil:
		return missing()
	case !strictly(body, &in):
		return answer{status: http.StatusForbidden}
	}
	return f.keyed(in.Transaction.Key, body, func() (*transaction, answer) {
		amount := cents(in.Transaction.Amount)
		switch {
		case of.status != "settled" && of.status != "settling":
			return nil, failure("91506")
		case of.refunded == of.amount:
			return nil, failure("91512")
		case amount == 0 || amount > of.amount-of.refunded:
			return nil, failure("91521")
		}
		back := f.made(&transaction{kind: "credit", status: "submitted_for_settlement", order: in.Transaction.Order, of: of.id, amount: amount, response: "1002"})
		of.refunds, of.refunded = append(of.refunds, back.id), of.refunded+amount
		return back, answer{}
	})
}

func (f *fake) search(_ *http.Request, body []byte) answer {
	var in struct {
		Search struct {
			Order struct{ Is string } `json:"order_id"`
		}
	}
	if !strictly(body, &in) {
		return answer{status: http.StatusForbidden}
	}
	var ids strings.Builder
	for _, id := range slices.Sorted(maps.Keys(f.transactions)) {
		if t := f.transactions[id]; t.order == in.Search.Order.Is && !f.lags {
			ids.WriteString("<item>" + id + "</item>")
		}
	}
	return answer{http.StatusOK, `<search-results><page-size type="integer">50</page-size><ids type="array">` + ids.String() + `</ids></search-results>`}
}

func (f *fake) method(r *http.Request, _ []byte) answer {
	if r.PathValue("token") != vaulted {
		return missing()
	}
	return answer{http.StatusOK, `<credit-card><bin>401288</bin><token>` + vaulted + `</token><customer-id>` + owner + `</customer-id></credit-card>`}
}

func (f *fake) customer(_ *http.Request, body []byte) answer {
	var in struct {
		Customer struct{ ID, Email, Phone string }
	}
	switch {
	case !strictly(body, &in):
		return answer{status: http.StatusForbidden}
	case f.customers[in.Customer.ID]:
		return failure("91609")
	case in.Customer.ID == "all":
		return failure("91611")
	}
	f.customers[in.Customer.ID] = true
	return answer{http.StatusCreated, `<customer><id>` + in.Customer.ID + `</id></customer>`}
}
