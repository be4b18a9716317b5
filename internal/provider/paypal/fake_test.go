package paypal_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// fake implements the documented parts of PayPal that a payment needs. It keeps orders with their payments, access
// tokens and request ids.
type fake struct {
	*http.ServeMux

	mu     sync.Mutex
	orders map[string]*order
	kept   map[string]func() (int, object)
	serial int
	tokens int
	// ended are access tokens that are no longer valid.
	ended map[string]bool
	// unwilling is the issue of the refusal to finish an order.
	unwilling string
}

type object = map[string]any

type order struct {
	id, intent, status, custom, page string
	amount                           money
	captures, authorizations         []*movement
	refunds                          []*refund
	saves                            bool
	// method is that of PayPal's script. entered are the card's data, with the result of 3-D Secure.
	method  string
	entered object
}

type movement struct {
	id, status, reason, processor, expires string
	// from is the authorization of a capture. open is set if others may follow.
	from     string
	open     bool
	amount   money
	of       *order
	refunded int
}

type refund struct {
	id, status, custom, of string
	amount                 money
}

type money struct {
	CurrencyCode string `json:"currency_code"`
	Value        string `json:"value"`
}

// cents parses amounts with two decimals, which is sufficient for the tests.
func (m money) cents() int {
	n, err := strconv.Atoi(strings.Replace(m.Value, ".", "", 1))
	if err != nil {
		return -1
	}
	return n
}

// shop is the payee.
const shop = "FSMVU44LF3YUS"

const (
	clientID = "AZDxjDScFpQtjWTOUtWKbyN"
	secret   = "EGnHDxD_qRPdaLdZz8iCr8N7"
)

func newFake(*testing.T) *fake {
	f := &fake{
		ServeMux: http.NewServeMux(), orders: map[string]*order{}, kept: map[string]func() (int, object){}, ended: map[string]bool{},
	}
	f.HandleFunc("POST /v1/oauth2/token", f.token)
	f.HandleFunc("POST /v2/checkout/orders", f.command(f.create))
	f.HandleFunc("POST /v2/checkout/orders/{id}/capture", f.command(f.finish))
	f.HandleFunc("POST /v2/checkout/orders/{id}/authorize", f.command(f.finish))
	f.HandleFunc("POST /v2/payments/authorizations/{id}/capture", f.command(f.capture))
	f.HandleFunc("POST /v2/payments/authorizations/{id}/void", f.command(f.void))
	f.HandleFunc("POST /v2/payments/captures/{id}/refund", f.command(f.refund))
	f.HandleFunc("GET /v2/checkout/orders/{id}", f.question(f.showOrder))
	f.HandleFunc("GET /v2/payments/authorizations/{id}", f.question(f.showAuthorization))
	f.HandleFunc("GET /v2/payments/captures/{id}", f.question(f.showCapture))
	f.HandleFunc("GET /v2/payments/refunds/{id}", f.question(f.showRefund))
	f.HandleFunc("POST /checkoutnow/{id}", func(w http.ResponseWriter, r *http.Request) {
		f.approve(r.PathValue("id"))
		w.WriteHeader(http.StatusNoContent)
	})
	f.HandleFunc("GET /v3/vault/payment-tokens/{id}", f.question(func(id string) (int, object) {
		if id != "8kk8451t" {
			return missing()
		}
		return http.StatusOK, object{"id": id, "customer": object{"id": vaultedFor, "merchant_customer_id": "c-7"}}
	}))
	return f
}

func (f *fake) token(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	raw, _ := io.ReadAll(r.Body)
	if id, key, ok := r.BasicAuth(); !ok || id != clientID || key != secret || string(raw) != "grant_type=client_credentials" {
		write(w, http.StatusUnauthorized, object{"error": "invalid_client", "error_description": "Client Authentication failed"})
		return
	}
	f.tokens++
	write(w, http.StatusOK, object{
		"scope": "https://uri.paypal.com/services/payments/payment", "access_token": fmt.Sprintf("A21AA-%d", f.tokens),
		"token_type": "Bearer", "app_id": "APP-80W284485P519543T", "expires_in": 32400, "nonce": "2020-04-03T15:35:36Z",
	})
}

func (f *fake) authentic(w http.ResponseWriter, r *http.Request) bool {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	n, err := strconv.Atoi(strings.TrimPrefix(token, "A21AA-"))
	if ok && err == nil && n <= f.tokens && !f.ended[token] {
		return true
	}
	write(w, http.StatusUnauthorized, object{"error": "invalid_token", "error_description": "Token signature verification failed"})
	return false
}

type operation func(r *http.Request, in request) (status int, show func() object)

