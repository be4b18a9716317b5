package braintree_test

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
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

// change executes a command about a transaction and returns its answer with status 200.
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

// searched has the search criteria that the adapter sends. They are criteria of the official libraries.
type searched struct {
	Search struct {
		Order     *exact   `json:"order_id"`
		IDs       []string `json:"ids"`
		Status    []string `json:"status"`
		Account   []string `json:"merchant_account_id"`
		Submitted *between `json:"submitted_for_settlement_at"`
		Settled   *between `json:"settled_at"`
		Voided    *between `json:"voided_at"`
		Created   *between `json:"created_at"`
		Disputed  *between `json:"dispute_date"`
	} `json:"search"`
}

// exact is a criterion for an exact text.
type exact struct {
	Is string `json:"is"`
}

// between is a criterion for a range. The lower bound is inclusive, and a minute is added to the upper bound.
type between struct {
	Min time.Time `json:"min"`
	Max time.Time `json:"max"`
}

func (b between) has(at time.Time) bool {
	return !at.IsZero() && !at.Before(b.Min) && at.Before(b.Max.Add(time.Minute))
}

func (f *fake) search(_ *http.Request, body []byte) answer {
	var in searched
	if !strictly(body, &in) || in.Search.IDs != nil {
		return answer{status: http.StatusForbidden}
	}
	var ids strings.Builder
	for _, id := range slices.Sorted(maps.Keys(f.transactions)) {
		if in.fits(f.transactions[id]) && !f.lags {
			ids.WriteString("<item>" + id + "</item>")
		}
	}
	return answer{http.StatusOK, `<search-results><page-size type="integer">50</page-size><ids type="array">` + ids.String() + `</ids></search-results>`}
}

func (s searched) fits(t *transaction) bool {
	q := s.Search
	for field, times := range map[string]*between{submitted: q.Submitted, settled: q.Settled, "voided": q.Voided} {
		if times != nil && !times.has(t.when(field)) {
			return false
		}
	}
	switch {
	case q.Order != nil && t.order != q.Order.Is,
		q.Status != nil && !slices.Contains(q.Status, t.status),
		q.Account != nil && !slices.Contains(q.Account, cmp.Or(t.account, "shop_eur")),
		q.Created != nil && !q.Created.has(t.created()):
		return false
	}
	if q.Disputed == nil {
		return true
	}
	_, rest, disputed := strings.Cut(t.disputes, `<received-date type="date">`)
	at, err := time.Parse(time.DateOnly, rest[:min(len(rest), len(time.DateOnly))])
	return disputed && err == nil && q.Disputed.has(at)
}

// when returns the first time of a status. For "created", it returns the time of the first event.
func (t *transaction) when(status string) (at time.Time) {
	for _, h := range slices.Backward(t.history) {
		if h.status == status {
			at = h.at
		}
	}
	return at
}

func (t *transaction) created() (at time.Time) {
	if len(t.history) > 0 {
		at = t.history[0].at
	}
	return at
}

func (t *transaction) events() string {
	var all strings.Builder
	for _, h := range t.history {
		all.WriteString(`<status-event><timestamp type="datetime">` + h.at.Format(time.RFC3339) + `</timestamp><status>` + h.status + `</status><amount>` +
			decimal(t.amount) + `</amount><user nil="true"/><transaction-source></transaction-source></status-event>`)
	}
	return `<status-history type="array">` + all.String() + `</status-history>`
}

func (f *fake) fetch(_ *http.Request, body []byte) answer {
	var in searched
	if !strictly(body, &in) || len(in.Search.IDs) == 0 || len(in.Search.IDs) > 50 {
		return answer{status: http.StatusForbidden}
	}
	var all strings.Builder
	for _, id := range in.Search.IDs {
		if t := f.transactions[id]; t != nil && !f.gone[id] {
			all.WriteString(t.xml())
		}
	}
	return answer{http.StatusOK, `<credit-card-transactions type="collection"><current-page-number type="integer">1</current-page-number><page-size type="integer">50</page-size>` +
		all.String() + `</credit-card-transactions>`}
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
