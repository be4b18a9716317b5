package adyen_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
)

// fake is as much of Adyen as its documentation tells and a payment needs. It
// keeps the answers of idempotency keys, and what its webhooks would tell.
type fake struct {
	*http.ServeMux

	mu       sync.Mutex
	payments map[string]*made
	keys     map[string]answer
	serial   int
}

type object = map[string]any

type made struct {
	amount object
	manual bool
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
)

func newFake() *fake {
	f := &fake{ServeMux: http.NewServeMux(), payments: map[string]*made{}, keys: map[string]answer{}}
	f.HandleFunc("POST /v72/payments", f.command(f.pay))
	f.HandleFunc("GET /v72/storedPaymentMethods", f.storedMethods)
	for _, verb := range []string{"captures", "cancels", "refunds"} {
		f.HandleFunc("POST /v72/payments/{id}/"+verb, f.command(f.modify))
	}
	return f
}

// command runs an operation once for each key, whose answer is given again.
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
			if in["merchantAccount"] != merchant {
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
	return answer{200, said}
}

// modify only receives: whether it can be done is told later.
func (f *fake) modify(id string, in object) answer {
	if f.payments[id] == nil {
		return refuse(422, "167", "validation")
	}
	said := object{
		"merchantAccount": merchant, "paymentPspReference": id, "pspReference": f.psp(), "status": "received", "reference": in["reference"],
	}
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
