package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// shopper is a customer with a shop's backend. It has its own dice, and pays one order after the other.
type shopper struct {
	*proof

	number int
	dice   *rand.Rand
	user   string
}

// weights are the payment methods of the shoppers; most of them misbehave.
var weights = []struct {
	token string
	n     int
}{
	{"tok_success", 12},
	{"tok_decline", 3},
	{"tok_async_success", 6},
	{"tok_async_decline", 2},
	{"tok_redirect", 4},
	{"tok_webhook_first", 3},
	{"tok_twice", 4},
	{"tok_disorder", 4},
	{"tok_hang_charged", 2},
	{"tok_hang_not_charged", 2},
	{"tok_500_charged", 4},
	{"tok_500_once", 4},
	{"tok_never", 1},
	{"tok_late_success", 2},
	{"tok_wrong_amount", 1},
}

func (s *shopper) draw() string {
	sum := 0
	for _, w := range weights {
		sum += w.n
	}
	at := s.dice.IntN(sum)
	for _, w := range weights {
		if at -= w.n; at < 0 {
			return w.token
		}
	}
	return ""
}

// client is the shopper at a replica.
func (s *shopper) client(replica int) client {
	return s.customer(replica, s.user)
}

func (p *proof) customer(replica int, user string) client {
	key := p.tokenKey()
	return client{base: p.fronts[replica].base(), token: tokenBy(key, user, "customer"), signing: key, blunt: true}
}

// patient is how long one request may take, and hasty how long a read may.
const patient, hasty = 2500 * time.Millisecond, 800 * time.Millisecond

// once sends a request to a replica and counts it.
func (s *shopper) once(ctx context.Context, replica int, limit time.Duration, do func(ctx context.Context, c client) answer) answer {
	try, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	s.history.sent.Add(1)
	return do(try, s.client(replica))
}

// press makes a call: it sends a command to one replica after another until it is answered, or the shopper gives up.
func (s *shopper) press(ctx context.Context, d clientCall, replica, tries int, do func(ctx context.Context, c client) answer) (answer, *clientCall) {
	d.Client, d.Call = s.number, s.history.now()
	var a answer
	for {
		a = s.once(ctx, replica, patient, do)
		d.Sends++
		again := a.err != nil || a.status >= http.StatusInternalServerError || a.peekProblem().Code == "request-in-progress"
		if !again || d.Sends >= tries || ctx.Err() != nil {
			break
		}
		replica = (replica + 1) % len(s.fronts)
		breathe(ctx, 50*time.Millisecond+time.Duration(d.Sends)*20*time.Millisecond)
	}
	if a.peekProblem().Code == "request-in-progress" {
		a.err = context.DeadlineExceeded // it is under way: its result is not orderState
	}
	s.history.done(&d, a)
	s.unexpected(&d, a)
	return a, &d
}

// unexpected notes answers that no fault explains.
func (s *shopper) unexpected(d *clientCall, a answer) {
	switch {
	case a.peekProblem().Code == "internal":
		s.history.wrong("answers", "%s: %d %s", effect{d, true}, a.status, a.text)
	case a.err != nil || a.status >= http.StatusInternalServerError || a.status < http.StatusBadRequest, a.status == http.StatusConflict:
	default:
		s.history.wrong("answers", "%s: %d %s", effect{d, true}, a.status, a.text)
	}
}

func (s *shopper) shop(ctx context.Context) {
	for ctx.Err() == nil {
		s.order(ctx)
		breathe(ctx, time.Duration(s.dice.IntN(int(s.pace))))
	}
}

