package paddle

import (
	"errors"
	"strconv"
)

var errNoItems = errors.New("no items of the transaction are shown to refund a part of")

// share divides a refund among the items of a transaction, from the first one on, each up to what its earlier refunds
// have left of it. It is nil for all of a transaction of which nothing was refunded, and never for a part: a refund
// without items is one of all that is left. What is more than is left stays in the last item, for Paddle to refuse.
func share(t transaction, before []adjustment, units int64) (items []adjustItem, err error) {
	left, untouched := remaining(t, before)
	if total, err := strconv.ParseInt(t.Details.Totals.GrandTotal, 10, 64); untouched && err == nil && total == units {
		return nil, nil
	}
	for i, has := range left {
		part := min(has, units)
		if i == len(left)-1 {
			part = units
		}
		if part <= 0 {
			continue
		}
		units -= part
		items = append(items, adjustItem{ItemID: t.Details.LineItems[i].ID, Type: partial, Amount: strconv.FormatInt(part, 10)})
	}
	if len(items) == 0 {
		return nil, errNoItems
	}
	return items, nil
}

// remaining is what refunds and chargebacks have left of each item, and whether there were none.
func remaining(t transaction, before []adjustment) (left []int64, untouched bool) {
	untouched = true
	taken := map[string]int64{}
	for _, a := range before {
		if a.Action != refundAction && a.Action != chargebackAction || a.Status == rejected || a.Status == reversed {
			continue
		}
		untouched = false
		for _, one := range a.Items {
			units, _ := strconv.ParseInt(one.Amount, 10, 64)
			taken[one.ItemID] += units
		}
	}
	for _, l := range t.Details.LineItems {
		total, _ := strconv.ParseInt(l.Totals.Total, 10, 64)
		left = append(left, max(0, total-taken[l.ID]))
	}
	return left, untouched
}
