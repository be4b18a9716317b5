package sandbox

import (
	"net/http"
)

func createCharge(t *tx, c call, in chargeRequest, tokens map[string]behaviour) result {
	b, refused := t.behaviourOf(in, tokens)
	if refused != nil {
		return result{err: refused}
	}
	if b.uncharged && !c.retried {
		return result{fault: b.fault, again: true}
	}
	rec := newCharge(t, c, in)
	if b.save || in.Save {
		saved := newMethod(in.Customer)
		t.entry.Methods = append(t.entry.Methods, saved)
		rec.Saved = &saved.method
	}
	if b.challenge != "" {
		rec.challenge(b.challenge, c.base)
		t.putCharge(rec)
		return result{value: rec.charge}
	}
	if b.place == inDropin {
		rec.Secret = newSecret(rec.ID)
		t.putCharge(rec)
		return result{value: createdCharge{rec.charge, rec.Secret}}
	}
	res := t.behave(&rec, c, b)
	res.value = rec.charge
	return res
}

func newCharge(t *tx, c call, in chargeRequest) chargeRecord {
	return chargeRecord{
		charge: charge{
			ID: newID("ch_"), Reference: in.Reference, OrderID: in.OrderID, Status: pending, Amount: in.Amount,
			Currency: in.Currency, Capture: in.Capture, Created: Stamp(t.now),
		},
		Key: c.key, ReturnURL: in.ReturnURL,
	}
}

// behave begins the course of a charge and stores it. The result has no value yet.
func (t *tx) behave(rec *chargeRecord, c call, b behaviour) (res result) {
	rec.Amount += b.surplus
	rec.Copies = b.copies
	if b.place == onPage || b.place == atTill {
		rec.PageURL = c.base + "/pay/" + rec.ID
		rec.NextAction = &nextAction{Type: actionRedirect, URL: rec.PageURL}
		if b.place == atTill {
			rec.NextAction = voucher(rec, t.now)
		}
	}
	if b.webhookFirst {
		t.lag = 0
	}
	t.perform(rec, b.now)
	if b.later != stepNone {
		rec.Plan = &plan{Do: b.later, At: t.now.Add(b.after)}
	}
	t.putCharge(*rec)
	if !b.uncharged {
		res.fault = b.fault
	}
	if b.webhookFirst && len(t.entry.Events) > 0 {
		res.await = t.entry.Events[0].ID
	}
	return res
}

func newMethod(customer string) methodRecord {
	return methodRecord{method{newID("card_"), "card", "Visa •••• 4242", "2034-12"}, customer}
}

// behaviourOf returns the behaviour that a token selects. A stored payment method is
// charged only for its own customer.
func (t *tx) behaviourOf(in chargeRequest, tokens map[string]behaviour) (behaviour, *apiError) {
	if b, special := tokens[in.token()]; special {
		switch {
		case (b.save || in.Save) && in.Customer == "":
			return behaviour{}, invalid("customer must be given: whose the payment method will be.")
		case b.billing && in.Billing == nil:
			return behaviour{}, invalid("billing_address must be given.")
		}
		return b, nil
	}
	switch saved, there := t.methods[in.Token]; {
	case !there:
		return behaviour{}, invalidToken()
	case saved.Customer != in.Customer:
		return behaviour{}, &apiError{
			status: http.StatusForbidden, Code: "payment_method_of_another_customer", Message: "The payment method belongs to another customer.",
		}
	}
	return behaviour{now: stepApprove}, nil
}
