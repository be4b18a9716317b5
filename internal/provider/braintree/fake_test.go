package braintree_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	merchant, public, private = "integration_merchant", "integration_public", "integration_private"

	good, declined, poor, unproven, once, unknown = "fake-valid-nonce", "fake-processor-declined-visa-nonce", "fake-poor-nonce", "fake-unproven-nonce", "fake-once-nonce", "fake-unknown-nonce"

	vaulted, owner = "vaulted1", "customer-1"
)

// fake implements the parts of Braintree's server API that a payment needs, according to its documentation and the
// recorded responses of its sandbox. It reads requests strictly, by the members that the official libraries allow.
type fake struct {
	*http.ServeMux

	mu           sync.Mutex
	transactions map[string]*transaction
	keys         map[string]*kept
	consumed     map[string]bool
	customers    map[string]bool
	serial       int
	// slow: nothing settles by itself; otherwise a sale settles when it is looked up. keyless: requests with a key are
	// refused. lags: searches show nothing.
	slow, keyless, lags bool
	// gone are transactions that a page of a search lacks, although a lookup finds them.
	gone map[string]bool
	// before runs before each request, to simulate concurrent changes.
	before func(path string, f *fake)
}

type kept struct {
	body string
	made *transaction
}

type transaction struct {
	id, kind, status, order, of string
	rejection, response, token  string
	// instrument is credit_card if it is empty.
	instrument       string
	amount, refunded int64
	refunds          []string
	disputes         string
	// history is the statuses with their times. account and currency are shop_eur and EUR if they are empty.
	history           []happened
	account, currency string
	fee, local        string
}

// happened is an event of a history.
type happened struct {
	status string
	at     time.Time
}

func newFake(*testing.T) http.Handler { return serving() }

func serving() *fake {
	f := &fake{ServeMux: http.NewServeMux(), transactions: map[string]*transaction{}, keys: map[string]*kept{}, consumed: map[string]bool{}, customers: map[string]bool{owner: true}}
	const path = "/merchants/" + merchant
	for pattern, run := range map[string]func(r *http.Request, body []byte) answer{
		"POST " + path + "/transactions":                           f.sale,
		"GET " + path + "/transactions/{id}":                       f.find,
		"PUT " + path + "/transactions/{id}/submit_for_settlement": f.submit,
		"PUT " + path + "/transactions/{id}/void":                  f.void,
		"POST " + path + "/transactions/{id}/refund":               f.refund,
		"POST " + path + "/transactions/advanced_search_ids":       f.search,
		"POST " + path + "/transactions/advanced_search":           f.fetch,
		"GET " + path + "/payment_methods/any/{token}":             f.method,
		"POST " + path + "/customers":                              f.customer,
	} {
		f.HandleFunc(pattern, f.authenticated(run))
	}
	return f
}

// answer is a response. A response without a body has only Braintree's own header.
type answer struct {
	status int
	body   string
}

func (f *fake) authenticated(run func(*http.Request, []byte) answer) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.before != nil {
			f.before(r.Method+" "+r.URL.Path, f)
		}
		a := answer{status: http.StatusUnauthorized}
		user, password, _ := r.BasicAuth()
		switch {
		case r.Header.Get("X-Apiversion") != "6", r.Header.Get("Accept") != "application/xml":
			a.status = http.StatusUpgradeRequired
		case user == public && password == private:
			a = run(r, raw)
		}
		w.Header().Set("X-Authentication", "basic_auth")
		w.Header().Set("Content-Type", "application/xml; charset=utf-8")
		w.WriteHeader(a.status)
		_, _ = io.WriteString(w, a.body)
	}
}

func missing() answer { return answer{status: http.StatusNotFound} }

// failure returns an api-error-response with one error.
func failure(code string) answer {
	return answer{http.StatusUnprocessableEntity, `<?xml version="1.0" encoding="UTF-8"?><api-error-response><errors><errors type="array"/><transaction><errors type="array"><error>` +
		`<code>` + code + `</code><attribute type="symbol">base</attribute><message>Jane Doe is not for errors.</message></error></errors></transaction></errors>` +
		`<params><transaction><amount>1</amount></transaction></params><message>Jane Doe is not for errors.</message></api-error-response>`}
}

func decimal(minor int64) string { return fmt.Sprintf("%d.%02d", minor/100, minor%100) }

func cents(text string) int64 {
	whole, fraction, ok := strings.Cut(text, ".")
	n, err := strconv.ParseInt(whole+fraction, 10, 64)
	if !ok || len(fraction) != 2 || err != nil {
		return 0
	}
	return n
}

func text(name, value string) string {
	if value == "" {
		return "<" + name + ` nil="true"/>`
	}
	return "<" + name + ">" + value + "</" + name + ">"
}

