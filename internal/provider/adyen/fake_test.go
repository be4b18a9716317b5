package adyen_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
)

// fake implements the documented parts of Adyen that a payment needs. It keeps the answers of idempotency keys, and the
// data for its webhooks.
type fake struct {
	*http.ServeMux

	mu       sync.Mutex
	payments map[string]*made
	waiting  []object // requests whose customer must act, in order
	keys     map[string]answer
	serial   int
}

type object = map[string]any

// made is a payment. It is modified by requests, the oldest first.
type made struct {
	amount   object
	manual   bool
	modified []modified
}

// modified is an accepted request to modify a payment. Its webhook is still to come.
type modified struct {
	verb, psp string
	reference any
	amount    object
}

type answer struct {
	status int
	body   object
}

const (
	apiKey   = "AQEyhmfxK-fake"
	merchant = "PaylatchECOM"
	// Stored payment methods have ids of sixteen characters.
	cardOK, cardRefused, cardPoor = "M5N7TQ4TG5PFWR50", "R3FUS3DR3FUS3D00", "P00RP00RP00RP000"
	cardNone, cardPending         = "N0B0DYN0B0DYN000", "P3ND1NGP3ND1NG00"
	methodRedirect                = `{"type":"ideal"}`
	methodChallenge               = `{"type":"scheme","encryptedCardNumber":"challenge"}`
	methodTwice                   = `{"type":"scheme","encryptedCardNumber":"twice"}`
	methodPosted                  = `{"type":"ideal","issuer":"posted"}`
	methodVoucher                 = `{"type":"boletobancario"}`
	methodApp                     = `{"type":"mbway","telephoneNumber":"+351234567890","shopperEmail":"jane@shop.example"}`
	methodSaved                   = `{"type":"scheme","encryptedCardNumber":"saved"}`
)

func newFake() *fake {
	f := &fake{ServeMux: http.NewServeMux(), payments: map[string]*made{}, keys: map[string]answer{}}
	f.HandleFunc("POST /v72/payments", f.command(f.pay))
	f.HandleFunc("POST /v72/payments/details", f.command(f.details))
	f.HandleFunc("POST /v72/cancels", f.command(f.cancelByReference))
	f.HandleFunc("GET /v72/storedPaymentMethods", f.storedMethods)
	for _, verb := range []string{"captures", "cancels", "refunds"} {
		f.HandleFunc("POST /v72/payments/{id}/"+verb, f.command(func(id string, in object) answer { return f.modify(verb, id, in) }))
	}
	return f
}

// command runs an operation once for each key, and repeats its answer.
func (f *fake) command(run func(id string, in object) answer) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		key := r.Header.Get("Idempotency-Key")
		if r.Header.Get("X-API-Key") != apiKey {
			refuse(401, "000", "security").write(w)
			return
		}
		raw, _ := io.ReadAll(r.Body)
		var in object
		if json.Unmarshal(raw, &in) != nil || r.Header.Get("Content-Type") != "application/json" {
			refuse(400, "702", "validation").write(w)
			return
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		said, known := f.keys[key]
		if !known {
			if in["merchantAccount"] != merchant && !strings.HasSuffix(r.URL.Path, "/details") {
				refuse(403, "901", "security").write(w)
				return
			}
			said = run(r.PathValue("id"), in)
			f.keys[key] = said
		}
		w.Header().Set("Idempotency-Key", key)
		said.write(w)
	}
}

func (a answer) write(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(a.status)
	if err := json.NewEncoder(w).Encode(a.body); err != nil {
		panic(err)
	}
}

func refuse(status int, code, kind string) answer {
	return answer{status, object{"status": status, "errorCode": code, "errorType": kind, "message": "Jane Doe's card is odd"}}
}

func (f *fake) psp() string {
	f.serial++
	return fmt.Sprintf("88%013dK", f.serial)
}

func (f *fake) pay(_ string, in object) answer {
	method, _ := in["paymentMethod"].(object)
	additional, _ := in["additionalData"].(object)
	id := f.psp()
	said := object{"pspReference": id, "merchantReference": in["reference"]}
	switch {
	case acts(method) != nil:
		f.waiting = append(f.waiting, in)
		return *acts(method)
	case method["type"] == "ideal" && in["returnUrl"] == nil:
		return refuse(422, "14_030", "validation")
	case method["type"] == "ideal":
		return answer{200, object{"resultCode": "RedirectShopper", "action": object{
			"type": "redirect", "paymentMethodType": "ideal", "method": "GET", "url": "https://test.adyen.com/hpp/checkout.shtml?u=redirectIdeal",
		}}}
	case method["storedPaymentMethodId"] == cardNone:
		return refuse(422, "800", "validation")
	case method["storedPaymentMethodId"] == cardRefused:
		said["resultCode"], said["refusalReason"], said["refusalReasonCode"] = "Refused", "Refused", "2"
		return answer{200, said}
	case method["storedPaymentMethodId"] == cardPoor:
		said["resultCode"], said["refusalReason"], said["refusalReasonCode"] = "Refused", "Not enough balance", "12"
		return answer{200, said}
	case method["storedPaymentMethodId"] == cardPending:
		said["resultCode"] = "Pending"
		return answer{200, said}
	}
	amount, _ := in["amount"].(object)
	f.payments[id] = &made{amount: amount, manual: additional["manualCapture"] == "true"}
	said["resultCode"], said["amount"] = "Authorised", amount
	if in["storePaymentMethod"] == true {
		said["paymentMethod"] = object{"type": "scheme", "brand": "visa"}
		said["additionalData"] = object{
			"tokenization.storedPaymentMethodId": stored.Token, "cardSummary": "1111", "expiryDate": "3/2030", "paymentMethod": "visa",
		}
	}
	return answer{200, said}
}