// command runs an operation once for each request id of an address. A repetition returns the object's current state.
func (f *fake) command(run operation) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		defer f.mu.Unlock()
		if !f.authentic(w, r) {
			return
		}
		raw, _ := io.ReadAll(r.Body)
		var in request
		readable := json.Unmarshal(raw, &in) == nil
		if strings.HasSuffix(r.URL.Path, "/void") {
			readable = len(raw) == 0
		}
		if !readable || r.Header.Get("Content-Type") != "application/json" {
			write(w, http.StatusBadRequest, problem("INVALID_REQUEST", "", "MALFORMED_REQUEST_JSON"))
			return
		}
		key := r.URL.Path + " " + r.Header.Get("PayPal-Request-Id")
		if again := f.kept[key]; again != nil {
			status, said := again()
			write(w, status, said)
			return
		}
		status, show := run(r, in)
		if status < http.StatusBadRequest {
			f.kept[key] = func() (int, object) {
				if strings.HasPrefix(r.URL.Path, "/v2/checkout/") {
					return http.StatusOK, show()
				}
				return status, show()
			}
		}
		write(w, status, show())
	}
}

func (f *fake) question(run func(id string) (int, object)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.authentic(w, r) {
			status, said := run(r.PathValue("id"))
			write(w, status, said)
		}
	}
}

