package provider_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// A payment shares its money with sellers. Its hold is captured in parts, each part is shared anew, and parts of the money go
// back to the customer at the cost of chosen accounts, while requests and responses are lost and repeated. Whatever
// happens, platform, sellers, provider and customer sum to zero, each account has what the shop's instructions mean, and
// the customer has paid what paylatch has recorded.
//
// The long run has 10,000 courses: go test ./internal/provider -run TestSplitPayments -rapid.checks=10000.
func TestSplitPayments(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func() *market{"adyen": adyenMarket, "checkout": checkoutMarket, "stripe": stripeMarket} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(rt *rapid.T) {
				c := newCourse(rt, open())
				c.charge()
				c.capture(rt)
				rt.Repeat(map[string]func(*rapid.T){
					"":           c.check,
					"capture":    c.capture,
					"refund":     c.refund,
					"chargeback": c.chargeback,
				})
			})
		})
	}
}

// The accounts of the books beside the sellers'.
const (
	customer = "customer"
	platform = "platform"
	fees     = "provider"
)

// books are the balances of accounts. Each entry is booked by what its request says, so they sum to zero only if all
// requests of a movement fit each other.
type books map[string]int64

func (b books) sum() (sum int64) {
	for _, minor := range b {
		sum += minor
	}
	return sum
}

// fee is what a provider charges the platform for a capture.
func fee(minor int64) int64 { return minor*14/1000 + 25 }

// ofCapture books the customer's side of a capture, and the provider's fee.
func (b books) ofCapture(minor int64) {
	b[customer] -= minor
	b[platform] -= fee(minor)
	b[fees] += fee(minor)
}

// share is what a seller gets of a capture, and what the platform keeps of that as its commission.
type share struct {
	seller            string
	minor, commission int64
}

// market is a provider's fake with its books, and the adapter that calls it.
type market struct {
	gateway.Provider

	books books
	token string
	// sellers are the accounts that a payment may be shared with.
	sellers []string
	further gateway.Further
	// pay, captures and refunds return the members of the requests that mean the shop's instructions.
	pay, captures func(minor int64, shares []share) gateway.Data
	refunds       func(minor int64, bearers []share, reverse, fee bool) gateway.Data
	// proportional is set where a refund does not name amounts: each bears its part of what was captured.
	proportional bool
	// webhooks returns the reports of the webhooks since the last call.
	webhooks func() []payment.Report
	// fate decides about the next requests: sent reports whether one arrives, heard whether its response does.
	fate func() (sent, heard bool)
}

var errLost = errors.New("the line was cut")

// client is an HTTP client of the fake. It loses requests and responses. The fake answers a repeated key as before.
func (m *market) client(keyHeader string, serve func(r *http.Request, body []byte) (status int, said any)) *http.Client {
	type answer struct {
		status int
		raw    []byte
	}
	kept := map[string]answer{}
	return &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		var body []byte
		if r.Body != nil {
			body, _ = io.ReadAll(r.Body)
			_ = r.Body.Close()
		}
		sent, heard := true, true
		if r.Method != http.MethodGet {
			sent, heard = m.fate()
		}
		if !sent {
			return nil, errLost
		}
		key := r.Header.Get(keyHeader)
		a, known := kept[key]
		if !known || key == "" {
			status, said := serve(r, body)
			raw, err := json.Marshal(said)
			if err != nil {
				return nil, err
			}
			a = answer{status, raw}
			kept[key] = a
		}
		if !heard {
			return nil, errLost
		}
		return &http.Response{
			StatusCode: a.status, Header: http.Header{"Content-Type": {"application/json"}, "Cko-Request-Id": {"1"}, "Request-Id": {"req_1"}},
			Body: io.NopCloser(bytes.NewReader(a.raw)), Request: r,
		}, nil
	})}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// course is one payment at a market.
type course struct {
	*market

	rt   *rapid.T
	a    payment.Attempt
	want books
	// shared is what the sellers got, commission the platform's part of it, and back what refunds took from them.
	shared, commission, back map[string]int64
	refunded                 int64
	calls                    int
}