// acts returns the answer to a charge whose customer must act, or nil.
func acts(method object) *answer {
	challenge := object{"type": "threeDS2", "subtype": "challenge", "token": "eyJ0", "paymentMethodType": "scheme", "paymentData": "Ab02b4c0"}
	switch {
	case method["encryptedCardNumber"] == "challenge", method["encryptedCardNumber"] == "twice":
		fingerprint := object{"type": "threeDS2", "subtype": "fingerprint", "token": "eyJ0", "paymentMethodType": "scheme"}
		return &answer{200, object{"resultCode": "IdentifyShopper", "action": fingerprint}}
	case method["type"] == "again":
		return &answer{200, object{"resultCode": "ChallengeShopper", "action": challenge}}
	case method["issuer"] == "posted":
		return &answer{200, object{"resultCode": "RedirectShopper", "action": object{
			"type": "redirect", "method": "POST", "url": "https://bank.example/acs", "data": object{"PaReq": "eNpV", "MD": "VW9M"},
		}}}
	case method["type"] == "boletobancario":
		return &answer{200, object{"resultCode": "PresentToShopper", "pspReference": "88VOUCHER", "action": object{
			"type": "voucher", "paymentMethodType": "boletobancario", "reference": "03399.33335", "expiresAt": "2030-01-06T00:00:00",
			"downloadUrl": "https://test.adyen.com/hpp/generationBoleto.shtml",
		}}}
	case method["type"] == "mbway":
		return &answer{200, object{"resultCode": "Pending", "action": object{"type": "await", "paymentMethodType": "mbway", "paymentData": "Ab02"}}}
	}
	return nil
}

// details continues the last waiting payment, or another payment.
func (f *fake) details(_ string, in object) answer {
	details, _ := in["details"].(object)
	if details["threeDSResult"] == nil && details["redirectResult"] == nil || len(f.waiting) == 0 {
		return refuse(422, "14_017", "validation")
	}
	waited := f.waiting[len(f.waiting)-1]
	method, _ := waited["paymentMethod"].(object)
	amount, _ := waited["amount"].(object)
	additional, _ := waited["additionalData"].(object)
	switch {
	case method["encryptedCardNumber"] == "twice":
		waited["paymentMethod"] = object{"type": "again"}
		return *acts(object{"type": "again"})
	case details["redirectResult"] == "another":
		return answer{200, object{"resultCode": "Authorised", "pspReference": f.psp(), "merchantReference": "0199-another", "amount": amount}}
	case details["redirectResult"] == "refused":
		return answer{200, object{"resultCode": "Refused", "pspReference": f.psp(), "merchantReference": waited["reference"], "refusalReason": "Refused"}}
	}
	id := f.psp()
	f.payments[id] = &made{amount: amount, manual: additional["manualCapture"] == "true"}
	return answer{200, object{"resultCode": "Authorised", "pspReference": id, "merchantReference": waited["reference"], "amount": amount}}
}

func (f *fake) cancelByReference(_ string, in object) answer {
	return answer{201, object{
		"merchantAccount": merchant, "paymentReference": in["paymentReference"], "pspReference": f.psp(), "status": "received", "reference": in["reference"],
	}}
}

// modify only acknowledges a request. A webhook reports the result later.
func (f *fake) modify(verb, id string, in object) answer {
	of := f.payments[id]
	if of == nil {
		return refuse(422, "167", "validation")
	}
	psp := f.psp()
	said := object{
		"merchantAccount": merchant, "paymentPspReference": id, "pspReference": psp, "status": "received", "reference": in["reference"],
	}
	amount, _ := in["amount"].(object)
	of.modified = append(of.modified, modified{verb, psp, in["reference"], amount})
	if in["amount"] != nil {
		said["amount"] = in["amount"]
	}
	return answer{201, said}
}

func (f *fake) storedMethods(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	switch {
	case r.Header.Get("X-Api-Key") != apiKey, q.Get("merchantAccount") != merchant:
		refuse(401, "000", "security").write(w)
	case q.Get("shopperReference") == stored.Owner:
		answer{http.StatusOK, object{"shopperReference": stored.Owner, "storedPaymentMethods": []object{{"id": stored.Token, "type": "scheme"}}}}.write(w)
	default:
		answer{http.StatusOK, object{"shopperReference": q.Get("shopperReference")}}.write(w)
	}
}
