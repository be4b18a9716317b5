package checkout_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"sync"

	"github.com/paylatch/paylatch/internal/provider/providertest"
)

// fake implements the documented parts of Checkout.com that a payment needs. It keeps payments with their actions, and
// the answers of idempotency keys.
type fake struct {
	*http.ServeMux
	// busy: accepted actions wait.
	busy bool

	mu       sync.Mutex
	payments map[string]*paid
	sessions []*session
	keys     map[string]answer
	serial   int
}

type object = map[string]any

// paid is a payment. captured is the total captured amount, voided the released amount. wanted are actions that were accepted and not executed yet.
type paid struct {
	id, reference, currency, status string
	amount, captured, refunded      int64
	voided                          int64
	metadata                        any
	stored                          bool
	method                          string // of a local method
	disputes                        []object
	actions                         []object
	wanted                          []func()
}

type answer struct {
	status int
	body   any
}

const (
	secret = "sk_sbox_fake"
	// Tokens have 26 characters after their prefix.
	cardOK, cardDeclined, cardPoor = "tok_ok000000000000000000000000", "tok_declined000000000000000000", "tok_poor0000000000000000000000"
	cardRedirect, cardNone         = "tok_redirect000000000000000000", "tok_nobody00000000000000000000"
	cardSlow                       = "tok_slow0000000000000000000000"
)

func newFake() *fake {
	f := &fake{ServeMux: http.NewServeMux(), payments: map[string]*paid{}, keys: map[string]answer{}}
	f.HandleFunc("POST /payments", f.command(func(_ *paid, in object) answer { return f.pay(in) }))
	for verb, run := range map[string]func(*paid, object) answer{"captures": f.capture, "voids": f.void, "refunds": f.refund} {
		f.HandleFunc("POST /payments/{id}/"+verb, f.command(run))
	}
	f.HandleFunc("GET /payments/{id}", f.question(func(p *paid, _ *http.Request) answer { return answer{200, p.details()} }))
	f.HandleFunc("GET /payments/{id}/actions", f.question(func(p *paid, _ *http.Request) answer { return answer{200, p.actions} }))
	f.HandleFunc("GET /disputes", f.listDisputes)
	return f
}

// list implements GET /payments, which is newer than the API description. A page has two payments.
func (f *fake) list(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	hits := []object{}
	for _, id := range slices.Sorted(maps.Keys(f.payments)) {
		p := f.payments[id]
		if p.reference == r.URL.Query().Get("reference") {
			hits = append(hits, object{"id": p.id, "reference": p.reference, "status": "Pending", "amount": p.amount})
		}
	}
	total := len(hits)
	skip, _ := strconv.Atoi(r.URL.Query().Get("skip"))
	hits = hits[min(skip, total):min(skip+2, total)]
	answer{200, object{"limit": 2, "skip": skip, "total_count": total, "data": hits}}.write(w)
}

// handler returns the fake with its list besides the described requests.
func (f *fake) handler(described http.Handler) http.Handler {
	all := http.NewServeMux()
	all.Handle("/", described)
	all.HandleFunc("GET /payments", f.list)
	all.HandleFunc("POST /payment-sessions", f.openSession)
	all.HandleFunc("GET /instruments/{id}", func(w http.ResponseWriter, r *http.Request) {
		if r.PathValue("id") != instrument {
			w.Header().Set("Cko-Request-Id", "1")
			w.WriteHeader(http.StatusNotFound)
			return
		}
		answer{200, object{"id": instrument, "type": "card", "customer": object{"id": instrumentOf}}}.write(w)
	})
	return all
}

