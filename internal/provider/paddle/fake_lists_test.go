package paddle_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// dates are the dates of an object in the books. A zero date is not shown.
type dates struct {
	made, changed, billed, captured time.Time
	// fee is the fee in the payout totals, in US cents; 0: no fee yet.
	fee int64
}

func (d dates) showMade(o object) {
	if !d.made.IsZero() {
		o["created_at"], o["updated_at"] = d.made.Format(time.RFC3339Nano), d.changed.Format(time.RFC3339Nano)
	}
}

// show adds the dates to a transaction with this total. Its failed payment is newer than its captured payment.
func (d dates) show(o object, total string) {
	d.showMade(o)
	if d.made.IsZero() {
		return
	}
	o["billed_at"] = nil
	if !d.billed.IsZero() {
		o["billed_at"] = d.billed.Format(time.RFC3339Nano)
	}
	if !d.captured.IsZero() {
		o["payments"] = []object{
			{"amount": total, "status": "error", "error_code": "declined", "captured_at": nil},
			{"amount": total, "status": "captured", "error_code": nil, "captured_at": d.captured.Format(time.RFC3339Nano)},
		}
	}
	details, _ := o["details"].(object)
	details["payout_totals"] = nil
	if d.fee != 0 {
		details["payout_totals"] = object{"grand_total": "2100", "tax": "200", "fee": text(d.fee), "earnings": text(1900 - d.fee), "currency_code": "USD"}
	}
}

// since parses a time of a query. It returns false if the time is invalid.
func since(query url.Values, name string, none time.Time) (time.Time, bool) {
	if !query.Has(name) {
		return none, true
	}
	at, err := time.Parse(time.RFC3339, query.Get(name))
	return at, err == nil
}

func (f *fakePayments) list(r *http.Request, _ []byte) (int, any) {
	query := r.URL.Query()
	far := time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)
	from, ok := since(query, "created_at[GTE]", time.Time{})
	to, fine := since(query, "created_at[LT]", far)
	changed, good := since(query, "updated_at[GTE]", time.Time{})
	order := query.Get("order_by")
	if !ok || !fine || !good || order != "created_at[ASC]" && order != "id[ASC]" {
		return failure(http.StatusBadRequest, "invalid_field")
	}
	all := slices.DeleteFunc(slices.Clone(f.transactions), func(t *transaction) bool {
		return t.at.Before(from) || !t.at.Before(to) || t.booked.changed.Before(changed) || !hasStatus(query, t.status)
	})
	if order == "id[ASC]" {
		slices.SortFunc(all, func(a, b *transaction) int { return strings.Compare(a.id, b.id) })
	}
	return listed(r, f.most, all, func(t *transaction) string { return t.id }, (*transaction).render)
}

func hasStatus(query url.Values, status string) bool {
	return !query.Has("status") || slices.Contains(strings.Split(query.Get("status"), ","), status)
}

func (f *fakePayments) listAdjustments(r *http.Request, _ []byte) (int, any) {
	query := r.URL.Query()
	all := slices.DeleteFunc(slices.Clone(f.adjustments), func(a *adjustment) bool {
		return query.Has("transaction_id") && a.transaction != query.Get("transaction_id") || query.Has("id") && a.id != query.Get("id") || !hasStatus(query, a.status)
	})
	if query.Get("order_by") == "id[DESC]" {
		slices.SortFunc(all, func(a, b *adjustment) int { return strings.Compare(b.id, a.id) })
	}
	return listed(r, f.most, all, func(a *adjustment) string { return a.id }, (*adjustment).render)
}
