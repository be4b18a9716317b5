// Package comgatetest has a fake Comgate server, for tests. The conformance suite and tests of the whole program use
// it. It keeps books of payments and refunds, so that tests can compare them with paylatch's books.
package comgatetest

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync"
)

// Fake implements the documented parts of Comgate that a payment needs. It accepts only parameters of protocol 1.0.
type Fake struct {
	mu       sync.Mutex
	payments map[string]*paid
	serial   int
	// Slow keeps recurring payments pending.
	Slow bool
	// counts is the number of executed commands by method.
	counts  map[string]int
	refunds []Refund
	notices []string
}

// Refund is a stored refund with its refId.
type Refund struct {
	Payment, Reference string
	Amount             int64
}

// Payment is a stored payment.
type Payment struct {
	ID, Reference, Status string
	Price                 int64
}

type paid struct {
	status, price, curr, ref, payer, method, test string
	preauth, recurring                            bool
	refunded                                      int
}

const (
	// Merchant is the shop's number.
	Merchant = "123456"
	// Secret is the shop's secret.
	Secret = "shop-secret"
	// Initial is a payment that was marked for recurrence for Owner.
	Initial = "INIT-0000-0001"
	// Owner is the customer of Initial.
	Owner = "u-7"
)

// New returns a shop with one payment, Initial.
func New() *Fake {
	return &Fake{counts: map[string]int{}, payments: map[string]*paid{
		Initial: {status: "PAID", price: "1000", curr: "EUR", ref: "att_0", payer: "recurring:" + Owner, method: "CARD_CZ_CSOB_2", test: "false", recurring: true},
	}}
}

// parameters maps a method to its parameters, without merchant, secret and transId.
var parameters = map[string][]string{ //nolint:gochecknoglobals // a table
	"create": {
		"test", "country", "price", "curr", "label", "refId", "method", "account", "email", "name", "lang", "prepareOnly", "preauth",
		"initRecurring", "payerId", "applePayPayload", "expirationTime", "dynamicExpiration", "url_paid", "url_cancelled", "url_pending",
	},
	"recurring":      {"test", "country", "price", "curr", "label", "refId", "account", "email", "name", "prepareOnly", "initRecurringId"},
	"refund":         {"amount", "curr", "test", "refId"},
	"capturePreauth": {"amount"},
	"cancelPreauth":  {}, "cancel": {}, "status": {}, "transferList": {"date"},
}

