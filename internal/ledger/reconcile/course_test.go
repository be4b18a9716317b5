package reconcile_test

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// made is a payment and its charge at the sandbox.
type made struct {
	attempt      payment.AttemptID
	order, token string
	refunds      int // how many were requested
}

// charge is how the sandbox has a payment.
type charge struct {
	ID, Status     string
	AmountCaptured int64 `json:"amount_captured"`
	AmountRefunded int64 `json:"amount_refunded"`
	AmountDisputed int64 `json:"amount_disputed"`
	Disputes       []struct{ ID, Status string }
}

func (c charge) left() int64 { return c.AmountCaptured - c.AmountRefunded - c.AmountDisputed }

var shop = authz.Actor{Subject: "shop", Roles: []payment.Role{payment.RoleService}, OnBehalfOf: "u1"}

func request(endpoint, key string) idempotency.Request {
	return idempotency.Request{
		User: "u1", Endpoint: endpoint, Key: idempotency.Key(key), Hash: idempotency.HashRequest(http.MethodPost, endpoint, nil, nil, []byte(key)),
		Refusal: func(err error) idempotency.Response {
			return idempotency.Response{Status: http.StatusConflict, Body: []byte(err.Error())}
		},
	}
}

// tokens are drawn with the frequency that they have here; a manual one is captured or cancelled later.
var tokens = []string{
	"tok_success", "tok_success", "tok_success", "tok_success", "tok_success", "tok_success", "tok_success", "tok_success",
	"tok_async_success", "tok_async_success", "tok_async_success", "manual", "manual", "manual", "tok_decline", "tok_async_decline",
	"tok_disorder", "tok_twice", "tok_late_success", "tok_500_charged", "tok_500_once",
}

func draw[T any](w *world, of []T) T { return of[w.random.IntN(len(of))] }

// begin pays an order, and decides the later events of the payment.
func (w *world) begin(t *testing.T) {
	t.Helper()
	p := &made{order: fmt.Sprintf("M-%03d", len(w.payments)), token: draw(w, tokens)}
	w.payments = append(w.payments, p)
	money := payment.Money{Minor: int64(500 + w.random.IntN(20000)), Currency: "EUR"}
	_, _, err := w.use.CreateOrder(t.Context(), shop, request("orders", "order-"+p.order), commands.CreateOrder{OrderID: payment.OrderID(p.order), Money: money})
	require.NoError(t, err)
	pay := commands.Pay{OrderID: payment.OrderID(p.order), Details: gateway.Details{Token: p.token}, Capture: payment.CaptureAutomatic}
	if p.token == "manual" {
		pay.Token, pay.Capture = draw(w, []string{"tok_success", "tok_async_success"}), payment.CaptureManual
		p.token += " " + pay.Token
		w.on(w.random.IntN(4), func(t *testing.T) { t.Helper(); w.capture(t, p) })
	}
	reply, err := w.use.Pay(t.Context(), shop, request("pay "+p.order, "pay-"+p.order), pay)
	require.NoError(t, err)
	p.attempt = reply.ID
	if c := w.charge(t, p); c.Status == "pending" || p.token == "tok_late_success" {
		w.planned, w.status = p, c.Status
	}
	for after, act := range w.course() {
		w.on(after, func(t *testing.T) { t.Helper(); act(t, p) })
	}
}

// charge is the sandbox's charge of a payment; zero if there is none.
func (w *world) charge(t *testing.T, p *made) charge {
	t.Helper()
	var found struct{ Items []charge }
	require.Equal(t, http.StatusOK, w.call(t, http.MethodGet, "/v1/charges?reference="+p.attempt.String(), "", &found))
	if len(found.Items) == 0 {
		return charge{}
	}
	require.Len(t, found.Items, 1, "one charge for each pay")
	return found.Items[0]
}

// on has something done some days later.
func (w *world) on(after int, act func(t *testing.T)) {
	w.todo[w.day+after] = append(w.todo[w.day+after], act)
}

// capture captures a hold, in whole or in part, or cancels it; while its webhook is missed, tomorrow.
func (w *world) capture(t *testing.T, p *made) {
	t.Helper()
	v, err := w.use.Attempt(t.Context(), shop, p.attempt)
	require.NoError(t, err)
	part := v.Money.Minor/2 + 1
	req := request("capture "+p.order, "capture-"+p.order)
	switch way := w.random.IntN(4); {
	case v.State != fsm.Authorized:
		w.on(1, func(t *testing.T) { t.Helper(); w.capture(t, p) })
		return
	case way == 0:
		_, err = w.use.Cancel(t.Context(), shop, req, p.attempt)
	case way == 1:
		_, err = w.use.Confirm(t.Context(), shop, req, commands.Confirm{AttemptID: p.attempt, Amount: &part})
	default:
		_, err = w.use.Confirm(t.Context(), shop, req, commands.Confirm{AttemptID: p.attempt})
	}
	require.NoError(t, err)
}

// acts are the actions on a payment, by the number of days after its beginning.
type acts map[int]func(t *testing.T, p *made)

