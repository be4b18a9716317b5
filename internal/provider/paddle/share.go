package paddle

import (
	"errors"
	"strconv"
)

var errNoItems = errors.New("no items of the transaction are shown to refund a part of")

// share divides a refund among the items of a transaction, beginning with the first item. Each item takes at most its
// amount that is not refunded yet. share returns nil for the full refund of an unrefunded transaction, and never for a
// partial refund, because Paddle refunds the whole rest if a refund has no items. An excess stays in the last item, so
// that Paddle refuses it.
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

// remaining returns the amount of each item after refunds and chargebacks. untouched is true if there were no refunds
// and no chargebacks.
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
