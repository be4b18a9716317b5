package razorpay_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// fake implements the documented parts of Razorpay that a payment needs. It keeps payment links, their payments, refunds
// and their idempotency keys.
type fake struct {
	*http.ServeMux

	mu     sync.Mutex
	links  []*link
	keys   map[string]*saved
	serial int
}

type object = map[string]any

type link struct {
	id, status, currency, reference, payment string
	amount, refunded                         int64
	notes                                    map[string]string
	callback                                 string
	refunds                                  []*refund
	// tries are the statuses of the payments on the link's page, in order.
	tries []string
	// order is set for an order without a link. paid is then the status of its payment.
	order bool
	paid  string
}

// orderID returns the id of the order that is paid.
func (l *link) orderID() string {
	if l.order {
		return l.id
	}
	return "order_" + l.id
}

type refund struct {
	id, payment, currency, receipt string
	amount                         int64
	notes                          map[string]string
}

type saved struct {
	request string
	said    object
}

const (
	keyID  = "rzp_test_1DP5mmOlF5G5ag"
	secret = "thiswillbesecret"
)

func newFake(*testing.T) *fake {
	f := &fake{ServeMux: http.NewServeMux(), keys: map[string]*saved{}}
	f.HandleFunc("POST /v1/payment_links/{$}", f.call(f.create))
	f.HandleFunc("POST /v1/payment_links/{id}/cancel", f.call(f.cancel))
	f.HandleFunc("POST /v1/payments/{id}/refund", f.call(f.refund))
	f.HandleFunc("GET /v1/payment_links/{$}", f.call(f.list))
	f.HandleFunc("GET /v1/payment_links/{id}", f.call(f.show))
	f.HandleFunc("GET /v1/payments/{id}", f.call(f.showPayment))
	f.HandleFunc("POST /v1/payments/{id}/capture", f.call(f.capture))
	f.HandleFunc("POST /v1/payments/create/upi", f.call(f.createUPI))
	f.HandleFunc("POST /v1/orders", f.call(f.createOrder))
	f.HandleFunc("GET /v1/orders", f.call(f.listOrders))
	f.HandleFunc("GET /v1/orders/{id}", f.call(f.showOrder))
	f.HandleFunc("GET /v1/orders/{id}/payments", f.call(f.listTries))
	f.HandleFunc("GET /v1/payments/{id}/refunds", f.call(f.listRefunds))
	f.HandleFunc("GET /v1/refunds/{id}", f.call(f.showRefund))
	return f
}

// request is the union of all request bodies. The fake is strict, as Razorpay is ("… is/are not required and should not
// be sent").
type request struct {
	Amount         *int64            `json:"amount"`
	Currency       string            `json:"currency"`
	ReferenceID    string            `json:"reference_id"`
	Description    string            `json:"description"`
	AcceptPartial  bool              `json:"accept_partial"`
	ReminderEnable bool              `json:"reminder_enable"`
	Notify         map[string]bool   `json:"notify"`
	Notes          map[string]string `json:"notes"`
	CallbackURL    string            `json:"callback_url"`
	CallbackMethod string            `json:"callback_method"`
	Receipt        string            `json:"receipt"`
	Customer       map[string]string `json:"customer"`
	Payment        *struct {
		Capture string         `json:"capture"`
		Options map[string]any `json:"capture_options"`
	} `json:"payment"`
	OrderID   string            `json:"order_id"`
	Email     string            `json:"email"`
	Contact   string            `json:"contact"`
	Method    string            `json:"method"`
	IP        string            `json:"ip"`
	UserAgent string            `json:"user_agent"`
	UPI       map[string]string `json:"upi"`
	Options   struct {
		Checkout struct {
			Method map[string]bool `json:"method"`
		} `json:"checkout"`
	} `json:"options"`
}

func (f *fake) call(run func(r *http.Request, in request) (int, object)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		defer f.mu.Unlock()
		if id, key, ok := r.BasicAuth(); !ok || id != keyID || key != secret {
			write(w, http.StatusUnauthorized, problem("Authentication failed", "NA", ""))
			return
		}
		var in request
		if r.Method == http.MethodPost {
			strict := json.NewDecoder(r.Body)
			strict.DisallowUnknownFields()
			if err := strict.Decode(&in); err != nil || r.Header.Get("Content-Type") != "application/json" {
				write(w, http.StatusBadRequest, problem("wrong input fields sent", "input_validation_failed", ""))
				return
			}
		}
		status, said := run(r, in)
		write(w, status, said)
	}
}

