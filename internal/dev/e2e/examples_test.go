package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// purchase is a customer's actions on one order, and whether a piece belongs to it in the end.
type purchase struct {
	// pays are the tokens, one after the other.
	pays    []string
	refunds []int
	cancel  bool
	sold    bool
}

// purchases repeat from order to order.
func purchases() []purchase {
	return []purchase{
		{pays: []string{"tok_success"}, sold: true},
		{pays: []string{"tok_decline", "tok_success"}, sold: true},
		{pays: []string{"tok_async_success"}, sold: true},
		{pays: []string{"tok_decline"}},
		{pays: []string{"tok_success"}, refunds: []int{1999}},
		{pays: []string{"tok_success"}, refunds: []int{1000}, sold: true},
		{pays: []string{"tok_twice"}, refunds: []int{1000, 999}},
		{pays: []string{"tok_async_decline"}, cancel: true},
	}
}

// buy makes purchases, from order number from to order number to, at the same time, and returns the orders that a piece belongs to.
func buy(t *testing.T, c client, from, to int) (sold []string) {
	t.Helper()
	kinds, orders := purchases(), make([]string, to-from)
	for i := range orders {
		orders[i] = unique("o")
		if kinds[(from+i)%len(kinds)].sold {
			sold = append(sold, orders[i])
		}
	}
	for _, a := range atOnce(len(orders), func(i int) answer {
		return c.purchase(t.Context(), orders[i], kinds[(from+i)%len(kinds)])
	}) {
		require.NoError(t, a.err)
		require.Less(t, a.status, http.StatusBadRequest, "%s", a.text)
	}
	return sold
}

// purchase makes one purchase and returns the last answer, or the first that is a refusal. It may be called from any goroutine.
func (c client) purchase(ctx context.Context, order string, p purchase) answer {
	merchant := c.backend()
	a := c.createOrder(ctx, order, unique("key"))
	for _, token := range p.pays {
		if a.status != http.StatusCreated && a.status != http.StatusOK {
			return a
		}
		a = c.pay(ctx, order, unique("pay"), token)
		made := a.peek()
		for end := time.Now().Add(soon); made.ID != "" && a.peek().Stage != "final" && a.err == nil && time.Now().Before(end); {
			// The response has no body if nothing came of it meanwhile.
			a = c.send(ctx, http.MethodGet, "/v1/payment-attempts/"+made.ID+"?wait=40", "", fmt.Sprintf(`If-None-Match: "%d"`, made.Version))
			if now := a.peek(); now.ID != "" {
				made = now
			}
		}
	}
	paid := a.peek().ID
	for _, amount := range p.refunds {
		a = merchant.send(ctx, http.MethodPost, "/v1/payment-attempts/"+paid+"/refunds", fmt.Sprintf(`{"amount":%d}`, amount), "Idempotency-Key: "+unique("refund"))
		if a.status != http.StatusCreated {
			return a
		}
	}
	if p.cancel {
		return merchant.send(ctx, http.MethodPost, "/v1/orders/"+order+"/cancel", "", "Idempotency-Key: "+unique("cancel"))
	}
	return a
}

// TestExamples runs the shops of examples/.
func TestExamples(t *testing.T) {
	t.Parallel()
	for _, p := range examples(t) {
		for name, test := range map[string]func(t *testing.T, p program){
			"endpoint": keepsItsStockByDeliveries, "feed": keepsItsStockByTheFeed, "any_order": takesEventsInAnyOrder, "refusals": refusesWhatIsNotGenuine,
			"either_secret": takesEitherSecret, "without_its_database": takesNothingWithoutItsDatabase,
			"checkout": takesPayments,
		} {
			t.Run(p.name+"/"+name, func(t *testing.T) {
				t.Parallel()
				if p.missing != "" {
					t.Skip(p.missing)
				}
				test(t, p)
			})
		}
	}
}

// keepsItsStockByDeliveries makes the shop keep its stock by the events of 40 orders; some of them are declined, refunded or
// cancelled. The shop is killed twice in the middle of its transactions, each second response to a delivery is lost, and in the
// end all events come again.
func keepsItsStockByDeliveries(t *testing.T, p program) {
	t.Helper()
	r, s := newRig(t), newShop(t, p)
	front, lost := lossy(t, "http://"+s.address)
	service := r.serve(shopEndpoint(front + "/events"))
	sold := s.killedTwice(t, service.customer())
	s.exact(t, r, sold)
	require.Greater(t, lost.Load(), int32(20), "responses were lost")

	eventually(t, "what was acted on is acknowledged", func() bool { return service.delivered(t) })
	before := lost.Load()
	service.as(token("shop", "service")).send(t.Context(), http.MethodPost, "/v1/endpoints/shop/redeliver", `{"after":""}`).is(t, http.StatusOK)
	eventually(t, "all is delivered again", func() bool { return service.delivered(t) })
	require.Greater(t, lost.Load(), before+20)
	s.exact(t, r, sold)
	require.Zero(t, one[int](t, r, `SELECT count(*) FROM endpoint_retries WHERE state = 'dead'`))
}

