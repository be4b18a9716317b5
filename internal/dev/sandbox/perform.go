package sandbox

import (
	"time"
)

// perform does a step to a charge that the caller stores afterwards.
func (t *tx) perform(c *chargeRecord, do step) {
	switch do {
	case stepNone:
	case stepApprove:
		t.approve(c)
	case stepDecline:
		t.decline(c)
	case stepDisordered:
		t.approveDisordered(c)
	}
}

func (t *tx) approve(c *chargeRecord) {
	if c.Capture == captureManual {
		t.authorize(c)
		return
	}
	t.capture(c, c.Amount, c.Key)
}

func (t *tx) authorize(c *chargeRecord) {
	c.end(authorized)
	t.emit(c, "charge.authorized", c.Amount)
}

// capture moves money: it is the only place where a charge enters the ledger. The event has the amount captured so far.
func (t *tx) capture(c *chargeRecord, amount int64, key string) {
	c.end(succeeded)
	c.AmountCaptured += amount
	t.move(c, movementBy(key, Charge, amount))
	t.emit(c, "charge.succeeded", c.AmountCaptured)
}

func (t *tx) decline(c *chargeRecord) {
	c.end(failed)
	c.FailureCode, c.FailureMessage = new("card_declined"), new("The card was declined.")
	t.emit(c, "charge.failed", c.Amount)
}

// approveDisordered authorises and charges, and delivers the event of the first after
// that of the second. With manual capture there is no second yet, so nothing can be
// out of order.
func (t *tx) approveDisordered(c *chargeRecord) {
	t.authorize(c)
	if c.Capture == captureManual {
		return
	}
	t.now = t.now.Add(time.Millisecond) // distinct times: created has the true order
	t.capture(c, c.Amount, c.Key)
	if len(t.entry.Events) == 2 {
		t.entry.Events[0].After = t.entry.Events[1].ID
	}
}

// end sets a status and drops the charge's plan.
func (c *chargeRecord) end(to status) {
	c.Status = to
	c.FailureCode, c.FailureMessage, c.NextAction, c.Plan = nil, nil, nil, nil
}

func captureCharge(t *tx, c call, in captureRequest) result {
	rec, ok := t.charges[c.id]
	if !ok {
		return result{err: notFound("charge")}
	}
	left := rec.capturable()
	amount := left
	if in.Amount != nil {
		amount = *in.Amount
	}
	if left == 0 {
		return refuseCharge(rec, "charge_not_capturable", "Only an authorized charge can be captured.")
	}
	if amount > left {
		return refuseCharge(rec, "capture_exceeds_authorization", "More than was authorized can't be captured.")
	}
	last := in.Final == nil || *in.Final
	t.capture(&rec, amount, c.key)
	switch {
	case !last:
		rec.AmountCapturable = new(left - amount)
	case rec.AmountCapturable != nil:
		rec.AmountCapturable = new(int64(0))
	}
	t.putCharge(rec)
	return result{value: rec.charge}
}

// capturable is how much of the charge is on hold.
func (c *charge) capturable() int64 {
	switch {
	case c.Status == authorized:
		return c.Amount
	case c.Status == succeeded && c.AmountCapturable != nil:
		return *c.AmountCapturable
	}
	return 0
}

func cancelCharge(t *tx, c call, _ cancelRequest) result {
	rec, ok := t.charges[c.id]
	if !ok {
		return result{err: notFound("charge")}
	}
	if rec.Status == succeeded && rec.capturable() > 0 { // the rest of a hold is released, and the money that was taken stays
		rec.AmountCapturable = new(int64(0))
		t.putCharge(rec)
		return result{value: rec.charge}
	}
	if rec.Status != pending && rec.Status != authorized {
		return refuseCharge(rec, "charge_final", "The charge is final; it can't be canceled any more.")
	}
	rec.end(canceled)
	t.emit(&rec, "charge.canceled", rec.Amount)
	t.putCharge(rec)
	return result{value: rec.charge}
}
