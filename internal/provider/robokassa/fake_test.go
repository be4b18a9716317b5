package robokassa_test

import (
	"crypto/hmac"
	"crypto/md5"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
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

const (
	shopLogin = "paylatch-tests"
	password1 = "first-tests-only"
	password2 = "second-tests-only"
	password3 = "third-tests-only"
)

// fake implements the documented parts of Robokassa that a payment needs. It executes commands for holds at once.
type fake struct {
	*http.ServeMux

	t          *testing.T
	mu         sync.Mutex
	operations map[string]*operation
	refunds    map[string]int64
	// lags: the fake accepts commands for holds and does not execute them yet.
	lags bool
	// seen are the requests.
	seen []string
	// form is the form of the last opened page. created is the payload of the last refund.
	form, created string
}

type operation struct {
	state         int
	sum, returned int64
	held          bool
	shop          map[string]string
}

func newFake(t *testing.T) *fake {
	t.Helper()
	f := &fake{ServeMux: http.NewServeMux(), t: t, operations: map[string]*operation{}, refunds: map[string]int64{}}
	f.HandleFunc("/Merchant/Index.aspx", f.page)
	f.HandleFunc("GET /Merchant/WebService/Service.asmx/OpStateExt", f.state)
	f.HandleFunc("POST /Merchant/Payment/Confirm", f.confirm)
	f.HandleFunc("POST /Merchant/Payment/Cancel", f.cancel)
	f.HandleFunc("POST /RefundService/Refund/Create", f.create)
	f.HandleFunc("GET /RefundService/Refund/GetState", f.refundState)
	return f
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seen = append(f.seen, r.Method+" "+r.URL.Path)
	f.ServeMux.ServeHTTP(w, r)
}

func signature(values ...string) string {
	sum := md5.Sum([]byte(strings.Join(values, ":")))
	return hex.EncodeToString(sum[:])
}

// kopecks parses an amount with two decimals.
func kopecks(text string) int64 {
	whole, part, ok := strings.Cut(text, ".")
	n, err := strconv.ParseInt(whole+part, 10, 64)
	if !ok || len(part) != 2 || err != nil {
		return -1
	}
	return n
}

// signedPage returns the page's parameters in the order of their signature.
func signedPage(form url.Values) []string {
	values := []string{form.Get("MerchantLogin"), form.Get("OutSum"), form.Get("InvId")}
	for _, name := range []string{"Receipt", "StepByStep", "ResultUrl2", "SuccessUrl2", "SuccessUrl2Method", "FailUrl2", "FailUrl2Method"} {
		if form.Has(name) {
			values = append(values, form.Get(name))
		}
	}
	values = append(values, password1)
	var shop []string
	for name := range form {
		if strings.HasPrefix(name, "Shp_") {
			shop = append(shop, name+"="+form.Get(name))
		}
	}
	slices.Sort(shop)
	return append(values, shop...)
}

// page handles the page that the customer's browser opens.
func (f *fake) page(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	f.form = r.Form.Encode()
	id, sum := r.Form.Get("InvId"), kopecks(r.Form.Get("OutSum"))
	known := f.operations[id]
	switch {
	case r.Form.Get("SignatureValue") != signature(signedPage(r.Form)...):
		http.Error(w, "29", http.StatusForbidden)
	case sum < 1, !fits(r.Form.Get("Receipt"), sum):
		http.Error(w, "30", http.StatusBadRequest)
	case known != nil && known.state != 5 && known.state != 10:
		http.Error(w, "40", http.StatusConflict)
	default:
		shop := map[string]string{}
		for name := range r.Form {
			if strings.HasPrefix(name, "Shp_") {
				shop[name] = r.Form.Get(name)
			}
		}
		f.operations[id] = &operation{state: 5, sum: sum, held: r.Form.Get("StepByStep") == "true", shop: shop}
	}
}

// fits reports whether a receipt, if there is one, matches the sum.
func fits(receipt string, sum int64) bool {
	if receipt == "" {
		return true
	}
	raw, err := url.QueryUnescape(receipt)
	var on struct {
		Items []struct {
			Sum json.Number `json:"sum"`
		} `json:"items"`
	}
	if err != nil || json.Unmarshal([]byte(raw), &on) != nil {
		return false
	}
	for _, item := range on.Items {
		sum -= kopecks(item.Sum.String())
	}
	return sum == 0
}

// pay pays as the customer on the page.
func (f *fake) pay(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.operations[id].state = 100
	if f.operations[id].held {
		f.operations[id].state = 20
	}
}

func (f *fake) state(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	p := f.operations[q.Get("InvoiceID")]
	code, rest := 0, ""
	switch {
	case q.Get("Signature") != signature(q.Get("MerchantLogin"), q.Get("InvoiceID"), password2):
		code = 1
	case p == nil:
		code = 3
	default:
		rest = p.describe(q.Get("InvoiceID"))
	}
	w.Header().Set("Content-Type", "text/xml; charset=utf-8")
	_, _ = fmt.Fprintf(w, `<?xml version="1.0" encoding="utf-8"?>
<OperationStateResponse xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns="http://merchant.roboxchange.com/WebService/"><Result><Code>%d</Code></Result>%s</OperationStateResponse>`, code, rest)
}

func (p *operation) describe(id string) string {
	var fields strings.Builder
	for name, value := range p.shop {
		fmt.Fprintf(&fields, "<Field><Name>%s</Name><Value>%s</Value></Field>", name, value)
	}
	return fmt.Sprintf(`<State><Code>%d</Code><RequestDate>2026-01-02T10:00:00+03:00</RequestDate></State>
<Info><IncCurrLabel>BankCard</IncCurrLabel><IncSum>%d.%02d0000</IncSum><OutCurrLabel>RUR</OutCurrLabel><OutSum>%d.%02d0000</OutSum><OpKey>KEY-%s</OpKey></Info>
<UserField>%s</UserField>`, p.state, p.sum/100, p.sum%100, p.sum/100, p.sum%100, id, fields.String())
}

func (f *fake) confirm(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	values := []string{r.Form.Get("MerchantLogin"), r.Form.Get("OutSum"), r.Form.Get("InvoiceID")}
	if r.Form.Has("Receipt") {
		values = append(values, r.Form.Get("Receipt"))
	}
	p, sum := f.operations[r.Form.Get("InvoiceID")], kopecks(r.Form.Get("OutSum"))
	done := p != nil && p.state == 20 && sum > 0 && sum <= p.sum && fits(r.Form.Get("Receipt"), sum) &&
		r.Form.Get("SignatureValue") == signature(append(values, password1)...)
	if done && !f.lags {
		p.state, p.sum = 100, sum
	}
	_, _ = fmt.Fprintf(w, `"success: %t"`, done)
}

func (f *fake) cancel(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	id := r.Form.Get("InvoiceID")
	p := f.operations[id]
	done := p != nil && p.state == 20 && r.Form.Get("SignatureValue") == signature(r.Form.Get("MerchantLogin"), "", id, password1)
	if done && !f.lags {
		p.state = 60
	}
	_, _ = fmt.Fprintf(w, `"success: %t"`, done)
}

// create reads a token in quotes.
func (f *fake) create(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body)
	parts := strings.Split(strings.Trim(string(raw), `"`), ".")
	h := hmac.New(sha256.New, []byte(password3))
	if len(parts) == 3 {
		_, _ = h.Write([]byte(parts[0] + "." + parts[1]))
	}
	if len(parts) != 3 || parts[2] != base64.RawURLEncoding.EncodeToString(h.Sum(nil)) {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, `{"success":false,"message":"Signature key is not exists"}`)
		return
	}
	payload, _ := base64.RawURLEncoding.DecodeString(parts[1])
	f.created = string(payload)
	var in struct {
		OpKey     string      `json:"OpKey"`
		RefundSum json.Number `json:"RefundSum"`
	}
	_ = json.Unmarshal(payload, &in)
	p, sum := f.operations[strings.TrimPrefix(in.OpKey, "KEY-")], kopecks(in.RefundSum.String())
	if p == nil || p.state != 100 || sum < 1 || p.returned+sum > p.sum {
		_, _ = io.WriteString(w, `{"success":false,"message":"NotEnoughOperationFunds"}`)
		return
	}
	p.returned += sum
	id := fmt.Sprintf("5d0b2a4e-0000-4000-8000-%012d", len(f.refunds)+1)
	f.refunds[id] = sum
	_, _ = fmt.Fprintf(w, `{"success":true,"message":null,"requestId":"%s"}`, id)
}

func (f *fake) refundState(w http.ResponseWriter, r *http.Request) {
	id := r.URL.Query().Get("id")
	sum, known := f.refunds[id]
	if !known {
		_, _ = io.WriteString(w, `{"message":"Id is invalid or request id does not exist"}`)
		return
	}
	_, _ = fmt.Fprintf(w, `{"requestId":"%s","amount":%d.%02d0000,"label":"processing"}`, id, sum/100, sum%100)
}
