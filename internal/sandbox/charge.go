package sandbox

import "net/http"

func createCharge(t *tx, c call, in chargeRequest, tokens map[string]behaviour) result {
	b, refused := t.behaviourOf(in, tokens)
	if refused != nil {
		return result{err: refused}
	}
	if b.uncharged && !c.retried {
		return result{fault: b.fault, again: true}
	}
	rec := newCharge(t, c, in, b)
	if b.webhookFirst {
		t.lag = 0
	}
	t.perform(&rec, b.now)
	if b.later != stepNone {
		rec.Plan = &plan{Do: b.later, At: t.now.Add(b.after)}
	}
	if b.save {
		saved := newMethod(in.Customer)
		t.entry.Methods = append(t.entry.Methods, saved)
		rec.Saved = &saved.method
	}
	t.putCharge(rec)
	res := result{value: rec.charge}
	if !b.uncharged {
		res.fault = b.fault
	}
	if b.webhookFirst && len(t.entry.Events) > 0 {
		res.await = t.entry.Events[0].ID
	}
	return res
}

func newCharge(t *tx, c call, in chargeRequest, b behaviour) chargeRecord {
	rec := chargeRecord{
		charge: charge{
			ID: newID("ch_"), Reference: in.Reference, Status: pending,
			Amount: in.Amount + b.surplus, Currency: in.Currency, Capture: in.Capture,
			Created: stamp(t.now),
		},
		Key: c.key, ReturnURL: in.ReturnURL, Copies: b.copies,
	}
	if b.hosted {
		rec.PageURL = c.base + "/pay/" + rec.ID
		rec.NextAction = &nextAction{Type: "redirect", URL: rec.PageURL}
	}
	return rec
}

func newMethod(customer string) methodRecord {
	return methodRecord{method{newID("card_"), "card", "Visa •••• 4242", "2034-12"}, customer}
}

// behaviourOf returns the behaviour that a token selects. A stored payment method is
// charged only for its own customer.
func (t *tx) behaviourOf(in chargeRequest, tokens map[string]behaviour) (behaviour, *apiError) {
	if b, special := tokens[in.Token]; special {
		if b.save && in.Customer == "" {
			return behaviour{}, invalid("customer must be given: whose the payment method will be.")
		}
		return b, nil
	}
	switch saved, there := t.methods[in.Token]; {
	case !there:
		return behaviour{}, &apiError{status: http.StatusUnprocessableEntity, Code: "invalid_token", Message: "There is no such token."}
	case saved.Customer != in.Customer:
		return behaviour{}, &apiError{
			status: http.StatusForbidden, Code: "payment_method_of_another_customer", Message: "The payment method belongs to another customer.",
		}
	}
	return behaviour{now: stepApprove}, nil
}