func write(w http.ResponseWriter, status int, said object) {
	raw, err := json.Marshal(said)
	if err != nil {
		status = http.StatusInternalServerError
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(raw)
}

func problem(name, message string, issue ...string) object {
	p := object{"name": name, "message": message, "debug_id": "90957fca61718"}
	if len(issue) > 0 {
		p["details"] = []object{{"issue": issue[0]}}
	}
	return p
}

func missing() (int, object) {
	return http.StatusNotFound, problem("RESOURCE_NOT_FOUND", "The specified resource does not exist.", "INVALID_RESOURCE_ID")
}

func gone() (int, func() object) {
	status, said := missing()
	return status, func() object { return said }
}

func refuse(issue string) (int, func() object) {
	return http.StatusUnprocessableEntity, func() object {
		const message = "The requested action could not be performed, semantically incorrect, or failed business validation."
		return problem("UNPROCESSABLE_ENTITY", message, issue)
	}
}

func (f *fake) id() string {
	f.serial++
	return fmt.Sprintf("%016dX", f.serial)
}

// request is the union of all request bodies.
type request struct {
	Intent        string `json:"intent"`
	PurchaseUnits []struct {
		ReferenceID string `json:"reference_id"`
		CustomID    string `json:"custom_id"`
		Amount      struct {
			money

			Breakdown map[string]money `json:"breakdown"`
		} `json:"amount"`
		Items []struct {
			UnitAmount money  `json:"unit_amount"`
			Quantity   string `json:"quantity"`
		} `json:"items"`
	} `json:"purchase_units"`
	PaymentSource map[string]struct {
		VaultID    string `json:"vault_id"`
		Attributes object `json:"attributes"`
	} `json:"payment_source"`
	Amount       money  `json:"amount"`
	FinalCapture bool   `json:"final_capture"`
	CustomID     string `json:"custom_id"`
}

// create creates an order. A vaulted method is charged at once.
func (f *fake) create(_ *http.Request, in request) (int, func() object) {
	o := &order{
		id: f.id(), intent: in.Intent, status: "PAYER_ACTION_REQUIRED",
		custom: in.PurchaseUnits[0].CustomID, amount: in.PurchaseUnits[0].Amount.money,
	}
	if !in.adds() {
		return refuse("AMOUNT_MISMATCH")
	}
	if o.method = in.PurchaseUnits[0].ReferenceID; o.method != "" {
		o.status = "CREATED"
	}
	o.page = "https://www.sandbox.paypal.com/checkoutnow?token=" + o.id
	for _, source := range in.PaymentSource {
		o.saves = source.Attributes["vault"] != nil
		switch source.VaultID {
		case "nobody":
			return refuse("MISMATCHED_VAULT_ID_TO_PAYMENT_SOURCE")
		case "declined":
			return refuse("INSTRUMENT_DECLINED")
		case "", "challenge":
		case "poor", "stolen", "unsaid":
			made := f.settle(o)
			made.status = map[bool]string{true: "DECLINED", false: "DENIED"}[o.intent == "CAPTURE"]
			made.processor = map[string]string{"poor": "5120", "stolen": "9520"}[source.VaultID]
		case "review":
			made := f.settle(o)
			made.status, made.reason = "PENDING", "PENDING_REVIEW"
		default:
			f.settle(o)
		}
	}
	f.orders[o.id] = o
	return http.StatusCreated, o.render
}

// settle captures or authorises an order.
func (f *fake) settle(o *order) *movement {
	o.status = "COMPLETED"
	m := &movement{id: f.id(), amount: o.amount, of: o, status: "COMPLETED"}
	if o.intent == "CAPTURE" {
		o.captures = append(o.captures, m)
		return m
	}
	m.status, m.expires = "CREATED", "2026-04-13T15:09:26Z"
	o.authorizations = append(o.authorizations, m)
	return m
}

// approve approves an order as the customer on PayPal's page.
func (f *fake) approve(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.orders[id].status = "APPROVED"
}

func (f *fake) finish(r *http.Request, _ request) (int, func() object) {
	o := f.orders[r.PathValue("id")]
	switch {
	case o == nil:
		return gone()
	case f.unwilling != "":
		return refuse(f.unwilling)
	case strings.HasSuffix(r.URL.Path, "/capture") != (o.intent == "CAPTURE"):
		return refuse("ACTION_DOES_NOT_MATCH_INTENT")
	case o.status == "COMPLETED":
		return refuse("ORDER_ALREADY_CAPTURED")
	case o.status != "APPROVED" && (o.status != "CREATED" || o.entered == nil):
		return refuse("ORDER_NOT_APPROVED")
	}
	f.settle(o)
	return http.StatusCreated, o.render
}

func (f *fake) authorization(id string) *movement {
	for _, o := range f.orders {
		for _, m := range o.authorizations {
			if m.id == id {
				return m
			}
		}
	}
	return nil
}

func (f *fake) captured(id string) *movement {
	for _, o := range f.orders {
		for _, m := range o.captures {
			if m.id == id {
				return m
			}
		}
	}
	return nil
}

// capture captures up to 115 % of the authorised amount.
func (f *fake) capture(r *http.Request, in request) (int, func() object) {
	held := f.authorization(r.PathValue("id"))
	switch {
	case held == nil:
		return gone()
	case held.status == "VOIDED":
		return refuse("AUTHORIZATION_VOIDED")
	case held.status == "CAPTURED":
		return refuse("AUTHORIZATION_ALREADY_CAPTURED")
	case (held.taken()+in.Amount.cents())*100 > held.amount.cents()*115:
		return refuse("MAX_CAPTURE_AMOUNT_EXCEEDED")
	}
	held.status = "PARTIALLY_CAPTURED"
	if in.FinalCapture {
		held.status = "CAPTURED"
	}
	taken := &movement{id: f.id(), status: "COMPLETED", amount: in.Amount, of: held.of, from: held.id, open: !in.FinalCapture}
	held.of.captures = append(held.of.captures, taken)
	return http.StatusCreated, taken.render
}

// taken is the captured amount of an authorization.
func (m *movement) taken() (cents int) {
	for _, taken := range m.of.captures {
		if taken.from == m.id && taken.status != "DECLINED" {
			cents += taken.amount.cents()
		}
	}
	return cents
}

// void releases what is not captured.
func (f *fake) void(r *http.Request, _ request) (int, func() object) {
	held := f.authorization(r.PathValue("id"))
	switch {
	case held == nil:
		return gone()
	case held.status == "CAPTURED":
		return refuse("PREVIOUSLY_CAPTURED")
	case held.status == "VOIDED":
		return refuse("PREVIOUSLY_VOIDED")
	}
	held.status = "VOIDED"
	return http.StatusOK, held.render
}

func (f *fake) refund(r *http.Request, in request) (int, func() object) {
	taken := f.captured(r.PathValue("id"))
	switch {
	case taken == nil:
		return gone()
	case taken.status == "PENDING":
		return refuse("PENDING_CAPTURE")
	case taken.refunded == taken.amount.cents():
		return refuse("CAPTURE_FULLY_REFUNDED")
	case in.Amount.cents() > taken.amount.cents()-taken.refunded:
		return refuse("REFUND_AMOUNT_EXCEEDED")
	}
	taken.refunded += in.Amount.cents()
	taken.status = "PARTIALLY_REFUNDED"
	if taken.refunded == taken.amount.cents() {
		taken.status = "REFUNDED"
	}
	made := &refund{id: f.id(), status: "COMPLETED", custom: in.CustomID, of: taken.id, amount: in.Amount}
	taken.of.refunds = append(taken.of.refunds, made)
	return http.StatusCreated, made.render
}

func (f *fake) showOrder(id string) (int, object) {
	if o := f.orders[id]; o != nil {
		return http.StatusOK, o.render()
	}
	return missing()
}

func (f *fake) showAuthorization(id string) (int, object) {
	if m := f.authorization(id); m != nil {
		return http.StatusOK, m.render()
	}
	return missing()
}

func (f *fake) showCapture(id string) (int, object) {
	if m := f.captured(id); m != nil {
		return http.StatusOK, m.render()
	}
	return missing()
}
