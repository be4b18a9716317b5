package sandbox

func createRefund(t *tx, c call, in refundRequest) result {
	rec, ok := t.charges[c.id]
	if !ok {
		return result{err: notFound("charge")}
	}
	if rec.Status != succeeded {
		return refuseCharge(rec, "charge_not_refundable", "Only a succeeded charge can be refunded.")
	}
	left := rec.left()
	amount := left
	if in.Amount != nil {
		amount = *in.Amount
	}
	if left <= 0 || amount > left {
		return refuseCharge(rec, "refund_exceeds_charge", "More than is left of the charge can't be refunded.")
	}
	return result{value: t.refund(rec, amount, c.key, in.Reference)}
}

// left returns the refundable amount.
func (c *charge) left() int64 { return c.AmountCaptured - c.AmountRefunded - c.AmountDisputed }

func (t *tx) refund(rec chargeRecord, amount int64, key, reference string) refund {
	re := refund{
		ID: newID("re_"), ChargeID: rec.ID, Reference: reference,
		Amount: amount, Currency: rec.Currency, Status: succeeded,
	}
	rec.AmountRefunded += amount
	t.putCharge(rec)
	t.entry.Refunds = append(t.entry.Refunds, re)
	moved := movementBy(key, Refund, amount)
	moved.RefundID = re.ID
	t.move(&rec, moved)
	t.emitRefund(&rec, re, "refund.succeeded")
	return re
}
