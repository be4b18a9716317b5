package cloudpayments_test

import (
	"cmp"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// fake implements the documented parts of CloudPayments that a payment needs. It keeps transactions, orders and
// idempotency keys.
type fake struct {
	*http.ServeMux

	mu           sync.Mutex
	transactions []*transaction
	orders       map[string]bool
	keys         map[string]saved
	serial       int
	// refunds is the status of a new refund; empty: Completed.
	refunds string
}

type object map[string]any

type transaction struct {
	id, original      int
	invoice, currency string
	status            string
	amount            int64
	refunded          int64
	reason            int
	data              json.RawMessage
	saves, held       bool
}

type saved struct {
	status int
	body   []byte
}

const (
	publicID = "pk_fake"
	secret   = "api_secret"
	account  = "u-1"

	good, declined, poor, unknown = "tk_good", "tk_declined", "tk_poor", "tk_nobody"
)

// request is the union of all request bodies.
type request struct {
	TransactionID   int             `json:"TransactionId"`
	Amount          json.Number     `json:"Amount"`
	Currency        string          `json:"Currency"`
	InvoiceID       string          `json:"InvoiceId"`
	AccountID       string          `json:"AccountId"`
	Token           string          `json:"Token"`
	TrInitiatorCode *int            `json:"TrInitiatorCode"`
	Description     string          `json:"Description"`
	ID              string          `json:"Id"`
	JSONData        json.RawMessage `json:"JsonData"`

	Cryptogram string `json:"CardCryptogramPacket"`
	IP         string `json:"IpAddress"`
	SaveCard   bool   `json:"SaveCard"`
	PaRes      string `json:"PaRes"`
	Scheduled  *int   `json:"PaymentScheduled"`

	PublicID   string          `json:"PublicId"`
	Scheme     json.RawMessage `json:"Scheme"`
	OS         string          `json:"Os"`
	Browser    string          `json:"Browser"`
	Device     string          `json:"Device"`
	Webview    *bool           `json:"Webview"`
	SuccessURL string          `json:"SuccessRedirectUrl"`
	FailURL    string          `json:"FailRedirectUrl"`
	TTL        *int            `json:"TtlMinutes"`
}

// cryptogram returns a text as long as a real cryptogram. Its beginning selects the fake's behaviour.
func cryptogram(does string) string { return does + strings.Repeat("SMfLeYdKp5dSQVIi", 20) }

// mismatched reports whether a receipt has no recipient or does not match the amount.
func (r request) mismatched() bool {
	var data struct {
		CloudPayments *struct {
			Receipt struct {
				Email string `json:"email"`
				Phone string `json:"phone"`
				Items []struct {
					Price    json.Number `json:"price"`
					Quantity json.Number `json:"quantity"`
					Amount   json.Number `json:"amount"`
				} `json:"Items"`
			} `json:"customerReceipt"`
		} `json:"cloudPayments"`
	}
	if err := json.Unmarshal(r.JSONData, &data); err != nil || data.CloudPayments == nil {
		return err != nil && r.JSONData != nil
	}
	sum := int64(0)
	for _, item := range data.CloudPayments.Receipt.Items {
		amount := request{Amount: item.Amount}.minor()
		quantity, _ := item.Quantity.Float64()
		price, _ := item.Price.Float64()
		if int64(quantity*price*100+0.5) < amount {
			return true
		}
		sum += amount
	}
	return sum != r.minor() || data.CloudPayments.Receipt.Email+data.CloudPayments.Receipt.Phone == ""
}

func (r request) minor() int64 {
	whole, fraction, _ := strings.Cut(r.Amount.String(), ".")
	n, err := strconv.ParseInt(whole+(fraction + "00")[:2], 10, 64)
	if err != nil || len(fraction) > 2 {
		return -1
	}
	return n
}

func newFake(*testing.T) http.Handler { return serving() }

func serving() *fake {
	f := &fake{ServeMux: http.NewServeMux(), orders: map[string]bool{}, keys: map[string]saved{}, serial: 500}
	for path, run := range map[string]func(in request) object{
		"/payments/tokens/charge": func(in request) object { return f.charge(in, "Completed") },
		"/payments/tokens/auth":   func(in request) object { return f.charge(in, "Authorized") },
		"/payments/cards/charge":  func(in request) object { return f.card(in, "Completed") },
		"/payments/cards/auth":    func(in request) object { return f.card(in, "Authorized") },
		"/payments/cards/post3ds": f.prove,
		"/payments/confirm":       f.confirm, "/payments/void": f.void, "/payments/refund": f.refund,
		"/payments/get": f.get, "/orders/create": f.order, "/orders/cancel": f.cancelOrder,
		"/payments/find":    func(in request) object { return f.find(in, false) },
		"/v2/payments/find": func(in request) object { return f.find(in, true) },

		"/payments/qr/sbp/link":        f.sbp,
		"/payments/qr/tinkoffpay/link": f.tPay,
		"/payments/qr/sberpay/link":    f.sberPay,
	} {
		f.HandleFunc("POST "+path, f.once(run))
	}
	return f
}

// once gives one answer to each X-Request-ID, even if the rest of the request differs.
func (f *fake) once(run func(in request) object) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != publicID || password != secret {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		raw, _ := io.ReadAll(r.Body)
		var in request
		if r.Header.Get("Content-Type") != "application/json" || json.Unmarshal(raw, &in) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		key := r.Header.Get("X-Request-ID")
		said, known := f.keys[key]
		if !known || key == "" {
			heard := httptest.NewRecorder()
			_ = json.NewEncoder(heard).Encode(run(in))
			said = saved{heard.Code, heard.Body.Bytes()}
			f.keys[key] = said
		}
		w.WriteHeader(said.status)
		_, _ = w.Write(said.body)
	}
}