// ServeHTTP implements http.Handler.
func (f *Fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	raw, _ := io.ReadAll(r.Body)
	form, err := url.ParseQuery(string(raw))
	method := r.URL.Path[len("/v1.0/"):]
	allowed, known := parameters[method]
	if err != nil || !known || r.Method != http.MethodPost || form.Get("merchant") != Merchant || form.Get("secret") != Secret {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	for name := range form {
		if !slices.Contains(append([]string{"merchant", "secret", "transId"}, allowed...), name) {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
	}
	if method == "transferList" { // nothing was transferred yet
		w.Header().Set("Content-Type", "application/json; charset=UTF-8")
		_, _ = io.WriteString(w, "[]")
		return
	}
	answer := map[string]func(url.Values) url.Values{
		"create": f.create, "recurring": f.recur, "status": f.status, "refund": f.refund, "cancel": f.leave("PENDING", "CANCELLED"),
		"cancelPreauth": f.leave("AUTHORIZED", "CANCELLED"), "capturePreauth": f.capture,
	}[method](form)
	if answer.Get("code") == "0" {
		f.counts[method]++
	}
	w.Header().Set("Content-Type", "application/x-www-form-urlencoded; charset=UTF-8")
	_, _ = io.WriteString(w, answer.Encode())
}

func code(n int) url.Values {
	return url.Values{"code": {strconv.Itoa(n)}, "message": {"Not for the customer."}}
}

func done(pairs ...string) url.Values {
	v := url.Values{"code": {"0"}, "message": {"OK"}}
	for pair := range slices.Chunk(pairs, 2) {
		v.Set(pair[0], pair[1])
	}
	return v
}

func (f *Fake) begin(form url.Values) (id string, wrong url.Values) {
	price, err := strconv.Atoi(form.Get("price"))
	label := []rune(form.Get("label"))
	switch {
	case err != nil || price <= 0:
		return "", code(1309)
	case len(label) < 1 || len(label) > 16:
		return "", code(1305)
	case form.Get("refId") == "" || form.Get("prepareOnly") != "true":
		return "", code(1400)
	}
	f.serial++
	p := &paid{
		status: "PENDING", price: form.Get("price"), curr: form.Get("curr"), ref: form.Get("refId"), payer: form.Get("payerId"), test: "false",
		method: "CARD_CZ_CSOB_2", preauth: form.Get("preauth") == "true", recurring: form.Get("initRecurring") == "true",
	}
	if form.Get("test") == "true" {
		p.test = "true"
	}
	id = fmt.Sprintf("FAKE-0000-%04d", f.serial)
	f.payments[id] = p
	return id, nil
}

func (f *Fake) create(form url.Values) url.Values {
	if method := form.Get("method"); method != "ALL" && method != "CARD_ALL" {
		return code(1103)
	}
	id, wrong := f.begin(form)
	if wrong != nil {
		return wrong
	}
	return done("transId", id, "redirect", "https://payments.comgate.cz/client/instructions/index?id="+id)
}

func (f *Fake) recur(form url.Values) url.Values {
	first := f.payments[form.Get("initRecurringId")]
	if first == nil || !first.recurring || first.status != "PAID" {
		return code(1318)
	}
	id, wrong := f.begin(form)
	if wrong != nil {
		return wrong
	}
	if !f.Slow {
		f.moved(id, "PAID")
	}
	return done("transId", id)
}

func (f *Fake) status(form url.Values) url.Values {
	id := form.Get("transId")
	p := f.payments[id]
	if p == nil {
		return url.Values{"code": {"1400"}, "message": {"Payment not found"}}
	}
	v := done("secret", Secret)
	maps.Copy(v, p.members(id))
	return v
}

// members returns the members that a status and a notification have in common.
func (p *paid) members(id string) url.Values {
	v := url.Values{
		"merchant": {Merchant}, "test": {p.test}, "price": {p.price}, "curr": {p.curr}, "label": {"Order"}, "refId": {p.ref}, "email": {"a@shop.example"},
		"method": {p.method}, "transId": {id}, "status": {p.status},
	}
	if p.payer != "" {
		v.Set("payerId", p.payer)
	}
	return v
}

// leave moves a payment from one status to another.
func (f *Fake) leave(from, to string) func(url.Values) url.Values {
	return func(form url.Values) url.Values {
		p := f.payments[form.Get("transId")]
		if p == nil || p.status != from {
			return code(1400)
		}
		f.moved(form.Get("transId"), to)
		return done()
	}
}

func (f *Fake) capture(form url.Values) url.Values {
	p := f.payments[form.Get("transId")]
	if p == nil || p.status != "AUTHORIZED" || form.Get("amount") != p.price {
		return code(1400)
	}
	f.moved(form.Get("transId"), "PAID")
	return done()
}

func (f *Fake) refund(form url.Values) url.Values {
	p := f.payments[form.Get("transId")]
	amount, err := strconv.Atoi(form.Get("amount"))
	switch {
	case err != nil, p == nil, p.curr != form.Get("curr"), (p.test == "true") != (form.Get("test") == "true"):
		return code(1400)
	case p.status == "CANCELLED":
		return code(1401)
	}
	price, _ := strconv.Atoi(p.price)
	if p.status != "PAID" || p.refunded+amount > price {
		return code(1402)
	}
	p.refunded += amount
	f.refunds = append(f.refunds, Refund{form.Get("transId"), form.Get("refId"), int64(amount)})
	return done()
}
