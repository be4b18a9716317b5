package console

import (
	"context"
	"time"

	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/backoffice/lists"
	"github.com/paylatch/paylatch/internal/payment"
)

// Doubt is a sentence about a payment of a customer for which another one looks alike; empty if there is none. Only orders that began about when
// this one did are read.
func Doubt(ctx context.Context, l CustomerLists, who authz.Actor, a payment.Attempt) (string, error) {
	if charged(a) == 0 {
		return "", nil
	}
	at := a.CreatedAt.UTC()
	q, err := lists.Parse(lists.Orders, map[string]string{
		"user_id": string(a.UserID), "created_from": at.Add(-beforePay).Format(time.RFC3339Nano), "created_to": at.Add(near).Format(time.RFC3339Nano),
	})
	if err != nil {
		return "", nil //nolint:nilerr // an imported id that no list takes has no other orders here
	}
	q.Limit = mostOrders
	found, err := l.Orders(ctx, who, q)
	if err != nil {
		return "", err
	}
	for _, p := range pairsOf(found.Items) {
		if (p.First.ID == a.ID || p.Second.ID == a.ID) && !p.Settled() {
			return "Perhaps the customer was charged twice: " + p.words() + ".", nil
		}
	}
	return "", nil
}

// beforePay is how long before its payment an order may have been made to be read.
const beforePay = 24 * time.Hour
