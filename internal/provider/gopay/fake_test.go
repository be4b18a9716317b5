package gopay_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// gate implements the documented parts of GoPay that a payment needs. It executes commands at once.
type gate struct {
	*http.ServeMux

	mu       sync.Mutex
	payments map[string]*paid
	serial   int
	// lags: the fake accepts commands and does not execute them yet.
	lags bool
	// silent: lists of refunds are empty. unlisted: there are no lists of refunds.
	silent, unlisted bool
	// bodies are the bodies of all commands.
	bodies []string
}

type object map[string]any

type paid struct {
	id       int
	state    string
	amount   int64
	currency string
	held     bool
	stopped  bool // the recurrence was stopped
	request  object
	parent   int
	refunds  []object
}

const (
	goid = "8123456789"
	// savedCard, emptyCard and stoppedCard are payments that saved cards of the customer savedFor.
	savedCard, emptyCard, stoppedCard = "3000000100", "3000000340", "3000000342"
	savedFor                          = "customer-1"
	token                             = "token-1"
)

func newGate(*testing.T) *gate {
	g := &gate{ServeMux: http.NewServeMux(), payments: map[string]*paid{}, serial: 3000000500}
	for _, id := range []string{savedCard, emptyCard, stoppedCard} {
		n, _ := strconv.Atoi(id)
		g.payments[id] = &paid{id: n, state: "PAID", amount: 100, currency: "EUR", request: object{
			"additional_params": []object{{"name": "customer_reference", "value": savedFor}}, "recurrence": object{"recurrence_cycle": "ON_DEMAND"},
		}}
	}
	g.HandleFunc("POST /api/oauth2/token", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"token_type":"bearer","access_token":"`+token+`","expires_in":1800}`)
	})
	g.HandleFunc("POST /api/payments/payment", g.create)
	g.HandleFunc("GET /api/payments/payment/{id}", g.on(func(p *paid, _ []byte) (any, int) { return p.render(), 0 }))
	g.HandleFunc("GET /api/payments/payment/{id}/refunds", g.on(func(p *paid, _ []byte) (any, int) {
		if g.unlisted {
			return nil, 304
		}
		if g.silent {
			return []object{}, 0
		}
		return append([]object{}, p.refunds...), 0
	}))
	g.HandleFunc("POST /api/payments/payment/{id}/create-recurrence", g.on(g.recur))
	g.HandleFunc("POST /api/payments/payment/{id}/capture", g.on(g.capture))
	g.HandleFunc("POST /api/payments/payment/{id}/void-authorization", g.on(g.void))
	g.HandleFunc("POST /api/payments/payment/{id}/refund", g.on(g.refund))
	return g
}

// ServeHTTP implements http.Handler.
func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	if r.URL.Path != "/api/oauth2/token" && r.Header.Get("Authorization") != "Bearer "+token {
		refuse(w, http.StatusForbidden, 200)
		return
	}
	g.ServeMux.ServeHTTP(w, r)
}

func refuse(w http.ResponseWriter, status, code int) {
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, `{"date_issued":"2026-01-02T10:00:00.000+0100","errors":[{"scope":"G","field":null,"error_code":%d,"error_name":"%s","message":"Not for the customer.","description":null}]}`, code, names[code])
}

var names = map[int]string{
	110: "INVALID", 200: "AUTH_FORBIDDEN", 303: "PAYMENT_WRONG_STATE", 304: "PAYMENT_NOT_FOUND", 330: "PAYMENT_REFUND_FAILED", 332: "PAYMENT_REFUND_AMOUNT",
	340: "PAYMENT_RECURRENCE_FAILED", 342: "PAYMENT_RECURRENCE_STOPPED", 350: "PAYMENT_CAPTURE_FAILED", 351: "PAYMENT_CAPTURE_DONE", 352: "PAYMENT_AUTH_VOID_FAILED",
}

// on executes a command for a payment. do returns the response, or the number of an error.
func (g *gate) on(do func(p *paid, body []byte) (any, int)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.Method == http.MethodPost {
			g.bodies = append(g.bodies, string(body))
		}
		p := g.payments[r.PathValue("id")]
		if p == nil {
			refuse(w, http.StatusNotFound, 304)
			return
		}
		said, code := do(p, body)
		if code != 0 {
			refuse(w, map[bool]int{false: http.StatusConflict, true: http.StatusNotFound}[code == 304], code)
			return
		}
		answer(w, said)
	}
}

// order is the part of a request for a payment or a recurrence that the fake reads.
type order struct {
	Amount   int64  `json:"amount"`
	Currency string `json:"currency"`
	Number   string `json:"order_number"`
	Preauth  bool   `json:"preauthorization"`
	Items    []struct {
		Amount int64 `json:"amount"`
	} `json:"items"`
	Target struct {
		GoID string `json:"goid"`
	} `json:"target"`
	Payer struct {
		Default string `json:"default_payment_instrument"`
	} `json:"payer"`
}

func (o order) wrong() bool {
	sum := o.Amount
	for _, item := range o.Items {
		sum -= item.Amount
	}
	return o.Amount < 1 || o.Currency == "" || o.Number == "" || sum != 0
}

func (g *gate) create(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	g.bodies = append(g.bodies, string(body))
	var in order
	known := []string{"", "PAYMENT_CARD", "BANK_ACCOUNT", "GPAY", "APPLE_PAY"}
	if json.Unmarshal(body, &in) != nil || in.wrong() || in.Target.GoID != goid || !slices.Contains(known, in.Payer.Default) {
		refuse(w, http.StatusConflict, 110)
		return
	}
	answer(w, g.add(in, body, 0).render())
}

func answer(w io.Writer, said any) {
	raw, _ := json.Marshal(said) //nolint:errchkjson // texts and numbers
	_, _ = w.Write(raw)
}

func (g *gate) add(in order, body []byte, parent int) *paid {
	g.serial++
	p := &paid{id: g.serial, state: "CREATED", amount: in.Amount, currency: in.Currency, held: in.Preauth, parent: parent}
	_ = json.Unmarshal(body, &p.request)
	g.payments[strconv.Itoa(p.id)] = p
	return p
}

func (p *paid) render() object {
	o := object{
		"id": p.id, "order_number": p.request["order_number"], "state": p.state, "amount": p.amount, "currency": p.currency, "target": object{"type": "ACCOUNT", "goid": json.Number(goid)},
		"additional_params": p.request["additional_params"], "gw_url": "https://gw.sandbox.gopay.com/gw/v3/" + strconv.Itoa(p.id), "payment_instrument": "PAYMENT_CARD",
	}
	if p.parent != 0 {
		o["parent_id"] = p.parent
	}
	if p.request["recurrence"] != nil {
		o["recurrence"] = object{"recurrence_cycle": "ON_DEMAND", "recurrence_date_to": "2099-12-30", "recurrence_state": map[bool]string{false: "STARTED", true: "STOPPED"}[p.stopped]}
		o["payer"] = object{"payment_card": object{"card_number": "418803******0003", "card_expiration": "3009", "card_brand": "VISA"}}
	}
	return o
}

// pay pays as the customer on GoPay's page.
func (g *gate) pay(id string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.payments[id].state = "PAID"
	if g.payments[id].held {
		g.payments[id].state = "AUTHORIZED"
	}
}

func (g *gate) recur(p *paid, body []byte) (any, int) {
	var in order
	switch {
	case json.Unmarshal(body, &in) != nil, in.wrong():
		return nil, 110
	case strconv.Itoa(p.id) == emptyCard:
		return nil, 340
	case p.request["recurrence"] == nil, strconv.Itoa(p.id) == stoppedCard:
		return nil, 342
	}
	made := g.add(in, body, p.id)
	said := made.render()
	made.state = "PAID"
	return said, 0
}

func (g *gate) done(p *paid) (any, int) {
	said := "FINISHED"
	if g.lags {
		said = "ACCEPTED"
	}
	return object{"id": p.id, "result": said}, 0
}

func (g *gate) capture(p *paid, body []byte) (any, int) {
	sum := p.amount
	if len(body) > 0 {
		var in struct {
			Amount int64 `json:"amount"`
		}
		if json.Unmarshal(body, &in) != nil {
			return nil, 110
		}
		sum = in.Amount
	}
	switch {
	case p.state == "PAID":
		return nil, 351
	case p.state != "AUTHORIZED", sum > p.amount, sum < 1:
		return nil, 350
	}
	if !g.lags {
		p.state, p.amount = "PAID", sum
	}
	return g.done(p)
}

func (g *gate) void(p *paid, _ []byte) (any, int) {
	if p.state != "AUTHORIZED" {
		return nil, 352
	}
	if !g.lags {
		p.state = "CANCELED"
	}
	return g.done(p)
}

func (g *gate) refund(p *paid, body []byte) (any, int) {
	form, _ := url.ParseQuery(string(body))
	sum, err := strconv.ParseInt(form.Get("amount"), 10, 64)
	left := p.amount
	for _, one := range p.refunds {
		back, _ := one["amount"].(int64)
		left -= back
	}
	switch {
	case !strings.HasSuffix(p.state, "PAID") && !strings.HasSuffix(p.state, "REFUNDED"):
		return nil, 330
	case err != nil, sum < 1, sum > left:
		return nil, 332
	}
	p.state = "PARTIALLY_REFUNDED"
	if sum == left {
		p.state = "REFUNDED"
	}
	g.serial++
	p.refunds = append(p.refunds, object{"id": g.serial, "state": "SUCCESS", "amount": sum, "currency": p.currency, "date_requested": "2026-01-02T10:00:00Z"})
	return g.done(p)
}