// command runs an operation, and stores the answer under its key if it succeeded.
func (f *fake) command(run func(*paid, object) answer) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+secret {
			answer{401, nil}.write(w)
			return
		}
		raw, _ := io.ReadAll(r.Body)
		var in object
		if json.Unmarshal(raw, &in) != nil || r.Header.Get("Content-Type") != "application/json" {
			invalid("request_malformed").write(w)
			return
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		key := r.Header.Get("Cko-Idempotency-Key")
		said, known := f.keys[key]
		of := f.payments[r.PathValue("id")]
		switch {
		case known:
		case of == nil && r.PathValue("id") != "":
			said = answer{404, nil}
		default:
			said = run(of, in)
		}
		if said.status < 300 && !providertest.Fails(r) {
			f.keys[key] = said
		}
		said.write(w)
	}
}

func (f *fake) question(run func(*paid, *http.Request) answer) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		defer f.mu.Unlock()
		p := f.payments[r.PathValue("id")]
		if p == nil {
			answer{404, nil}.write(w)
			return
		}
		if !f.busy {
			for _, do := range p.wanted {
				do()
			}
			p.wanted = nil
		}
		run(p, r).write(w)
	}
}

func (a answer) write(w http.ResponseWriter) {
	w.Header().Set("Cko-Request-Id", "b7f8a4a1")
	if a.body == nil {
		w.WriteHeader(a.status)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(a.status)
	if err := json.NewEncoder(w).Encode(a.body); err != nil {
		panic(err)
	}
}

func invalid(code string) answer {
	return answer{422, object{"request_id": "0HL80RJLS76I7", "error_type": "request_invalid", "error_codes": []string{code}}}
}

func (f *fake) id(prefix string) string {
	f.serial++
	return fmt.Sprintf("%s_%026d", prefix, f.serial)
}

func (f *fake) did(p *paid, kind string, amount int64, approved bool, code, reference string) object {
	done := object{
		"id": f.id("act"), "type": kind, "amount": amount, "approved": approved, "response_code": code, "reference": reference,
		"processed_on": "2026-03-14T15:09:26Z",
	}
	p.actions = slices.Insert(p.actions, 0, done)
	return done
}

func (f *fake) pay(in object) answer {
	from, _ := in["source"].(object)
	amount, _ := in["amount"].(float64)
	reference, _ := in["reference"].(string)
	currency, _ := in["currency"].(string)
	p := &paid{id: f.id("pay"), reference: reference, currency: currency, status: "Authorized", amount: int64(amount), metadata: in["metadata"]}
	p.stored = from["store_for_future_use"] == true || from["id"] != nil
	if of, _ := in["customer"].(object); from["id"] == instrument && of["id"] != instrumentOf {
		return invalid("customer_id_invalid")
	}
	if local, _ := from["type"].(string); local != "token" && local != "id" {
		p.method = local
		return f.redirects(p, in)
	}
	switch from["token"] {
	case cardNone:
		return invalid("token_invalid")
	case cardRedirect:
		if threeDS, _ := in["3ds"].(object); threeDS["enabled"] != true || in["success_url"] != in["failure_url"] {
			return invalid("redirect_url_required")
		}
		p.status = "Pending"
		f.payments[p.id] = p
		return answer{202, object{"id": p.id, "status": p.status, "reference": reference, "_links": object{
			"self": link(p.id), "redirect": object{"href": "https://3ds2-sandbox.ckotech.co/interceptor/" + p.id},
		}}}
	case cardDeclined, cardPoor:
		code := map[any]string{cardDeclined: "20005", cardPoor: "20051"}[from["token"]]
		p.status = "Declined"
		done := f.did(p, "Authorization", p.amount, false, code, reference)
		f.payments[p.id] = p
		return answer{201, p.response(done)}
	}
	f.payments[p.id] = p
	done := f.did(p, "Authorization", p.amount, true, "10000", reference)
	if in["capture"] == true {
		p.wanted = append(p.wanted, func() { f.take(p, p.amount, reference) })
	}
	if from["token"] == cardSlow {
		p.wanted = nil
	}
	return answer{201, p.response(done)}
}

func (f *fake) take(p *paid, amount int64, reference string) {
	f.did(p, "Capture", amount, true, "10000", reference)
	p.took(amount)
}

func (p *paid) took(amount int64) {
	p.captured += amount
	p.status = "Captured"
	if p.captured < p.amount {
		p.status = "Partially Captured"
	}
}

// capturable is what a capture may take. An action that waits has not happened.
func (p *paid) capturable() int64 {
	if p.status != "Authorized" && p.status != "Partially Captured" {
		return 0
	}
	return p.amount - p.captured - p.voided
}

func link(id string) object { return object{"href": "https://api.sandbox.checkout.com/payments/" + id} }

func (p *paid) response(done object) object {
	return object{
		"source": p.source(), "id": p.id, "action_id": done["id"], "amount": p.amount, "currency": p.currency, "approved": done["approved"], "status": p.status,
		"response_code": done["response_code"], "processed_on": done["processed_on"], "reference": p.reference,
		"_links": object{"self": link(p.id), "actions": link(p.id + "/actions")},
	}
}

// source returns the source. It contains the instrument's id if the instrument is stored.
func (p *paid) source() object {
	card := object{"type": "card", "expiry_month": 3, "expiry_year": 2030, "last4": "4242", "fingerprint": "F639CAB2745BEE4140BF86DF6B6D6", "bin": "424242", "scheme": "Visa"}
	if p.method != "" {
		return object{"type": p.method}
	}
	if p.stored {
		card["id"] = instrument
	}
	return card
}

// details returns the payment's details, which do not repeat the address of the page.
func (p *paid) details() object {
	all := object{
		"id": p.id, "requested_on": "2026-03-14T15:09:26Z", "amount": p.amount, "currency": p.currency, "status": p.status,
		"approved": p.status != "Declined", "reference": p.reference, "metadata": p.metadata,
		"balances": object{
			"id": p.id, "total_authorized": p.amount, "total_captured": p.captured, "total_refunded": p.refunded, "total_voided": p.voided,
			"available_to_capture": p.capturable(),
		},
		"_links": object{"self": link(p.id), "actions": link(p.id + "/actions")},
		"source": p.source(),
	}
	if p.status == "Pending" && p.method == "" {
		all["3ds"] = object{"downgraded": false, "enrolled": "Y"}
	}
	return all
}

// accept accepts an action for a later execution. Its id is available at once.
func (f *fake) accept(p *paid, in object, kind string, amount int64, then func()) answer {
	id := f.id("act")
	reference, _ := in["reference"].(string)
	p.wanted = append(p.wanted, func() {
		f.did(p, kind, amount, true, "10000", reference)["id"] = id
		then()
	})
	return answer{202, object{"action_id": id, "reference": reference, "_links": object{"payment": link(p.id)}}}
}

func (f *fake) capture(p *paid, in object) answer {
	amount, _ := in["amount"].(float64)
	switch {
	case p.capturable() == 0:
		return answer{403, nil}
	case int64(amount) > p.capturable():
		return invalid("amount_invalid")
	}
	return f.accept(p, in, "Capture", int64(amount), func() {
		p.took(int64(amount))
		if in["capture_type"] != "NonFinal" {
			p.voided = p.amount - p.captured
		}
	})
}

// void releases what is not captured, also of a payment that is captured in part.
func (f *fake) void(p *paid, in object) answer {
	if p.capturable() == 0 {
		return answer{403, nil}
	}
	return f.accept(p, in, "Void", p.capturable(), func() {
		if p.voided = p.amount - p.captured; p.captured == 0 {
			p.status = "Voided"
		}
	})
}

func (f *fake) refund(p *paid, in object) answer {
	amount, _ := in["amount"].(float64)
	switch {
	case p.captured == 0:
		return answer{403, nil}
	case int64(amount) > p.captured-p.refunded:
		return invalid("refund_amount_exceeds_balance")
	}
	p.refunded += int64(amount)
	return f.accept(p, in, "Refund", int64(amount), func() {
		p.status = "Refunded"
		if p.refunded < p.captured {
			p.status = "Partially Refunded"
		}
	})
}
