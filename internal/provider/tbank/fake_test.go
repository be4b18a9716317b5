package tbank_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// fake implements the documented parts of T-Bank's acquiring that a payment needs. It answers errors with status 200,
// and sets their missing members to zero values.
type fake struct {
	*http.ServeMux

	mu       sync.Mutex
	payments map[string]*paid
	serial   int
	// before runs before each operation, to simulate concurrent changes.
	before func(method string, f *fake)
	// noApps is set on a terminal without the SBP, T-Pay and SberPay.
	noApps bool
}

type object map[string]any

type paid struct {
	id, order, status, code string
	amount, refunded        int64
	manual                  bool
	saved, fresh            bool // the initiator that fits the payment
	cancelled               map[string]bool
}

const (
	terminal = "1321054611234DEMO"
	password = "Dfsfh56dgKl"

	good, declined, poor, unproven, unknown = "145919", "2051", "2151", "2101", "404404"
)

func newFake(*testing.T) http.Handler { return serving(nil) }

func serving(before func(string, *fake)) *fake {
	f := &fake{ServeMux: http.NewServeMux(), payments: map[string]*paid{}, before: before}
	for method, run := range map[string]func(in map[string]string) object{
		"Init": f.begin, "Charge": f.charge, "GetState": f.state, "CheckOrder": f.check, "Confirm": f.confirm, "Cancel": f.cancel,
		"GetQr": f.qr,
	} {
		f.HandleFunc("POST /v2/"+method, f.signed(method, run))
	}
	f.HandleFunc("POST /v2/GetCardList", f.cards)
	f.HandleFunc("GET /v2/TinkoffPay/transactions/{id}/versions/2.0/link", f.link("https://o.tbank.ru/tpay/", "https://securepay.tinkoff.ru/tpay/qr/"))
	f.HandleFunc("GET /v2/SberPay/transactions/{id}/link", f.link("https://sberpay.ru/app/", ""))
	return f
}

// signed reads requests with a valid Token.
func (f *fake) signed(method string, run func(in map[string]string) object) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		in := scalars(raw)
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.before != nil {
			f.before(method, f)
		}
		var said object
		switch {
		case in["TerminalKey"] != terminal:
			said = failure("205", nil)
		case in["Token"] != token(in):
			said = failure("204", nil)
		default:
			said = run(in)
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(said)
	}
}

func scalars(raw []byte) map[string]string {
	decoder := json.NewDecoder(strings.NewReader(string(raw)))
	decoder.UseNumber()
	var members map[string]any
	_ = decoder.Decode(&members)
	in := map[string]string{}
	for name, value := range members {
		switch value := value.(type) {
		case map[string]any:
			in[objectName+name] = string(mustJSON(value))
		case []any:
		default:
			in[name] = fmt.Sprint(value)
		}
	}
	return in
}

// objectName is the prefix of the names of JSON objects, which the Token does not cover.
const objectName = "{}"

func mustJSON(value any) []byte {
	raw, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return raw
}

// receipts is the part of a receipt that the fake reads.
type receipts struct {
	Format   string `json:"FfdVersion"`
	Taxation string `json:"Taxation"`
	Email    string `json:"Email"`
	Phone    string `json:"Phone"`
	Items    []struct {
		Quantity json.Number `json:"Quantity"`
		Price    int64       `json:"Price"`
		Amount   int64       `json:"Amount"`
		Tax      string      `json:"Tax"`
		Unit     string      `json:"MeasurementUnit"`
	} `json:"Items"`
}

// mismatched reports whether a receipt has no recipient or does not match the amount.
func mismatched(in map[string]string) bool {
	raw, given := in[objectName+"Receipt"]
	if !given {
		return false
	}
	var on receipts
	if json.Unmarshal([]byte(raw), &on) != nil || on.Taxation == "" || on.Email+on.Phone == "" {
		return true
	}
	var sum int64
	for _, item := range on.Items {
		quantity, _ := item.Quantity.Float64()
		if int64(quantity*float64(item.Price)+0.5) != item.Amount || item.Tax == "" || on.Format == "1.2" && item.Unit == "" {
			return true
		}
		sum += item.Amount
	}
	return strconv.FormatInt(sum, 10) != in["Amount"]
}

