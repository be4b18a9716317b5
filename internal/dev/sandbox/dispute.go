package sandbox

import (
	"net/http"
	"slices"
	"time"
)

// dueAfter is how long the merchant has for its evidence.
const dueAfter = 7 * 24 * time.Hour

type disputeRequest struct {
	// Amount is the disputed amount; if absent, the rest of the charge.
	Amount *int64 `json:"amount"`
	Reason string `json:"reason"`
	// DueBy is a week later if absent.
	DueBy *time.Time `json:"due_by"`
	// Warning opens an inquiry, which takes no money.
	Warning bool `json:"warning"`
}

func (in disputeRequest) checked() (disputeRequest, *apiError) {
	if in.Reason == "" {
		in.Reason = "fraudulent"
	}
	if len(in.Reason) > maxReference {
		return in, invalid("reason must have at most 200 bytes.")
	}
	return in, checkOptional(in.Amount)
}

// openDispute opens a cardholder's dispute, which takes the money unless it is a warning.
func openDispute(t *tx, c call, in disputeRequest) result {
	rec, ok := t.charges[c.id]
	if !ok {
		return result{err: notFound("charge")}
	}
	amount := rec.left()
	if in.Amount != nil {
		amount = *in.Amount
	}
	if rec.Status != succeeded || amount <= 0 || amount > rec.AmountCaptured-rec.AmountDisputed {
		return refuseCharge(rec, "charge_not_disputable", "Only money that the charge has captured, and that is not disputed, can be.")
	}
	due := t.now.Add(dueAfter)
	if in.DueBy != nil {
		due = *in.DueBy
	}
	d := Dispute{
		ID: newID("dp_"), ChargeID: rec.ID, Reason: in.Reason, Amount: amount, Currency: rec.Currency, DueBy: Stamp(due),
		Created: Stamp(t.now), Movements: []DisputeMovement{},
	}
	to, kind := Open, "dispute.opened"
	if in.Warning {
		to, kind = Warning, "dispute.warning"
	}
	return result{value: t.dispute(rec, d, to, kind)}
}

// dispute puts a dispute into a status, moves its money as that requires and reports it.
func (t *tx) dispute(rec chargeRecord, d Dispute, to Status, kind string) Dispute {
	data := eventData{DisputeID: d.ID, DisputeStatus: to, Reason: d.Reason, DueBy: d.DueBy, Amount: d.Amount}
	d.Updated = Stamp(t.now)
	if moves, amount := d.Moves(to); moves != "" {
		m := movementBy("", moves, d.Amount)
		m.DisputeID = d.ID
		data.EntryID = t.move(&rec, m)
		d.Movements = append(slices.Clip(d.Movements), DisputeMovement{EntryID: data.EntryID, Kind: moves, Amount: d.Amount, At: d.Updated})
		rec.AmountDisputed += amount
		t.putCharge(rec)
	}
	d.Status = to
	t.entry.Disputes = append(t.entry.Disputes, d)
	t.send(&rec, kind, data)
	return d
}

type disputeActRequest struct{}

func (in disputeActRequest) checked() (disputeActRequest, *apiError) { return in, nil }

func moveDispute(t *tx, c call, _ disputeActRequest) result {
	d, ok := t.disputes[c.id]
	do, can := ActOf(c.act)
	if !ok || !can {
		return result{err: notFound("dispute, or no such act")}
	}
	if !do.Fits(d.Status) {
		return refuse(http.StatusConflict, "dispute_status", "A dispute that is "+string(d.Status)+" takes no "+c.act+".")
	}
	return result{value: t.dispute(t.charges[d.ChargeID], d, do.To, do.Type)}
}
