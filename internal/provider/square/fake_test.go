package square_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// fake implements the documented parts of Square that a payment needs. It keeps payments, refunds and the answers of
// idempotency keys.
type fake struct {
	*http.ServeMux

	mu       sync.Mutex
	payments map[string]object
	refunds  map[string]object
	keys     map[string]saved
	serial   int
	// raises: a payment's amount can be raised, and EDIT_AMOUNT_UP is among its capabilities.
	raises bool
}

type object = map[string]any

type answer struct {
	status int
	body   object
}

// saved is the stored answer of a key. Another request with the same key is refused.
type saved struct {
	request string
	answer  answer
}

const (
	secret = "EAAAl-fake"
	// These are Square's own test tokens
	// (https://developer.squareup.com/docs/devtools/sandbox/payments).
	cardOK, cardDeclined, cardPoor = "cnon:card-nonce-ok", "cnon:card-nonce-declined", "cnon:card-nonce-insufficient-funds"
	cardUsed, cardNone, bankSlow   = "cnon:card-nonce-already-used", "cnon:nobody", "bnon:bank-nonce-ok"
)

func newFake() *fake {
	f := &fake{ServeMux: http.NewServeMux(), payments: map[string]object{}, refunds: map[string]object{}, keys: map[string]saved{}}
	f.HandleFunc("POST /v2/payments", f.command(f.pay))
	f.HandleFunc("PUT /v2/payments/{id}", f.command(f.update))
	f.HandleFunc("POST /v2/payments/{id}/complete", f.command(f.complete))
	f.HandleFunc("POST /v2/payments/{id}/cancel", f.command(f.cancel))
	f.HandleFunc("POST /v2/payments/cancel", f.cancelByKey)
	f.HandleFunc("POST /v2/refunds", f.command(f.refund))
	f.HandleFunc("GET /v2/payments", f.list)
	f.HandleFunc("GET /v2/payments/{id}", f.question("payment", f.payments))
	f.HandleFunc("GET /v2/orders/{id}", f.showOrder)
	f.HandleFunc("GET /v2/cards/{id}", f.question("card", map[string]object{cardOnFile: {"id": cardOnFile, "customer_id": cardHolder}}))
	f.HandleFunc("GET /v2/refunds/{id}", f.question("refund", f.refunds))
	return f
}

// command runs an operation. An operation with a key runs once for each key.
func (f *fake) command(run func(id string, in object) answer) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+secret {
			refuse(401, "AUTHENTICATION_ERROR", "UNAUTHORIZED").write(w)
			return
		}
		raw, _ := io.ReadAll(r.Body)
		var in object
		readable := json.Unmarshal(raw, &in) == nil
		if strings.HasSuffix(r.URL.Path, "/cancel") {
			readable = len(raw) == 0
		}
		if !readable || r.Header.Get("Content-Type") != "application/json" {
			refuse(400, "INVALID_REQUEST_ERROR", "EXPECTED_JSON_BODY").write(w)
			return
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		key, _ := in["idempotency_key"].(string)
		known, again := f.keys[key]
		request := r.URL.Path + string(raw)
		switch {
		case key == "" || !again:
			known = saved{request, run(r.PathValue("id"), in)}
			if key != "" {
				f.keys[key] = known
			}
		case known.request != request:
			known.answer = refuse(400, "INVALID_REQUEST_ERROR", "IDEMPOTENCY_KEY_REUSED")
		}
		known.answer.write(w)
	}
}

func (f *fake) question(name string, all map[string]object) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		defer f.mu.Unlock()
		if found := all[r.PathValue("id")]; found != nil {
			answer{200, object{name: found}}.write(w)
			return
		}
		missing().write(w)
	}
}

// showOrder returns the order of payments. The description of the Payments API does not contain orders.
func (f *fake) showOrder(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	tenders := []object{}
	for _, p := range f.payments {
		if p["order_id"] == r.PathValue("id") {
			tenders = append(tenders, object{"id": p["id"], "type": "CARD", "payment_id": p["id"]})
		}
	}
	if len(tenders) == 0 && r.PathValue("id") != openOrder {
		missing().write(w)
		return
	}
	answer{200, object{"order": object{"id": r.PathValue("id"), "location_id": "L1", "state": "OPEN", "tenders": tenders}}}.write(w)
}

// openOrder is an unpaid order.
const openOrder = "o-open"

// beside returns a handler that adds the orders to the described requests.
func (f *fake) beside(described http.Handler) http.Handler {
	all := http.NewServeMux()
	all.Handle("/", described)
	all.HandleFunc("GET /v2/orders/{id}", f.showOrder)
	return all
}

// list returns the payments of a span, two on a page. An empty list is omitted.
func (f *fake) list(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	q := r.URL.Query()
	var found []object
	for _, id := range slices.Sorted(maps.Keys(f.payments)) {
		made, _ := f.payments[id]["created_at"].(string)
		if id > q.Get("cursor") && (q.Get("begin_time") == "" || q.Get("begin_time") <= made && (q.Get("end_time") == "" || made <= q.Get("end_time"))) {
			found = append(found, f.payments[id])
		}
	}
	body := object{}
	if found != nil {
		body["payments"] = found
	}
	if len(found) > 2 {
		body["payments"], body["cursor"] = found[:2], found[1]["id"]
	}
	w.Header().Set("Square-Version", "2025-08-20")
	answer{200, body}.write(w)
}

