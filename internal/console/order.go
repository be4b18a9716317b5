package console

import (
	"maps"
	"slices"

	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/payment"
)

// orderView is the content of the page of an order.
type orderView struct {
	Frame
	payment.Order
	// Summary is that of the newest attempt; empty if there is none. Doubt is that of its page.
	Summary, Doubt string
	// Requests are the requests about the order as a whole.
	Requests []row
	// Moved are the attempts with their money movements.
	Moved []payment.Attempt
}

// showOrder shows one order, or the list of orders if the address names no order.
func (v *visit) showOrder() error {
	if !v.R.URL.Query().Has("id") {
		return ListPages{Lists: v.Lists, Zone: v.Clocks.Location()}.Orders(v.Visit)
	}
	id := payment.OrderID(v.Query("id"))
	var o payment.Order
	err := v.AuditLog.Watch(v.R.Context(), v.Who, "readOrder.view", "order", string(id), func() (err error) {
		if !storable(string(id)) || id == "" {
			return payment.ErrOrderNotFound
		}
		o, err = v.Payments.Order(v.R.Context(), v.Who.Actor, id)
		return err
	})
	if err != nil {
		return err
	}
	view := orderView{Frame: v.Frame("Order " + string(id)), Order: o}
	requests, err := v.Support.OrderRequests(v.R.Context(), v.Who, o)
	if err != nil {
		return err
	}
	view.Requests = rows(requests)
	if n := len(o.Attempts); n > 0 {
		var newest support.Attempt
		if newest, err = v.Support.Attempt(v.R.Context(), v.Who, o.Attempts[n-1].ID); err != nil {
			return err
		}
		view.Summary, view.Moved = newest.Summary, newest.OfOrder
		if view.Doubt, err = Doubt(v.R.Context(), v.Customers, v.Who.Actor, newest.Attempt); err != nil {
			return err
		}
	}
	return v.Show(orderPage(view))
}

// pricedBy is the creator of the order, and so of its price.
func pricedBy(o payment.Order) string {
	if o.CreatedBy == payment.RoleService {
		return "the shop"
	}
	return "the customer"
}

// metadata returns the merchant's metadata of an order, sorted by name.
func metadata(o payment.Order) [][2]string {
	out := make([][2]string, 0, len(o.Metadata))
	for _, name := range slices.Sorted(maps.Keys(o.Metadata)) {
		out = append(out, [2]string{name, o.Metadata[name]})
	}
	return out
}

func newestFirst(attempts []payment.Attempt) []payment.Attempt {
	list := slices.Clone(attempts)
	slices.Reverse(list)
	return list
}
