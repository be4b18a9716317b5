package provider_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/adyen"
	"github.com/paylatch/paylatch/internal/provider/checkout"
	"github.com/paylatch/paylatch/internal/provider/stripe"
	"github.com/paylatch/paylatch/webhooks"
	hooks "github.com/paylatch/paylatch/webhooks/adyen"
)

type object = map[string]any

func dataOf(members object) gateway.Data {
	d := gateway.Data{}
	for name, value := range members {
		raw, err := json.Marshal(value)
		if err != nil {
			panic(err)
		}
		d[name] = raw
	}
	return d
}

func read(body []byte, out any) {
	if err := json.Unmarshal(body, out); err != nil {
		panic(fmt.Errorf("%s: %w", body, err))
	}
}

// rest is the platform's part of an amount.
func rest(minor int64, shares []share) int64 {
	for _, s := range shares {
		minor -= s.minor - s.commission
	}
	return minor
}

// adyenMarket is Adyen for Platforms: each request has splits, which book amounts on balance accounts or as commission
// (https://docs.adyen.com/platforms/online-payments/split-transactions).
func adyenMarket() *market {
	m := &market{books: books{}, sellers: []string{"BA1", "BA2"}, token: `{"type":"scheme","encryptedCardNumber":"x"}`, further: adyen.Adapter().Further}
	splits := func(minor int64, shares []share) gateway.Data {
		var all []object
		for _, s := range shares {
			all = append(all, object{"type": "BalanceAccount", "account": s.seller, "amount": object{"value": s.minor - s.commission}, "reference": "r-" + s.seller})
		}
		return dataOf(object{"splits": append(all, object{"type": "Commission", "amount": object{"value": rest(minor, shares)}, "reference": "r"})})
	}
	m.pay, m.captures = splits, splits
	m.refunds = func(minor int64, bearers []share, _, _ bool) gateway.Data { return splits(minor, bearers) }
	type request struct {
		Reference string                `json:"reference"`
		Amount    struct{ Value int64 } `json:"amount"`
		Splits    []struct {
			Type, Account string
			Amount        struct{ Value int64 }
		} `json:"splits"`
	}
	book := func(r request, sign int64) {
		for _, s := range r.Splits {
			to := s.Account
			if s.Type == "Commission" {
				to = platform
			}
			m.books[to] += sign * s.Amount.Value
		}
	}
	v, err := hooks.New(webhooks.Config{Secrets: []string{strings.Repeat("44", 32)}})
	if err != nil {
		panic(err)
	}
	serial, waiting := 0, []object(nil)
	psp := func() string {
		serial++
		return fmt.Sprintf("88%013dK", serial)
	}
	m.webhooks = func() (reports []payment.Report) {
		for _, item := range waiting {
			raw, err := json.Marshal(object{"live": "false", "notificationItems": []object{{"NotificationRequestItem": item}}})
			if err != nil {
				panic(err)
			}
			event := v.Read(webhooks.Delivery{Method: http.MethodPost, Header: http.Header{}, Body: raw, ReceivedAt: time.Now()})[0]
			if r, ok := payment.ReportOfEvent(event, "EUR"); ok {
				reports = append(reports, r)
			}
		}
		waiting = nil
		return reports
	}
	m.Provider = adyen.New(adyen.Account{Base: "http://adyen.test", Key: "k", Merchant: "Shop"}, m.client("Idempotency-Key", func(r *http.Request, body []byte) (int, any) {
		var in request
		read(body, &in)
		id := psp()
		if r.URL.Path == "/v72/payments" {
			return http.StatusOK, object{
				"pspReference": id, "resultCode": "Authorised", "merchantReference": in.Reference, "amount": object{"value": in.Amount.Value, "currency": "EUR"},
			}
		}
		item := object{
			"pspReference": id, "originalReference": path.Base(path.Dir(r.URL.Path)), "merchantAccountCode": "Shop", "merchantReference": in.Reference,
			"amount": object{"value": in.Amount.Value, "currency": "EUR"}, "success": "true",
		}
		if path.Base(r.URL.Path) == "captures" {
			m.books.ofCapture(in.Amount.Value)
			book(in, 1)
			item["eventCode"] = "CAPTURE"
		} else {
			m.books[customer] += in.Amount.Value
			book(in, -1)
			item["eventCode"] = "REFUND"
		}
		waiting = append(waiting, item)
		return http.StatusCreated, object{
			"merchantAccount": "Shop", "paymentPspReference": item["originalReference"], "pspReference": id, "status": "received", "reference": in.Reference,
			"amount": item["amount"],
		}
	}))
	return m
}