func newCourse(rt *rapid.T, m *market) *course {
	c := &course{
		market: m, rt: rt, want: books{}, shared: map[string]int64{}, commission: map[string]int64{}, back: map[string]int64{},
		a: payment.Attempt{
			ID: payment.AttemptID(uuid.New()), OrderID: "A-1", Account: "market", Capture: payment.CaptureSeveral, State: fsm.Requested,
			Money: payment.Money{Minor: rapid.Int64Range(1000, 100000).Draw(rt, "price"), Currency: "EUR"},
		},
	}
	fates := rapid.SampledFrom([][2]bool{{true, true}, {true, true}, {true, false}, {false, false}})
	left := 0
	m.fate = func() (bool, bool) {
		if left == 0 { // each request gets through in the end
			left = 3
		}
		if left--; left == 0 {
			return true, true
		}
		f := fates.Draw(rt, "the line")
		if f[0] && f[1] {
			left = 0
		}
		return f[0], f[1]
	}
	return c
}

func (c *course) money(minor int64) payment.Money {
	return payment.Money{Minor: minor, Currency: "EUR"}
}

// until repeats a call until its response is heard.
func (c *course) until(call func(again bool) error) {
	c.calls++
	for again := false; ; again = true {
		err := call(again)
		if err == nil {
			return
		}
		if !errors.Is(err, errLost) {
			c.rt.Fatal(err)
		}
	}
}

func (c *course) permit() gateway.Permit {
	now := func() time.Time { return time.Time{} }
	return gateway.NewPermit(now(), time.Hour, now)
}

// apply records reports as the program does.
func (c *course) apply(reports ...payment.Report) {
	for _, r := range reports {
		if r.Refund != nil {
			r.Movements, r.Refund = payment.RefundMovements(*r.Refund, &c.a, nil), nil
		}
		c.a.Fit(&r)
		payment.Advance(&c.a, r, time.Now())
	}
}

// hear applies the webhooks, the last first, and each of them twice.
func (c *course) hear() {
	for _, report := range slices.Backward(c.webhooks()) {
		c.apply(report, report)
	}
}

// shares splits an amount between sellers and the platform.
func (c *course) shares(minor int64) (all []share) {
	if c.proportional { // the seller gets all of it, less the commission
		return []share{{c.sellers[0], minor, rapid.Int64Range(0, minor).Draw(c.rt, "commission")}}
	}
	for _, seller := range c.sellers {
		part := rapid.Int64Range(0, minor).Draw(c.rt, "for "+seller)
		all = append(all, share{seller, part, rapid.Int64Range(0, part).Draw(c.rt, "commission of "+seller)})
		minor -= part
	}
	return all
}

func (c *course) charge() {
	data := c.pay(c.a.Money.Minor, c.shares(c.a.Money.Minor))
	c.until(func(again bool) error {
		o, err := c.Charge(context.Background(), gateway.Charge{
			Details: gateway.Details{Token: c.token, ReturnURL: "https://shop.example/back", ProviderData: data},
			Attempt: c.a.ID, Order: c.a.OrderID, Money: c.a.Money, Capture: payment.CaptureManual, Several: true, IdempotencyKey: "key-charge-0", Again: again,
			Permit: c.permit(),
		})
		if err == nil {
			c.apply(gateway.FromOutcome(o, payment.Cause{Kind: payment.CauseCall}))
		}
		return err
	})
	if c.a.State != fsm.Authorized {
		c.rt.Fatalf("the hold is %s", c.a.State)
	}
}

func (c *course) capture(rt *rapid.T) {
	if c.a.Capturable() < 2 {
		return
	}
	op := c.a.NewOperation(payment.OperationCapture, payment.OperationOriginRequest, time.Now())
	op.Amount, op.Before = rapid.Int64Range(1, c.a.Capturable()).Draw(rt, "amount"), c.a.Sums(payment.MovementCapture)
	op.Begin(time.Now(), time.Now().Add(time.Hour), time.Now().Add(time.Hour))
	c.a.Operations = append(c.a.Operations, op)
	ours := &c.a.Operations[len(c.a.Operations)-1]
	shares := c.shares(op.Amount)
	c.until(func(again bool) error {
		o, err := c.Capture(context.Background(), gateway.Capture{
			Attempt: c.a.ID, ProviderPaymentID: c.a.ProviderPaymentID, Money: c.money(op.Amount), Several: true, Again: again,
			ProviderData: c.captures(op.Amount, shares), IdempotencyKey: op.Key(), Permit: c.permit(),
		})
		if err == nil {
			ours.ProviderRef = o.ProviderRef
			c.apply(gateway.FromOutcome(o, payment.Cause{Kind: payment.CauseCall}))
		}
		return err
	})
	c.hear()
	if !c.a.Effected(ours) {
		rt.Fatalf("the capture %s of %d has no effect: %+v", op.Key(), op.Amount, c.a.Movements)
	}
	ours.Finish("")
	c.want.ofCapture(op.Amount)
	c.want[platform] += op.Amount
	for _, s := range shares {
		c.shared[s.seller] += s.minor
		c.commission[s.seller] += s.commission
		c.want[s.seller] += s.minor - s.commission
		c.want[platform] -= s.minor - s.commission
	}
}

