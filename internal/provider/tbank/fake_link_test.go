package tbank_test

import (
	"encoding/json"
	"net/http"
)

// qr registers a QR code of the SBP. Its answer has the id as a number.
func (f *fake) qr(in map[string]string) object {
	p := f.payments[in["PaymentId"]]
	switch {
	case p == nil:
		return failure("255", nil)
	case f.noApps:
		return failure("3001", p)
	case p.status != "NEW":
		return failure("8", p)
	}
	return object{
		"Success": true, "ErrorCode": "0", "Message": "OK", "TerminalKey": terminal, "OrderId": p.order, "PaymentId": json.Number(p.id),
		"Data": "https://qr.nspk.ru/" + p.id + "?type=02&sum=1999&cur=RUB", "RequestKey": 0,
	}
}

// link returns the links of T-Pay and SberPay. Their requests have no Token.
func (f *fake) link(app, qr string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		defer f.mu.Unlock()
		p := f.payments[r.PathValue("id")]
		said := object{"Success": true, "ErrorCode": "0", "Params": object{}}
		switch {
		case p == nil, f.noApps:
			said = object{"Success": false, "ErrorCode": "3001", "Message": "Not for the customer."}
		case qr == "":
			said["Params"] = object{"RedirectUrl": app + p.id}
		default:
			said["Params"] = object{"RedirectUrl": app + p.id, "WebQR": qr + p.id}
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(said)
	}
}