// checkoutMarket is Checkout.com for platforms: each request allocates its amount to entities, less a commission
// (https://www.checkout.com/docs/platforms/split-payments).
func checkoutMarket() *market {
	m := &market{
		books: books{}, sellers: []string{"ent_1", "ent_2"}, token: "tok_ok000000000000000000000000", further: checkout.Adapter().Further,
		webhooks: func() []payment.Report { return nil },
	}
	const own = "ent_platform"
	allocate := func(minor int64, shares []share) gateway.Data {
		var all []object
		left := minor
		for _, s := range shares {
			all = append(all, object{"id": s.seller, "amount": s.minor, "reference": "r-" + s.seller, "commission": object{"amount": s.commission}})
			left -= s.minor
		}
		return dataOf(object{"amount_allocations": append(all, object{"id": own, "amount": left, "reference": "r"})})
	}
	m.pay, m.captures = allocate, allocate
	m.refunds = func(minor int64, bearers []share, _, _ bool) gateway.Data { return allocate(minor, bearers) }
	type request struct {
		Reference   string          `json:"reference"`
		Amount      int64           `json:"amount"`
		Metadata    json.RawMessage `json:"metadata"`
		Type        string          `json:"capture_type"`
		Allocations []struct {
			ID         string
			Amount     int64
			Commission struct{ Amount int64 }
		} `json:"amount_allocations"`
	}
	book := func(r request, sign int64) {
		for _, a := range r.Allocations {
			to := a.ID
			if to == own {
				to = platform
			}
			m.books[to] += sign * (a.Amount - a.Commission.Amount)
			m.books[platform] += sign * a.Commission.Amount
		}
	}
	var of request
	var actions []object
	var captured, refunded int64
	act := func(kind string, r request) object {
		done := object{"id": fmt.Sprintf("act_%026d", len(actions)), "type": kind, "amount": r.Amount, "approved": true, "reference": r.Reference}
		actions = append([]object{done}, actions...)
		return object{"action_id": done["id"], "reference": r.Reference}
	}
	shown := func() object {
		status := "Authorized"
		switch {
		case refunded > 0:
			status = "Partially Refunded"
		case captured > 0:
			status = "Partially Captured"
		}
		return object{
			"id": "pay_1", "status": status, "amount": of.Amount, "currency": "EUR", "metadata": of.Metadata, "reference": of.Reference,
			"balances": object{
				"total_authorized": of.Amount, "total_captured": captured, "total_refunded": refunded, "available_to_capture": of.Amount - captured,
			},
		}
	}
	m.Provider = checkout.New("http://checkout.test", "sk_sbox_x", m.client("Cko-Idempotency-Key", func(r *http.Request, body []byte) (int, any) {
		var in request
		if r.Method != http.MethodGet {
			read(body, &in)
		}
		switch {
		case r.URL.Path == "/disputes":
			return http.StatusOK, object{"data": []object{}}
		case r.Method == http.MethodGet && path.Base(r.URL.Path) == "actions":
			return http.StatusOK, append([]object{}, actions...)
		case r.Method == http.MethodGet:
			return http.StatusOK, shown()
		case r.URL.Path == "/payments":
			of = in
			return http.StatusCreated, shown()
		case path.Base(r.URL.Path) == "captures":
			captured += in.Amount
			m.books.ofCapture(in.Amount)
			book(in, 1)
			return http.StatusAccepted, act("Capture", in)
		}
		refunded += in.Amount
		m.books[customer] += in.Amount
		book(in, -1)
		return http.StatusAccepted, act("Refund", in)
	}))
	return m
}

// stripeMarket is Stripe Connect with destination charges: a capture is transferred to the seller, less the application fee.
// A refund takes back, in proportion, the transfer and the fee, if it says so
// (https://docs.stripe.com/connect/destination-charges).
func stripeMarket() *market {
	m := &market{
		books: books{}, sellers: []string{"acct_1"}, token: "pm_card_visa", further: stripe.Adapter().Further, proportional: true,
		webhooks: func() []payment.Report { return nil },
	}
	m.pay = func(int64, []share) gateway.Data {
		return dataOf(object{"transfer_data": object{"destination": "acct_1"}})
	}
	m.captures = func(_ int64, shares []share) gateway.Data {
		return dataOf(object{"application_fee_amount": shares[0].commission})
	}
	m.refunds = func(_ int64, _ []share, reverse, fee bool) gateway.Data {
		return dataOf(object{"reverse_transfer": reverse, "refund_application_fee": fee})
	}
	var amount, captured, refunded, feesTaken int64
	var to string
	marks := object{}
	number := func(in url.Values, name string) int64 {
		n, _ := strconv.ParseInt(in.Get(name), 10, 64)
		return n
	}
	metadata := func(in url.Values) object {
		all := object{}
		for name, values := range in {
			if key, ok := strings.CutPrefix(name, "metadata["); ok {
				all[strings.TrimSuffix(key, "]")] = values[0]
			}
		}
		return all
	}
	serial := 0
	m.Provider = stripe.New("http://stripe.test", "sk_test_x", m.client("Idempotency-Key", func(r *http.Request, body []byte) (int, any) {
		in, err := url.ParseQuery(string(body))
		if err != nil {
			panic(err)
		}
		switch r.URL.Path {
		case "/v1/refunds":
			minor, moved := number(in, "amount"), int64(0)
			before := refunded
			refunded += minor
			m.books[customer] += minor
			m.books[platform] -= minor
			if in.Get("reverse_transfer") == "true" {
				moved = part(captured, refunded, captured) - part(captured, before, captured)
			}
			if in.Get("refund_application_fee") == "true" {
				moved -= part(feesTaken, refunded, captured) - part(feesTaken, before, captured)
			}
			m.books[to] -= moved
			m.books[platform] += moved
			serial++
			return http.StatusOK, object{
				"object": "refund", "id": fmt.Sprint("re_", serial), "payment_intent": "pi_1", "amount": minor, "currency": "eur", "status": "succeeded",
				"metadata": metadata(in),
			}
		case "/v1/payment_intents":
			amount, to, marks = number(in, "amount"), in.Get("transfer_data[destination]"), metadata(in)
		default: // a capture
			minor, fee := number(in, "amount_to_capture"), number(in, "application_fee_amount")
			captured += minor
			feesTaken += fee
			m.books.ofCapture(minor)
			m.books[to] += minor - fee
			m.books[platform] += fee
		}
		status := "requires_capture"
		if captured == amount {
			status = "succeeded"
		}
		return http.StatusOK, object{
			"object": "payment_intent", "id": "pi_1", "status": status, "amount": amount, "currency": "eur", "amount_capturable": amount - captured,
			"amount_received": captured, "metadata": marks, "latest_charge": "ch_1",
			"payment_method_options": object{"card": object{"request_multicapture": "if_available"}},
		}
	}))
	return m
}