// order is the life of one order. What was begun is brought to its end after the round has ended, too.
func (s *shopper) order(ctx context.Context) {
	work := context.WithoutCancel(ctx)
	order := fmt.Sprintf("%s-%d-%08x", s.user, s.round, s.dice.Uint32())
	replica := s.dice.IntN(len(s.fronts))
	made, _ := s.press(work, clientCall{OrderID: order, Kind: callOrder, Key: "order-" + order}, replica, 40, func(ctx context.Context, c client) answer {
		return c.createOrder(ctx, order, "order-"+order)
	})
	if made.status != http.StatusCreated {
		return
	}
	method, hold := s.draw(), s.dice.IntN(8) == 0
	hold = hold || method == "tok_late_success" && s.dice.IntN(2) == 0 // a hold that comes after its attempt has failed
	second, other, cancel, refund := s.dice.IntN(3), s.dice.IntN(3), s.dice.IntN(7), s.dice.IntN(4)
	late := time.Duration(s.dice.IntN(800)) * time.Millisecond
	reads := 3 + s.dice.IntN(6)
	r1, r2, r3 := s.dice.IntN(len(s.fronts)), s.dice.IntN(len(s.fronts)), s.dice.IntN(len(s.fronts))
	var all sync.WaitGroup
	var first attempt
	all.Go(func() { first = s.pay(work, order, "first-"+order, method, hold, replica).peek() })
	if second == 0 { // a double press
		all.Go(func() { s.pay(work, order, "first-"+order, method, hold, r1) })
	}
	if other == 0 { // a second tab
		all.Go(func() {
			breathe(work, late)
			s.pay(work, order, "second-"+order, "tok_success", false, r2)
		})
	}
	if cancel == 0 {
		all.Go(func() {
			breathe(work, late/2)
			s.cancelOrder(work, order, r3)
		})
	}
	all.Wait()
	if first.ID == "" {
		s.readOrder(work, order, r1)
		return
	}
	s.remember(order, s.user, first.ID)
	s.afterwards(work, order, first, hold, cancel, refund, reads)
}

// afterwards are the actions of the customer and the shop once the pay was answered.
func (s *shopper) afterwards(ctx context.Context, order string, first attempt, hold bool, cancel, refund, reads int) {
	if first.NextAction != nil && first.NextAction.URL != "" && s.dice.IntN(4) != 0 {
		s.decide(ctx, first.NextAction.URL)
	}
	replica := s.dice.IntN(len(s.fronts))
	if hold {
		kind := []string{callConfirm, callConfirm, callCancel}[s.dice.IntN(3)]
		s.command(ctx, order, first.ID, kind, kind+"-"+order, "{}", replica)
	}
	if cancel == 1 {
		s.command(ctx, order, first.ID, callCancel, "cancel-"+order, "{}", replica)
	}
	final := first.Status
	for i := 0; i < reads || final == "pending" && i < reads+6; i++ {
		if a := s.read(ctx, order, first.ID, (replica+i)%len(s.fronts)); a.err == nil && a.status == http.StatusOK {
			final = a.peek().Status
		}
		breathe(ctx, 30*time.Millisecond)
	}
	if final == "succeeded" && refund == 0 {
		var all sync.WaitGroup
		of := s.dice.IntN(2) // a double press, or two refunds of more than there is
		for i := range 2 {
			all.Go(func() {
				s.command(ctx, order, first.ID, callRefund, fmt.Sprintf("refund-%d-%s", min(i, of), order), `{"amount":1200}`, (replica+i)%len(s.fronts))
			})
		}
		all.Wait()
	}
	if final == "succeeded" && s.dice.IntN(8) == 0 {
		s.dispute(ctx, order, first.ID)
	}
	if final == "failed" && s.dice.IntN(2) == 0 {
		s.pay(ctx, order, "third-"+order, "tok_success", false, replica)
	}
	s.readOrder(ctx, order, (replica+1)%len(s.fronts))
}

func (s *shopper) pay(ctx context.Context, order, key, method string, hold bool, replica int) answer {
	body := `{"payment_method":{"token":"` + method + `"}}`
	if hold {
		body = `{"payment_method":{"token":"` + method + `"},"capture":"manual"}`
	}
	a, d := s.press(ctx, clientCall{OrderID: order, Kind: callPay, Key: key, Token: method}, replica, 30, func(ctx context.Context, c client) answer {
		if hold {
			c = c.backend()
		}
		return c.send(ctx, http.MethodPost, "/v1/orders/"+order+"/pay", body, "Idempotency-Key: "+key)
	})
	if a.status == http.StatusCreated || d.Unknown {
		s.pays(press{order, s.user, key, body, hold})
	}
	return a
}

func (s *shopper) cancelOrder(ctx context.Context, order string, replica int) {
	s.press(ctx, clientCall{OrderID: order, Kind: callCancelOrder, Key: "stop-" + order}, replica, 30, func(ctx context.Context, c client) answer {
		return c.backend().send(ctx, http.MethodPost, "/v1/orders/"+order+"/cancel", "", "Idempotency-Key: stop-"+order)
	})
}