func write(w http.ResponseWriter, status int, said object) {
	raw, err := json.Marshal(said)
	if err != nil {
		panic(err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(raw)
}

func problem(description, reason, field string) object {
	return object{"error": object{
		"code": "BAD_REQUEST_ERROR", "description": description, "source": "business", "step": "payment_initiation",
		"reason": reason, "metadata": object{}, "field": field,
	}}
}

func refuse(description string) (int, object) {
	return http.StatusBadRequest, problem(description, "input_validation_failed", "")
}

func missing() (int, object) { return refuse("The id provided does not exist") }

func (f *fake) id(prefix string) string {
	f.serial++
	return fmt.Sprintf("%s_Fake%08d", prefix, 50000000+f.serial)
}

func (f *fake) create(_ *http.Request, in request) (int, object) {
	switch {
	case in.Amount == nil || *in.Amount < 100:
		return refuse("The amount must be at least INR 1.00")
	case in.CallbackURL != "" && in.CallbackMethod != "get":
		return refuse("callback method must be get")
	case in.AcceptPartial, in.ReminderEnable, in.Notify["sms"], in.Notify["email"]:
		return refuse("a link that is ours alone is not sent to anybody")
	}
	for _, l := range f.links {
		if !l.order && l.reference == in.ReferenceID {
			return refuse("payment link creation with reference ID already attempted")
		}
	}
	l := &link{
		id: f.id("plink"), status: "created", currency: in.Currency, reference: in.ReferenceID, amount: *in.Amount,
		notes: in.Notes, callback: in.CallbackURL,
	}
	f.links = append(f.links, l)
	return http.StatusOK, l.render()
}

// pay pays as the customer on the link's page.
func (f *fake) pay(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if l := f.link(id); l.status == "created" {
		l.status, l.payment = "paid", f.id("pay")
	}
}

// try makes a payment with this status as the customer on the link's page.
func (f *fake) try(id, status string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	l := f.link(id)
	l.tries = append(l.tries, status)
}

// listTries lists the newest payment first.
func (f *fake) listTries(r *http.Request, _ request) (int, object) {
	l := f.link(r.PathValue("id"))
	if l == nil {
		l = f.link(strings.TrimPrefix(r.PathValue("id"), "order_"))
	}
	if l == nil {
		return missing()
	}
	items := []object{}
	if l.order && l.payment != "" {
		items = append(items, l.renderPayment())
	}
	for i := range slices.Backward(l.tries) {
		items = append(items, l.renderTry(i))
	}
	return http.StatusOK, object{"entity": "collection", "count": len(items), "items": items}
}

func (l *link) renderTry(i int) object {
	in := l.id
	if !l.order {
		in = "order_" + l.id
	}
	made := object{"id": fmt.Sprintf("pay_Try%d", i), "entity": "payment", "order_id": in, "status": l.tries[i], "created_at": 1591097060 + i}
	if l.order && l.notes["upi_flow"] != "" {
		made["notes"] = l.notes
	}
	if l.tries[i] == "failed" {
		made["error_code"], made["error_reason"] = "BAD_REQUEST_ERROR", "insufficient_funds"
	}
	return made
}

func (f *fake) link(id string) *link {
	for _, l := range f.links {
		if id != "" && (l.id == id || l.payment == id) {
			return l
		}
	}
	return nil
}

func (f *fake) cancel(r *http.Request, _ request) (int, object) {
	l := f.link(r.PathValue("id"))
	switch {
	case l == nil:
		return missing()
	case l.status == "paid":
		return refuse("cannot cancel or expire an already paid/partially paid link")
	case l.status != "created":
		return refuse("cannot cancel or expire an expired link")
	}
	l.status = "cancelled"
	return http.StatusOK, l.render()
}

func (f *fake) refund(r *http.Request, in request) (int, object) {
	key, sent := r.Header.Get("X-Refund-Idempotency"), fmt.Sprint(r.URL.Path, *in.Amount, in.Receipt)
	known := f.keys[key]
	l := f.link(r.PathValue("id"))
	switch {
	case len(key) < 10:
		return refuse("The idempotency key must be at least 10 characters")
	case known != nil && known.request != sent:
		return refuse("Different request with the same idempotency key has already been processed.")
	case known != nil:
		return http.StatusOK, known.said
	case l == nil:
		return missing()
	case l.refunded == l.amount:
		return refuse("The payment has been fully refunded already.")
	case *in.Amount > l.amount-l.refunded:
		return refuse("The refund amount provided is greater than amount captured.")
	}
	l.refunded += *in.Amount
	made := &refund{id: f.id("rfnd"), payment: l.payment, currency: l.currency, receipt: in.Receipt, amount: *in.Amount, notes: in.Notes}
	l.refunds = append([]*refund{made}, l.refunds...)
	f.keys[key] = &saved{sent, made.render()}
	return http.StatusOK, made.render()
}

func (f *fake) list(r *http.Request, _ request) (int, object) {
	found := []object{}
	for _, l := range f.links {
		if !l.order && l.reference == r.URL.Query().Get("reference_id") {
			found = append(found, l.render())
		}
	}
	return http.StatusOK, object{"payment_links": found}
}

func (f *fake) show(r *http.Request, _ request) (int, object) {
	if l := f.link(r.PathValue("id")); l != nil && !l.order {
		return http.StatusOK, l.render()
	}
	return missing()
}

func (f *fake) showPayment(r *http.Request, _ request) (int, object) {
	if l := f.link(r.PathValue("id")); l != nil {
		return http.StatusOK, l.renderPayment()
	}
	for _, l := range f.links {
		for i := range l.tries {
			if try := l.renderTry(i); try["id"] == r.PathValue("id") {
				return http.StatusOK, try
			}
		}
	}
	return missing()
}

func (l *link) renderPayment() object {
	status := "captured"
	if l.order {
		status = l.paid
	}
	return object{
		"id": l.payment, "entity": "payment", "amount": l.amount, "currency": l.currency, "status": status, "captured": status == "captured",
		"amount_refunded": l.refunded,
		"order_id":        l.orderID(), "notes": []string{}, "error_code": nil, "error_reason": nil, "created_at": 1591097090,
	}
}

func (f *fake) listRefunds(r *http.Request, _ request) (int, object) {
	l := f.link(r.PathValue("id"))
	if l == nil {
		return missing()
	}
	count, _ := strconv.Atoi(r.URL.Query().Get("count"))
	if count < 1 || count > 100 {
		return refuse("The count may not be greater than 100.")
	}
	skip, _ := strconv.Atoi(r.URL.Query().Get("skip"))
	found := []object{}
	for i, made := range l.refunds {
		if i >= skip && i < skip+count {
			found = append(found, made.render())
		}
	}
	return http.StatusOK, object{"entity": "collection", "count": len(found), "items": found}
}

func (f *fake) showRefund(r *http.Request, _ request) (int, object) {
	for _, l := range f.links {
		for _, made := range l.refunds {
			if made.id == r.PathValue("id") {
				return http.StatusOK, made.render()
			}
		}
	}
	return missing()
}

func (l *link) render() object {
	o := object{
		"accept_partial": false, "amount": l.amount, "amount_paid": 0, "callback_url": l.callback, "callback_method": "get",
		"cancelled_at": 0, "created_at": 1591097057, "currency": l.currency, "description": "A-1", "expire_by": 0, "expired_at": 0,
		"first_min_partial_amount": 0, "id": l.id, "notes": l.notes, "notify": object{"email": false, "sms": false}, "payments": nil,
		"reference_id": l.reference, "reminder_enable": false, "reminders": []string{}, "short_url": "https://rzp.io/i/" + l.id,
		"status": l.status, "updated_at": 1591097057, "user_id": "",
	}
	if len(l.tries) > 0 {
		o["order_id"] = "order_" + l.id
	}
	if l.payment != "" {
		o["amount_paid"], o["order_id"] = l.amount, "order_"+l.id
		o["payments"] = []object{{
			"amount": l.amount, "created_at": 1591097070, "method": "upi", "payment_id": l.payment, "plink_id": l.id, "status": "captured",
		}}
	}
	return o
}

func (r *refund) render() object {
	return object{
		"id": r.id, "entity": "refund", "amount": r.amount, "currency": r.currency, "payment_id": r.payment, "notes": r.notes,
		"receipt": r.receipt, "acquirer_data": object{"arn": nil}, "created_at": 1597078866, "batch_id": nil, "status": "processed",
		"speed_processed": "normal", "speed_requested": "normal",
	}
}