// initiates checks that a payment matches its initiator
// (https://www.tbank.ru/kassa/dev/payments/#section/Peredacha-priznaka-iniciatora-operacii).
func initiates(in map[string]string, saved bool) string {
	var data struct {
		By string `json:"OperationInitiatorType"`
	}
	_ = json.Unmarshal([]byte(in[objectName+"DATA"]), &data)
	by, again := data.By, in["Recurrent"] == "Y"
	fits := map[string]bool{"": true, "0": !saved && !again, "1": !saved && again, "2": saved && !again, "R": saved && !again, "I": saved && !again}
	if !fits[by] {
		return "1126"
	}
	return ""
}

// token returns a Token as documented: the values, including the password, sorted by name.
func token(in map[string]string) string {
	all := maps.Clone(in)
	maps.DeleteFunc(all, func(name, _ string) bool { return name == "Token" || strings.HasPrefix(name, objectName) })
	all["Password"] = password
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(all)) {
		text.WriteString(all[name])
	}
	sum := sha256.Sum256([]byte(text.String()))
	return hex.EncodeToString(sum[:])
}

func failure(code string, p *paid) object {
	o := object{
		"Success": false, "ErrorCode": code, "Message": "Not for the customer.", "TerminalKey": terminal, "Amount": 0, "OrderId": "",
		"PaymentId": "0", "Status": "UNKNOWN", "Payments": []object{},
	}
	if p != nil {
		o["Status"], o["PaymentId"], o["OrderId"], o["Amount"] = p.status, p.id, p.order, p.amount
	} else if code == "255" {
		o["Status"] = ""
	}
	return o
}

func (p *paid) render() object {
	o := object{
		"Success": true, "ErrorCode": "0", "Message": "OK", "TerminalKey": terminal, "OrderId": p.order, "PaymentId": p.id,
		"Amount": p.amount, "Status": p.status,
	}
	if p.code != "" {
		o["Success"], o["ErrorCode"] = false, p.code
	}
	return o
}

func (f *fake) begin(in map[string]string) object {
	amount, err := strconv.ParseInt(in["Amount"], 10, 64)
	if err != nil || amount < 1 {
		return failure("251", nil)
	}
	switch {
	case mismatched(in):
		return failure("308", nil)
	case in["Recurrent"] == "Y" && in["CustomerKey"] == "", len(in["CustomerKey"]) > 36:
		return failure("211", nil)
	case in["Recurrent"] == "Y" && initiates(in, false) != "":
		return failure(initiates(in, false), nil)
	}
	if len(in["OrderId"]) < 1 || len(in["OrderId"]) > 36 {
		return failure("212", nil)
	}
	f.serial++
	p := &paid{
		id: "70000170" + fmt.Sprintf("%04d", f.serial), order: in["OrderId"], status: "NEW", amount: amount, manual: in["PayType"] == "T",
		cancelled: map[string]bool{}, saved: initiates(in, true) == "", fresh: initiates(in, false) == "",
	}
	f.payments[p.id] = p
	o := p.render()
	o["PaymentURL"] = "https://securepay.tinkoff.ru/new/" + p.id
	return o
}

func (f *fake) charge(in map[string]string) object {
	p := f.payments[in["PaymentId"]]
	switch {
	case p == nil:
		return failure("255", nil)
	case p.status != "NEW":
		return failure("8", p)
	case !p.saved:
		return failure("1126", p)
	}
	switch in["RebillId"] {
	case unknown:
		return failure("104", p)
	case declined:
		p.status, p.code = "REJECTED", "1005"
	case poor:
		p.status, p.code = "REJECTED", "1051"
	case unproven:
		p.status, p.code = "AUTH_FAIL", "101"
	default:
		p.pay()
	}
	return p.render()
}

func (p *paid) pay() {
	p.status = "CONFIRMED"
	if p.manual {
		p.status = "AUTHORIZED"
	}
}