// keepsItsStockByTheFeed does the same with a shop that reads the feed, and from its beginning again in the end.
func keepsItsStockByTheFeed(t *testing.T, p program) {
	t.Helper()
	r := newRig(t)
	service := r.serve()
	s := newShop(t, p, "SHOP_MODE=feed", "PAYLATCH_URL="+service.base, "PAYLATCH_TOKEN="+token("shop", "service"))
	sold := s.killedTwice(t, service.customer())
	s.exact(t, r, sold)

	s.kill()
	_, err := s.db.Exec(t.Context(), `UPDATE feed_cursors SET cursor = '0'`)
	require.NoError(t, err)
	s.launch(t)
	head := one[string](t, r, `SELECT last::text FROM outbox_head`)
	eventually(t, "all is read again", func() bool {
		var cursor string
		require.NoError(t, s.db.QueryRow(t.Context(), `SELECT cursor FROM feed_cursors`).Scan(&cursor))
		return cursor == head
	})
	s.exact(t, r, sold)
}

// shopEndpoint configures an endpoint at an address, which is tried often.
func shopEndpoint(address string) string {
	// A busy machine starts a shop in minutes, and meanwhile each try fails.
	schedule := strings.Repeat(`"200ms",`, 15) + strings.Repeat(`"1s",`, 10) + strings.Repeat(`"5s",`, 10) + strings.Repeat(`"30s",`, 14) + `"30s"`
	secrets, err := json.Marshal(strings.Fields(shopSecrets))
	if err != nil {
		panic(err)
	}
	return `PAYLATCH_ENDPOINTS=[{"name":"shop","url":"` + address + `","secrets":` + string(secrets) + `,"schedule":[` + schedule + `],"allow_private":true}]`
}

// delivered reports whether nothing is left to be delivered to the endpoint.
func (s *service) delivered(t *testing.T) bool {
	t.Helper()
	a := s.as(token("shop", "service")).send(t.Context(), http.MethodGet, "/v1/endpoints", "")
	a.is(t, http.StatusOK)
	var list struct {
		Items []struct {
			Behind  int `json:"behind"`
			Retries int `json:"retries"`
		} `json:"items"`
	}
	require.NoError(t, json.Unmarshal(a.text, &list))
	return len(list.Items) == 1 && list.Items[0].Behind == 0 && list.Items[0].Retries == 0
}

// killedTwice makes 40 purchases. The shop is killed during the second and the fourth part of them, and is away for the third and the fifth.
func (s *shop) killedTwice(t *testing.T, c client) (sold []string) {
	t.Helper()
	s.launch(t)
	sold = buy(t, c, 0, 8)
	s.killedWhileActing(t, func() { sold = append(sold, buy(t, c, 8, 16)...) })
	sold = append(sold, buy(t, c, 16, 24)...)
	s.launch(t)
	s.killedWhileActing(t, func() { sold = append(sold, buy(t, c, 24, 32)...) })
	sold = append(sold, buy(t, c, 32, 40)...)
	s.launch(t)
	return sold
}

// exact requires that the shop has acted on all events that change its stock, and that a piece is gone for each order that is sold, and for no
// other.
func (s *shop) exact(t *testing.T, r *rig, sold []string) {
	t.Helper()
	const events = 30 + 20 + 5 // paid, refunds, cancelled
	var all []string
	eventually(t, "the shop has acted on everything", func() bool {
		all = column[string](t, r, `SELECT message_id::text FROM outbox WHERE type IN ('order.paid', 'order.cancelled', 'refund.succeeded') ORDER BY 1`)
		return len(all) >= events && len(s.messages(t)) >= len(all)
	})
	require.Len(t, all, events)
	require.Equal(t, all, s.messages(t))
	require.Len(t, sold, 20)
	require.ElementsMatch(t, sold, s.column(t, `SELECT order_id FROM orders WHERE taken`))
	require.Equal(t, 100-len(sold), s.pieces(t))
	require.Equal(t, []string{"5 cancelled", "30 paid"}, s.column(t, `SELECT count(*) || ' ' || status FROM orders GROUP BY status ORDER BY status`))
	require.Equal(t, []string{"10 of 1999", "5 of 1000"}, s.column(t, `SELECT count(*) || ' of ' || amount FROM refunded GROUP BY amount ORDER BY amount DESC`))
}