func wrong(message string) object { return object{"Success": false, "Message": message} }

func done(model any) object { return object{"Success": true, "Message": nil, "Model": model} }

func (f *fake) add(t *transaction) *transaction {
	f.serial++
	t.id = f.serial
	f.transactions = append(f.transactions, t)
	return t
}

func (f *fake) charge(in request, status string) object {
	t := &transaction{invoice: in.InvoiceID, currency: in.Currency, amount: in.minor(), status: status, data: in.JSONData}
	switch {
	case t.amount < 1:
		return wrong("Amount is required")
	case in.mismatched():
		return wrong("Receipt is not valid")
	case in.AccountID != account, in.TrInitiatorCode == nil, in.Token == unknown, *in.TrInitiatorCode == 0 && in.Scheduled == nil:
		return wrong("Token not found")
	case in.Token == declined:
		t.status, t.reason = "Declined", 5005
	case in.Token == poor:
		t.status, t.reason = "Declined", 5051
	}
	return f.add(t).answer()
}

// card charges a new card. PaRes contains the bank's answer.
func (f *fake) card(in request, status string) object {
	t := &transaction{invoice: in.InvoiceID, currency: in.Currency, amount: in.minor(), status: status, data: in.JSONData, saves: in.SaveCard}
	is := func(does string) bool { return strings.HasPrefix(in.Cryptogram, does) }
	switch {
	case t.amount < 1, in.mismatched(), is("nobody"):
		return wrong("CardCryptogramPacket is not valid")
	case is("declined"):
		t.status, t.reason = "Declined", 5005
	case is("3ds"):
		t.held, t.status = status == "Authorized", "AwaitingAuthentication"
		f.add(t)
		return object{"Success": false, "Message": nil, "Model": object{
			"TransactionId": t.id, "PaReq": "eJxVUdtugkAQ", "AcsUrl": "https://acs.bank.example/auth/start.do",
		}}
	}
	return f.add(t).answer()
}

func (f *fake) prove(in request) object {
	t := f.transaction(in.TransactionID)
	switch {
	case t == nil || t.status != "AwaitingAuthentication" || in.PaRes == "":
		return wrong("Transaction is not awaiting authentication")
	case in.PaRes == "unproven":
		t.status, t.reason = "Declined", 5206
	case t.held:
		t.status = "Authorized"
	default:
		t.status = "Completed"
	}
	return t.answer()
}

func (t *transaction) answer() object {
	o := done(t.render())
	o["Success"] = t.status != "Declined"
	return o
}

func (t *transaction) render() object {
	o := object{
		"TransactionId": t.id, "PublicId": publicID, "Amount": json.Number(strconv.FormatInt(t.amount/100, 10) + "." + strconv.FormatInt(100+t.amount%100, 10)[1:] + "000"),
		"Currency": t.currency, "CurrencyCode": 0, "InvoiceId": t.invoice, "AccountId": account, "JsonData": string(t.data),
		"TestMode": true, "Status": t.status, "ReasonCode": t.reason, "OriginalTransactionId": t.original, "Refunded": t.refunded > 0,
	}
	if t.saves && t.status != "Declined" {
		o["Token"], o["CardType"], o["CardLastFour"], o["CardExpDate"] = "tk_saved", "Visa", "1111", "05/29"
	}
	return o
}

func (f *fake) transaction(id int) *transaction {
	for _, t := range f.transactions {
		if t.id == id {
			return t
		}
	}
	return nil
}

func (f *fake) get(in request) object {
	if t := f.transaction(in.TransactionID); t != nil {
		return t.answer()
	}
	return wrong("Not found")
}

// find returns the last transaction of an invoice. It includes refunds only if refunds is set.
func (f *fake) find(in request, refunds bool) object {
	said := wrong("Not found")
	for _, t := range f.transactions {
		if t.invoice == in.InvoiceID && (refunds || t.original == 0) {
			said = t.answer()
		}
	}
	return said
}

func (f *fake) confirm(in request) object {
	t := f.transaction(in.TransactionID)
	if t == nil || t.status != "Authorized" || in.minor() < 1 || in.minor() > t.amount || in.mismatched() {
		return wrong("Can't be confirmed")
	}
	t.status, t.amount = "Completed", in.minor()
	return done(nil)
}

func (f *fake) void(in request) object {
	t := f.transaction(in.TransactionID)
	if t == nil || t.status != "Authorized" {
		return wrong("Can't be voided")
	}
	t.status = "Cancelled"
	return done(nil)
}

func (f *fake) refund(in request) object {
	t := f.transaction(in.TransactionID)
	if t == nil || t.status != "Completed" || in.minor() < 1 || in.minor() > t.amount-t.refunded || in.mismatched() {
		return wrong("Can't be refunded")
	}
	t.refunded += in.minor()
	back := f.add(&transaction{
		original: t.id, invoice: t.invoice, currency: t.currency, amount: in.minor(), status: cmp.Or(f.refunds, "Completed"), data: in.JSONData,
	})
	return done(object{"TransactionId": back.id})
}

func (f *fake) order(in request) object {
	if in.minor() < 1 || in.Description == "" || in.mismatched() {
		return wrong("Description is required")
	}
	f.serial++
	id := "f2K8LV6reGE9WBF" + strconv.Itoa(f.serial)
	f.orders[id] = true
	return done(object{"Id": id, "Number": f.serial, "Amount": 10.0, "Currency": in.Currency, "Url": "https://orders.cloudpayments.ru/d/" + id})
}

func (f *fake) cancelOrder(in request) object {
	if !f.orders[in.ID] {
		return wrong("Can't be cancelled")
	}
	delete(f.orders, in.ID)
	return done(nil)
}