func (f *fake) state(in map[string]string) object {
	if p := f.payments[in["PaymentId"]]; p != nil {
		o := p.render()
		o["Params"] = []object{{"Key": "Route", "Value": "ACQ"}, {"Key": "Source", "Value": "cards"}}
		return o
	}
	return failure("255", nil)
}

func (f *fake) check(in map[string]string) object {
	found := []object{}
	for _, id := range slices.Sorted(maps.Keys(f.payments)) {
		if p := f.payments[id]; p.order == in["OrderId"] {
			found = append(found, object{"PaymentId": p.id, "Amount": p.amount, "Status": p.status, "Success": "true", "ErrorCode": 0})
		}
	}
	if len(found) == 0 {
		return failure("335", nil)
	}
	return object{"Success": true, "ErrorCode": "0", "TerminalKey": terminal, "OrderId": in["OrderId"], "Payments": found}
}

func (f *fake) confirm(in map[string]string) object {
	p := f.payments[in["PaymentId"]]
	amount, err := strconv.ParseInt(in["Amount"], 10, 64)
	switch {
	case p == nil:
		return failure("255", &paid{id: in["PaymentId"], status: "UNKNOWN"})
	case p.status != "AUTHORIZED":
		return failure("4", p)
	case err != nil || amount > p.amount:
		return failure("330", p)
	case mismatched(in):
		return failure("308", p)
	}
	p.status, p.amount = "CONFIRMED", amount
	o := p.render()
	delete(o, "Amount")
	return o
}

func (f *fake) cancel(in map[string]string) object {
	p := f.payments[in["PaymentId"]]
	if p == nil {
		return changed(failure("255", &paid{id: in["PaymentId"]}), 0, 0)
	}
	held := p.amount - p.refunded
	back, err := strconv.ParseInt(in["Amount"], 10, 64)
	if err != nil || p.status == "NEW" {
		back = held
	}
	to := map[string][2]string{
		"NEW": {"CANCELED", "CANCELED"}, "AUTHORIZED": {"REVERSED", "PARTIAL_REVERSED"},
		"CONFIRMED": {"REFUNDED", "PARTIAL_REFUNDED"}, "PARTIAL_REFUNDED": {"REFUNDED", "PARTIAL_REFUNDED"},
	}[p.status]
	request := in["ExternalRequestId"]
	switch {
	case p.cancelled[request]:
		return changed(p.render(), held, held)
	case to[0] == "":
		return changed(failure("4", p), held, held)
	case back > held:
		return changed(failure("330", p), held, held)
	case mismatched(in), in[objectName+"Receipt"] != "" && back == p.amount:
		return changed(failure("308", p), held, held)
	}
	p.cancelled[request] = request != ""
	p.refunded += back
	p.status, p.code = to[0], ""
	if p.refunded < p.amount {
		p.status = to[1]
	}
	o := changed(p.render(), held, held-back)
	o["ExternalRequestId"] = request
	return o
}

// changed returns an answer to Cancel, with ids as numbers.
func changed(o object, before, after int64) object {
	id, _ := o["PaymentId"].(string)
	o["PaymentId"] = json.Number(id)
	if id == "" || strings.Trim(id, "0123456789") != "" {
		o["PaymentId"] = 0
	}
	o["OriginalAmount"], o["NewAmount"] = before, after
	delete(o, "Amount")
	return o
}

// cards lists the saved cards of a customer in an array, unlike all other answers.
func (f *fake) cards(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body)
	in := scalars(raw)
	w.Header().Set("Content-Type", "application/json")
	said := `[{"CardId":"4750","Pan":"500000******0108","Status":"A","RebillId":"` + good + `","CardType":0,"ExpDate":"1122"}]`
	if in["Token"] != token(in) {
		said = `{"Success":false,"ErrorCode":"204"}`
	} else if in["CustomerKey"] != savedFor {
		said = `{"Success":false,"ErrorCode":"7"}`
	}
	_, _ = io.WriteString(w, said)
}