func (t *transaction) xml() string {
	instrument := t.instrument
	if instrument == "" {
		instrument = "credit_card"
	}
	list := `<refund-ids type="array"/>`
	if len(t.refunds) > 0 {
		list = `<refund-ids type="array"><item>` + strings.Join(t.refunds, "</item><item>") + `</item></refund-ids>`
	}
	method := `<credit-card>` + text("token", t.token) + `<bin>401288</bin><last-4>1881</last-4><card-type>Visa</card-type>` +
		`<expiration-month>2</expiration-month><expiration-year>2031</expiration-year></credit-card>`
	if instrument == "paypal_account" {
		method = `<paypal>` + text("token", t.token) + `<payer-email>jane@shop.example</payer-email>` + text("transaction-fee-amount", t.fee) +
			text("transaction-fee-currency-iso-code", cmp.Or(t.currency, "EUR")) + `</paypal>`
	}
	return `<transaction><id>` + t.id + `</id><status>` + t.status + `</status><type>` + t.kind + `</type><currency-iso-code>` + cmp.Or(t.currency, "EUR") + `</currency-iso-code>` +
		`<amount>` + decimal(t.amount) + `</amount><merchant-account-id>` + cmp.Or(t.account, "shop_eur") + `</merchant-account-id>` + text("order-id", t.order) +
		t.events() + `<local-payment>` + text("payment-id", t.local) + `</local-payment>` +
		`<created-at type="datetime">2026-09-13T14:27:39Z</created-at><customer>` + text("id", "") + `</customer>` + text("refund-id", "") + list +
		text("refunded-transaction-id", t.of) + text("gateway-rejection-reason", t.rejection) + text("processor-response-code", t.response) + method +
		`<disputes type="array">` + t.disputes + `</disputes>` + text("payment-instrument-type", instrument) + `</transaction>`
}

// told returns the answer that contains a transaction. A declined transaction is in an api-error-response.
func (t *transaction) told(status int) answer {
	if slices.Contains([]string{"processor_declined", "gateway_rejected", "failed"}, t.status) && status == http.StatusCreated {
		return answer{http.StatusUnprocessableEntity, `<api-error-response><errors><errors type="array"/></errors><message>Do Not Honor</message>` + t.xml() + `</api-error-response>`}
	}
	return answer{status, `<?xml version="1.0" encoding="UTF-8"?>` + t.xml()}
}

func (f *fake) made(t *transaction) *transaction {
	f.serial++
	t.id = fmt.Sprintf("bt%06d", f.serial)
	f.transactions[t.id] = t
	return t
}

// keyed executes a request once for each key.
func (f *fake) keyed(key string, body []byte, run func() (*transaction, answer)) answer {
	if key != "" && f.keyless {
		return failure("915231")
	}
	if before := f.keys[key]; before != nil {
		if before.body != string(body) {
			return failure("915232")
		}
		return before.made.told(http.StatusCreated)
	}
	t, a := run()
	if t == nil {
		return a
	}
	if key != "" {
		f.keys[key] = &kept{string(body), t}
	}
	return t.told(http.StatusCreated)
}

func strictly(body []byte, into any) bool {
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	return d.Decode(into) == nil
}

type object map[string]any

// sold has the members of "Transaction: Sale" that the official libraries allow and the adapter sends.
type sold struct {
	Type, Amount                            string
	Order                                   string `json:"order_id"`
	Key                                     string `json:"api_request_key"`
	Account                                 string `json:"merchant_account_id"`
	Nonce                                   string `json:"payment_method_nonce"`
	Token                                   string `json:"payment_method_token"`
	CustomerID                              string `json:"customer_id"`
	Source                                  string `json:"transaction_source"`
	Device                                  string `json:"device_data"`
	Customer, Billing, Shipping, Descriptor object
	Risk                                    object `json:"risk_data"`
	PassThru                                object `json:"three_d_secure_pass_thru"`
	Options                                 struct {
		Submit bool   `json:"submit_for_settlement"`
		Vault  bool   `json:"store_in_vault_on_success"`
		ThreeD object `json:"three_d_secure"`
		NoAVS  bool   `json:"skip_avs"`
	}
}

func (f *fake) sale(_ *http.Request, body []byte) answer {
	var in struct{ Transaction sold }
	if !strictly(body, &in) {
		return answer{status: http.StatusForbidden}
	}
	s := in.Transaction
	return f.keyed(s.Key, body, func() (*transaction, answer) { return f.sell(s) })
}

func (f *fake) sell(s sold) (*transaction, answer) {
	t := &transaction{kind: s.Type, status: "authorized", order: s.Order, amount: cents(s.Amount), response: "1000"}
	switch {
	case t.amount == 0:
		return nil, failure("81503")
	case (s.Nonce == "") == (s.Token == ""):
		return nil, failure("91515")
	case s.Nonce == unknown, s.Nonce == vaulted:
		return nil, failure("91565")
	case f.consumed[s.Nonce]:
		return nil, failure("91564")
	case s.Token != "" && s.Token != vaulted:
		return nil, failure("91518")
	case s.Token != "" && s.CustomerID != owner:
		return nil, failure("91516")
	case s.CustomerID != "" && !f.customers[s.CustomerID]:
		return nil, failure("91510")
	}
	f.consumed[s.Nonce] = s.Nonce == once
	t.token = s.Token
	switch s.Nonce {
	case declined:
		t.status, t.response = "processor_declined", "2000"
	case poor:
		t.status, t.response = "processor_declined", "2001"
	case unproven:
		t.status, t.rejection = "gateway_rejected", "three_d_secure"
	default:
		f.approve(t, s)
	}
	return f.made(t), answer{}
}

func (f *fake) approve(t *transaction, s sold) {
	if s.Options.Submit {
		t.status = "submitted_for_settlement"
	}
	if s.Options.Vault {
		t.token = "vaulted2"
	}
	for _, other := range f.transactions { // a key disables the check for duplicates
		if s.Key == "" && other.order == t.order && other.amount == t.amount && other.rejection == "" {
			t.status, t.rejection = "gateway_rejected", "duplicate"
		}
	}
}
