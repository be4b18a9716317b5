package sandbox

import "net/http"

// refund is money paid back; it is final as soon as it exists.
type refund struct {
	ID        string `json:"id"`
	ChargeID  string `json:"charge_id"`
	Reference string `json:"reference"`
	Amount    int64  `json:"amount"`
	Currency  string `json:"currency"`
	Status    status `json:"status"`
}

func (s *Server) createRefund(t *tx, c call, in refundRequest) result {
	rec, ok := t.charges[c.id]
	if !ok {
		return result{err: noCharge()}
	}
	if rec.Status != succeeded {
		return refuseCharge(rec, "charge_not_refundable", "Only a succeeded charge can be refunded.")
	}
	left := rec.AmountCaptured - rec.AmountRefunded
	amount := left
	if in.Amount != nil {
		amount = *in.Amount
	}
	if left == 0 || amount > left {
		return refuseCharge(rec, "refund_exceeds_charge", "More than is left of the charge can't be refunded.")
	}
	return result{value: t.payBack(rec, amount, c.key, in.Reference)}
}

func (t *tx) payBack(rec chargeRecord, amount int64, key, reference string) refund {
	re := refund{
		ID: newID("re_"), ChargeID: rec.ID, Reference: reference,
		Amount: amount, Currency: rec.Currency, Status: succeeded,
	}
	rec.AmountRefunded += amount
	t.putCharge(rec)
	t.entry.Refunds = append(t.entry.Refunds, re)
	t.move(movement{Kind: "refund", ChargeID: rec.ID, Reference: rec.Reference, IdempotencyKey: key, Amount: amount, Currency: rec.Currency})
	t.emitRefund(&rec, re, "refund.succeeded")
	return re
}

func (s *Server) showRefund(w http.ResponseWriter, r *http.Request) {
	var found *refund
	s.store.view(func(st *state) {
		if re, ok := st.refunds[r.PathValue("id")]; ok {
			found = &re
		}
	})
	if found == nil {
		write(w, errorReply(&apiError{status: http.StatusNotFound, Code: "not_found", Message: "There is no such refund."}))
		return
	}
	write(w, jsonReply(http.StatusOK, found))
}

func (s *Server) listRefunds(w http.ResponseWriter, r *http.Request) {
	found := []refund{}
	if !listed(w, r, func(reference string) {
		s.store.view(func(st *state) {
			for _, id := range st.refundsByReference[reference] {
				found = append(found, st.refunds[id])
			}
		})
	}) {
		return
	}
	write(w, jsonReply(http.StatusOK, list[refund]{Items: found}))
}