// part is the part of an amount that refunds of so much have given back in all.
func part(of, refunded, captured int64) int64 { return of * refunded / captured }

func (c *course) refund(rt *rapid.T) {
	left := c.a.Held()
	if left < 1 {
		return
	}
	minor := rapid.Int64Range(1, left).Draw(rt, "amount")
	reverse, feeToo := rapid.Bool().Draw(rt, "the sellers bear it"), rapid.Bool().Draw(rt, "and get the commission back")
	var bearers []share
	if !c.proportional {
		rest := minor
		for _, seller := range c.sellers {
			by := rapid.Int64Range(0, min(rest, max(0, c.shared[seller]-c.back[seller]))).Draw(rt, "by "+seller)
			bearers = append(bearers, share{seller: seller, minor: by})
			rest -= by
		}
	}
	data := c.refunds(minor, bearers, reverse, feeToo)
	if silent := c.further.AcceptsRefund(nil, true); (silent == nil) != (len(c.further.Split.Refund) == 0) {
		rt.Fatalf("a refund that does not say who bears it: %v", silent)
	}
	if err := c.further.AcceptsRefund(data, true); err != nil {
		rt.Fatal(err)
	}
	id := payment.RefundID(uuid.New())
	c.until(func(bool) error {
		o, err := c.Refund(context.Background(), gateway.RefundCall{
			Refund: id, Attempt: c.a.ID, ProviderPaymentID: c.a.ProviderPaymentID, Money: c.money(minor), Left: c.money(left), ProviderData: data,
			IdempotencyKey: fmt.Sprint("key-refund-", c.calls), Permit: c.permit(),
		})
		if err == nil {
			c.apply(payment.Report{Payment: c.a.ProviderPaymentID, Event: fsm.EventMoney, Refund: &payment.RefundReport{
				ProviderID: o.ProviderRefundID, Event: o.Event, Money: o.Money,
			}})
		}
		return err
	})
	c.hear()
	c.want[customer] += minor
	c.want[platform] -= minor
	c.refunded += minor
	if !c.proportional {
		for _, s := range bearers {
			c.bears(s.seller, s.minor)
		}
		return
	}
	captured, before := c.a.Sums(payment.MovementCapture), c.refunded-minor
	for seller, got := range c.shared {
		if reverse {
			c.bears(seller, part(got, c.refunded, captured)-part(got, before, captured))
		}
		if feeToo {
			c.bears(seller, part(c.commission[seller], before, captured)-part(c.commission[seller], c.refunded, captured))
		}
	}
}

// bears moves the cost of a refund from the platform to a seller.
func (c *course) bears(seller string, minor int64) {
	c.back[seller] += minor
	c.want[seller] -= minor
	c.want[platform] += minor
}

// chargeback takes money from the platform, whoever has a share of it.
func (c *course) chargeback(rt *rapid.T) {
	if left := c.a.Held(); left < 1 || rapid.IntRange(0, 3).Draw(rt, "rare") > 0 {
		return
	}
	c.calls++
	minor := rapid.Int64Range(1, c.a.Held()).Draw(rt, "amount")
	for _, b := range []books{c.books, c.want} {
		b[customer] += minor
		b[platform] -= minor + 1500
		b[fees] += 1500
	}
	r := payment.Report{Payment: c.a.ProviderPaymentID, Event: fsm.EventMoney, Cause: payment.Cause{Kind: payment.CauseWebhook}, Movements: []payment.MovementReport{
		{Kind: payment.MovementChargeback, ID: fmt.Sprint("dispute-", c.calls), Money: c.money(minor)},
	}}
	c.apply(r, r)
}

func (c *course) check(rt *rapid.T) {
	if sum := c.books.sum(); sum != 0 {
		rt.Fatalf("the books sum to %d: %v", sum, c.books)
	}
	for _, b := range []books{c.books, c.want} {
		maps.DeleteFunc(b, func(_ string, minor int64) bool { return minor == 0 })
	}
	if !maps.Equal(c.books, c.want) {
		rt.Fatalf("the provider has %v, the shop's instructions mean %v", c.books, c.want)
	}
	if held := c.a.Held(); held != -c.books[customer] {
		rt.Fatalf("the customer has paid %d, and %d is recorded", -c.books[customer], held)
	}
}