func (a answer) write(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(a.status)
	if err := json.NewEncoder(w).Encode(a.body); err != nil {
		panic(err)
	}
}

func refuse(status int, category, code string) answer {
	return answer{status, object{"errors": []object{{"category": category, "code": code, "detail": "Jane Doe's card is odd"}}}}
}

func missing() answer { return refuse(404, "INVALID_REQUEST_ERROR", "NOT_FOUND") }

func (f *fake) id(prefix string) string {
	f.serial++
	return fmt.Sprintf("%s%020d", prefix, f.serial)
}

func (f *fake) pay(_ string, in object) answer {
	p := object{
		"id": f.id("p"), "created_at": time.Now().UTC().Format(time.RFC3339), "order_id": f.id("o"), "status": "COMPLETED", "reference_id": in["reference_id"], "amount_money": in["amount_money"],
		"total_money": in["amount_money"], "approved_money": in["amount_money"], "refund_ids": []string{}, "version_token": f.id("v"),
	}
	if in["source_id"] == cardOnFile && in["customer_id"] != cardHolder {
		return refuse(400, "INVALID_REQUEST_ERROR", "NOT_FOUND")
	}
	switch in["source_id"] {
	case cardNone:
		return refuse(404, "INVALID_REQUEST_ERROR", "NOT_FOUND")
	case cardUsed:
		return refuse(400, "INVALID_REQUEST_ERROR", "CARD_TOKEN_USED")
	case cardDeclined, cardPoor:
		code := map[any]string{cardDeclined: "GENERIC_DECLINE", cardPoor: "INSUFFICIENT_FUNDS"}[in["source_id"]]
		said := refuse(400, "PAYMENT_METHOD_ERROR", code)
		p["status"], p["card_details"] = "FAILED", object{"status": "FAILED", "errors": said.body["errors"]}
		delete(p, "approved_money")
		said.body["payment"] = p
		f.payments[p["id"].(string)] = p
		return said
	case bankSlow:
		p["status"] = "PENDING"
	default:
		if in["autocomplete"] == false {
			p["status"] = "APPROVED"
		}
	}
	f.payments[p["id"].(string)] = p
	return answer{200, object{"payment": p}}
}

func minor(m any) float64 {
	money, _ := m.(object)
	amount, _ := money["amount"].(float64)
	return amount
}

// update changes an amount if the payment's capabilities allow it
// (https://developer.squareup.com/docs/payments-api/update-payments).
func (f *fake) update(id string, in object) answer {
	p, change := f.payments[id], in["payment"].(object)
	switch {
	case p == nil:
		return missing()
	case p["status"] != "APPROVED", minor(change["amount_money"]) > minor(p["approved_money"]),
		minor(change["amount_money"]) > minor(p["amount_money"]) && !f.raises:
		return refuse(400, "INVALID_REQUEST_ERROR", "BAD_REQUEST")
	}
	p["amount_money"], p["total_money"] = change["amount_money"], change["amount_money"]
	return answer{200, object{"payment": p}}
}

func (f *fake) complete(id string, _ object) answer { return f.move(id, "COMPLETED") }
func (f *fake) cancel(id string, _ object) answer   { return f.move(id, "CANCELED") }

// cancelByKey cancels the payment that the key of a CreatePayment created. For an unknown key it also reports success.
func (f *fake) cancelByKey(w http.ResponseWriter, r *http.Request) {
	var in object
	if json.NewDecoder(r.Body).Decode(&in) != nil || r.Header.Get("Authorization") != "Bearer "+secret {
		refuse(401, "AUTHENTICATION_ERROR", "UNAUTHORIZED").write(w)
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	key, _ := in["idempotency_key"].(string)
	if made, ok := f.keys[key].answer.body["payment"].(object); ok {
		if said := f.move(made["id"].(string), "CANCELED"); said.status != 200 {
			said.write(w)
			return
		}
	}
	answer{200, object{}}.write(w)
}

func (f *fake) move(id, to string) answer {
	p := f.payments[id]
	switch {
	case p == nil:
		return missing()
	case p["status"] != "APPROVED":
		return refuse(400, "INVALID_REQUEST_ERROR", "BAD_REQUEST")
	}
	p["status"] = to
	return answer{200, object{"payment": p}}
}

func (f *fake) refund(_ string, in object) answer {
	of, _ := in["payment_id"].(string)
	p := f.payments[of]
	if p == nil {
		return missing()
	}
	left := minor(p["total_money"])
	ids, _ := p["refund_ids"].([]string)
	for _, id := range ids {
		left -= minor(f.refunds[id]["amount_money"])
	}
	switch {
	case p["status"] != "COMPLETED":
		return refuse(400, "REFUND_ERROR", "REFUND_ERROR_PAYMENT_NEEDS_COMPLETION")
	case minor(in["amount_money"]) > left:
		return refuse(400, "REFUND_ERROR", "REFUND_AMOUNT_INVALID")
	}
	r := object{
		"id": f.id("r"), "status": "PENDING", "payment_id": of, "order_id": p["order_id"], "amount_money": in["amount_money"], "reason": in["reason"],
	}
	f.refunds[r["id"].(string)] = r
	p["refund_ids"] = append(ids, r["id"].(string))
	return answer{200, object{"refund": r}}
}