func (s *shopper) command(ctx context.Context, order, id, kind, key, body string, replica int) {
	for range 10 { // until what it needs has happened
		_, d := s.press(ctx, clientCall{OrderID: order, Kind: kind, Key: key, Attempt: id}, replica, 30, func(ctx context.Context, c client) answer {
			return c.backend().send(ctx, http.MethodPost, "/v1/payment-attempts/"+id+"/"+kind, body, "Idempotency-Key: "+key)
		})
		if d.Code != "attempt-not-capturable" && d.Code != "attempt-not-refundable" {
			return
		}
		breathe(ctx, 100*time.Millisecond)
	}
}

// look sends one read, which is a call only if it was answered.
func (s *shopper) look(ctx context.Context, d clientCall, path string, replica int) answer {
	d.Client, d.Call, d.Sends = s.number, s.history.now(), 1
	a := s.once(ctx, replica, hasty, func(ctx context.Context, c client) answer { return c.send(ctx, http.MethodGet, path, "") })
	if a.err == nil && a.status != http.StatusOK {
		s.unexpected(&d, a)
		a.err = fmt.Errorf("status %d", a.status)
	}
	s.history.done(&d, a)
	return a
}

func (s *shopper) read(ctx context.Context, order, id string, replica int) answer {
	return s.look(ctx, clientCall{OrderID: order, Kind: callRead, Attempt: id}, "/v1/payment-attempts/"+id, replica)
}

func (s *shopper) readOrder(ctx context.Context, order string, replica int) {
	s.look(ctx, clientCall{OrderID: order, Kind: callReadOrder}, "/v1/orders/"+order, replica)
}

// decide is the customer on the provider's page.
func (s *shopper) decide(ctx context.Context, page string) {
	form := url.Values{"decision": {[]string{"approve", "approve", "decline"}[s.dice.IntN(3)]}}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, page, strings.NewReader(form.Encode()))
	if err != nil {
		return
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	exchange(r)
}

// dispute is the cardholder's bank: it takes a part of the money, and may decide.
func (s *shopper) dispute(ctx context.Context, order, id string) {
	bank := client{base: s.sandbox, blunt: true}
	ctx, cancel := context.WithTimeout(ctx, 2*patient)
	defer cancel()
	var charges struct {
		Items []struct {
			ID string `json:"id"`
		} `json:"items"`
	}
	if a := bank.send(ctx, http.MethodGet, "/v1/charges?reference="+id, ""); json.Unmarshal(a.text, &charges) != nil || len(charges.Items) == 0 {
		return
	}
	var opened struct {
		ID string `json:"id"`
	}
	s.mu.Lock()
	s.disputed[order] = true
	s.mu.Unlock()
	a := bank.send(ctx, http.MethodPost, "/v1/dashboard/charges/"+charges.Items[0].ID+"/dispute", `{"amount":700}`)
	if a.status != http.StatusCreated || json.Unmarshal(a.text, &opened) != nil {
		return
	}
	s.history.note("dispute", id, "%s", opened.ID)
	for range s.dice.IntN(3) { // it may decide, and then otherwise
		breathe(ctx, time.Duration(s.dice.IntN(300))*time.Millisecond)
		bank.send(ctx, http.MethodPost, "/v1/dashboard/disputes/"+opened.ID+"/"+[]string{"evidence", "win", "lose"}[s.dice.IntN(3)], "{}")
	}
}

// reader polls attempts of all shoppers, as other tabs and devices do.
func (s *shopper) poll(ctx context.Context) {
	for ctx.Err() == nil {
		if p, ok := s.recall(s.dice); ok {
			other := &shopper{proof: s.proof, number: s.number, user: p.user}
			other.read(context.WithoutCancel(ctx), p.order, p.attempt, s.dice.IntN(len(s.fronts)))
		}
		breathe(ctx, s.pace/4)
	}
}

// press is a pay that may have to be sent again.
type press struct {
	order, user, key, body string
	hold                   bool
}

// again sends a pay again, as a customer who comes back. A crash of PostgreSQL empties the sealed requests, so a charge that was not sent
// needs it.
func (p *proof) again(ctx context.Context, of press, replica int) answer {
	c := p.customer(replica, of.user)
	if of.hold {
		c = c.backend()
	}
	return c.send(ctx, http.MethodPost, "/v1/orders/"+of.order+"/pay", of.body, "Idempotency-Key: "+of.key)
}
