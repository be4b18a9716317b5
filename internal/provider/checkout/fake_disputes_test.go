package checkout_test

import (
	"net/http"
)

// listDisputes implements GET /disputes, which the API description lacks.
func (f *fake) listDisputes(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer "+secret {
		answer{401, nil}.write(w)
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	found := []object{}
	if p := f.payments[r.URL.Query().Get("payment_id")]; p != nil {
		found = append(found, p.disputes...)
	}
	answer{200, object{"limit": 250, "skip": 0, "total_count": len(found), "data": found}}.write(w)
}

// disputed returns a dispute of a payment with this status.
func disputed(payment, status string) object {
	return object{
		"id": "dsp_rbhwd2qrg13uhrp2newf", "category": "fraudulent", "status": status, "amount": 1999, "currency": "EUR", "reason_code": "10.4",
		"payment_id": payment, "evidence_required_by": "2026-03-31T00:00:00Z", "received_on": "2026-03-15T00:00:00Z", "last_update": "2026-03-16T00:00:00Z",
	}
}