// course draws the actions on one payment.
func (w *world) course() acts {
	day := func() int { return w.random.IntN(9) }
	in := acts{}
	switch w.random.IntN(10) {
	case 0, 1: // one refund, or several
		for range 1 + w.random.IntN(3) {
			in[day()] = w.refund(w.random.IntN(3) == 0)
		}
	case 2: // in the dashboard
		in[day()] = w.refundInDashboard(w.random.IntN(2) == 0)
	case 3: // by both
		in[day()] = w.refundInDashboard(false)
		in[day()] = w.refund(w.random.IntN(2) == 0)
		in[9+day()] = w.refundInDashboard(w.random.IntN(2) == 0)
	case 4, 5, 6: // disputed
		in[day()] = w.dispute(draw(w, disputes)...)
	case 7: // disputed twice, and refunded
		in[day()] = w.dispute(draw(w, disputes)...)
		in[3+day()] = w.refund(w.random.IntN(2) == 0)
		in[6+day()] = w.dispute(draw(w, disputes)...)
	}
	return in
}

// refund refunds by the API a part of the amount left at the sandbox, or the whole amount left here. A change that is
// unknown here may make the refund fail.
func (w *world) refund(whole bool) func(t *testing.T, p *made) {
	return func(t *testing.T, p *made) {
		t.Helper()
		c := w.charge(t, p)
		if c.left() <= 0 {
			return
		}
		cmd := commands.CreateRefund{AttemptID: p.attempt, AcknowledgeDispute: true}
		if !whole {
			cmd.Amount = new(1 + w.random.Int64N(c.left()))
		}
		p.refunds++
		_, err := w.use.Refund(t.Context(), shop, request("refund "+p.order, fmt.Sprintf("refund-%s-%d", p.order, p.refunds)), cmd)
		if !errors.Is(err, payment.ErrNotRefundable) && !errors.Is(err, payment.ErrRefundExceeds) {
			require.NoError(t, err)
		}
	}
}

func (w *world) refundInDashboard(whole bool) func(t *testing.T, p *made) {
	return func(t *testing.T, p *made) {
		t.Helper()
		c, body := w.charge(t, p), "{}"
		if c.left() <= 0 {
			return
		}
		if !whole {
			body = fmt.Sprintf(`{"amount":%d}`, 1+w.random.Int64N(c.left()))
		}
		require.Equal(t, http.StatusCreated, w.call(t, http.MethodPost, "/v1/dashboard/charges/"+c.ID+"/refund", body, &struct{}{}))
	}
}

// disputes are sequences of actions on a dispute, even with a later reversal of its decision.
var disputes = [][]string{
	{"dispute"},
	{"dispute", "evidence"},
	{"dispute", "evidence", "win"},
	{"dispute", "evidence", "lose"},
	{"dispute", "win"},
	{"dispute", "lose"},
	{"dispute", "accept"},
	{"dispute", "evidence", "lose", "win"},
	{"dispute", "win", "lose"},
	{"dispute", "lose", "win", "lose"},
	{"warning"},
	{"warning", "win"},
	{"warning", "open", "evidence", "win"},
	{"warning", "open", "lose"},
}

// dispute opens a dispute of the whole amount left, or of a part of the captured amount, and schedules the other actions
// for later days.
func (w *world) dispute(steps ...string) func(t *testing.T, p *made) {
	return func(t *testing.T, p *made) {
		t.Helper()
		c := w.charge(t, p)
		amount := c.left()
		if most := c.AmountCaptured - c.AmountDisputed; most > 0 && w.random.IntN(3) == 0 {
			amount = 1 + w.random.Int64N(most)
		}
		if amount <= 0 {
			return
		}
		var d struct{ ID string }
		body := fmt.Sprintf(`{"amount":%d,"reason":"fraudulent","warning":%t}`, amount, steps[0] == "warning")
		require.Equal(t, http.StatusCreated, w.call(t, http.MethodPost, "/v1/dashboard/charges/"+c.ID+"/dispute", body, &d))
		after := 0
		for _, act := range steps[1:] {
			after += 1 + w.random.IntN(4)
			w.on(after, func(t *testing.T) {
				t.Helper()
				require.Equal(t, http.StatusOK, w.call(t, http.MethodPost, "/v1/dashboard/disputes/"+d.ID+"/"+act, "{}", &struct{}{}))
			})
		}
	}
}

// live plays a day: some payments, the actions due today, in any order, and the night's reconciliation, unless it is
// left out.
func (w *world) live(t *testing.T, payments int, reconciled bool) {
	t.Helper()
	end := w.Now().Add(24 * time.Hour)
	for range payments {
		w.on(0, w.begin)
	}
	acts := w.todo[w.day]
	w.random.Shuffle(len(acts), func(i, j int) { acts[i], acts[j] = acts[j], acts[i] })
	pause := 20 * time.Hour / time.Duration(20*2*(len(acts)+1))
	for i := 0; len(w.todo[w.day]) > 0; i++ { // an act may add one
		act := w.todo[w.day][0]
		w.todo[w.day] = w.todo[w.day][1:]
		w.wait(t, time.Duration(1+w.random.IntN(20))*pause)
		if i%4 == 0 {
			w.run(t, w.background...)
		}
		act(t)
	}
	w.wait(t, end.Sub(w.Now()))
	w.run(t, w.background...)
	if reconciled {
		w.run(t, w.daily)
	}
	w.day++
}
