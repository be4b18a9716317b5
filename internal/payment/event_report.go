package payment

import (
	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/webhooks"
)

// ReportOfEvent returns the report in a webhook's event; false if there is no report. A refund's amount without a currency is in the
// currency of the payment.
func ReportOfEvent(e webhooks.Event, currency Currency) (Report, bool) {
	r := Report{
		Payment: e.ProviderPaymentID, Container: e.Container, Payee: e.Payee, BrowserMark: e.BrowserMark, References: e.References, Failure: failureOf(e), Approved: e.Approved, PageOpen: e.PageOpen,
		Reverses: e.Kind == webhooks.KindUndone, At: e.OccurredAt, Cause: Cause{Kind: CauseWebhook, ID: e.ID},
	}
	if v := e.Review; v != nil {
		r.Review = &ReviewReport{ID: v.ID, Status: ReviewStatus(v.Status), Implied: v.Implied}
	}
	if e.Mode != "" {
		r.Live = new(e.Mode == webhooks.ModeLive)
	}
	switch e.Refuses {
	case webhooks.CommandCapture:
		r.Refusal = &RefusalReport{Kind: OperationCapture, ProviderRef: e.MovementID, Reference: e.CaptureReference}
	case webhooks.CommandCancel:
		r.Refusal = &RefusalReport{Kind: OperationCancel}
	}
	if says, ok := newsByKind[e.Kind]; ok {
		if r.Event = says; r.Refusal != nil {
			return r, true // a refused command changes nothing about held money
		}
		r.Movements = MovementsOf(says, EventMoney(e))
		for i := range r.Movements {
			r.Movements[i].At = e.OccurredAt
			if says == fsm.EventSucceeded && e.MovementID != "" {
				r.Movements[i].ID, r.Movements[i].Part, r.Movements[i].Reference = e.MovementID, true, e.CaptureReference
			}
		}
		if says == fsm.EventDisputed {
			r.Disputed = EventMoney(e)
		}
		if r.Disputes = disputesOf(e); e.Dispute != nil && e.Dispute.Returns {
			r.Movements = append(r.Movements, MovementReport{Kind: MovementChargebackReversal, Dispute: e.Dispute.ID, At: e.OccurredAt})
		}
		return r, true
	}
	if kind, ok := movementByKind[e.Kind]; ok {
		r.Event, r.Movements, r.Disputes = fsm.EventMoney, movedBy(e, kind), disputesOf(e)
		return r, true
	}
	if says, ok := refundNewsByKind[e.Kind]; ok {
		r.Event = fsm.EventMoney
		r.Refund = &RefundReport{
			ProviderID: e.RefundID, Reference: e.RefundReference, Event: says, Money: refundMoney(e, currency),
			Total: e.Cumulative, Failure: r.Failure,
		}
		r.Failure = nil
		return r, true
	}
	return Report{}, false
}

// movedBy returns the movements that an event states of money that moved after the payment. A dispute's movement is named by the
// dispute, or by the payment if the provider has no id for disputes. Unless the event also has the id of an entry, its time
// distinguishes the rounds of a dispute.
func movedBy(e webhooks.Event, kind MovementKind) []MovementReport {
	if e.Dispute != nil && len(e.Dispute.Entries) > 0 {
		return EntriesOf(*e.Dispute)
	}
	told := MovementReport{Kind: kind, ID: e.MovementID, At: e.OccurredAt}
	if money := EventMoney(e); money != nil {
		told.Money = *money
	}
	switch {
	case kind == MovementCaptureReversal:
	case e.Dispute != nil:
		told.Dispute = e.Dispute.ID
	case e.MovementID != "" && e.MovementID == e.ProviderPaymentID:
		told.Dispute = e.MovementID
	}
	if told.ID == told.Dispute {
		told.ID = ""
	}
	return []MovementReport{told}
}

// disputesOf is the dispute that an event names, if it does.
func disputesOf(e webhooks.Event) []DisputeReport {
	d := e.Dispute
	if d == nil {
		return nil
	}
	return []DisputeReport{{
		ProviderID: d.ID, Status: fsm.DisputeState(d.Status), Reason: d.Reason, Money: moneyOf(d.Money), DueBy: d.DueBy, At: e.OccurredAt,
	}}
}

// refundMoney is the amount of an event's refund. An amount without a currency is in the payment's currency; nil if the amount
// can't be read.
func refundMoney(e webhooks.Event, of Currency) *Money {
	if e.Amount == "" {
		return EventMoney(e)
	}
	money, err := e.MoneyIn(string(of))
	if err != nil {
		return nil
	}
	e.Money = money
	return EventMoney(e)
}

// EventMoney returns the amount in an event, or nil if it has no amount.
func EventMoney(e webhooks.Event) *Money { return moneyOf(e.Money) }

func moneyOf(m *webhooks.Money) *Money {
	if m == nil {
		return nil
	}
	return &Money{Minor: m.Minor, Currency: Currency(m.Currency)}
}

func failureOf(e webhooks.Event) *Failure {
	if e.FailureCode == "" {
		return nil
	}
	return NewFailure(e.FailureCode, e.ProviderCode)
}

// IsRefundEvent reports whether an event is about a refund.
func IsRefundEvent(k webhooks.Kind) bool { return refundNewsByKind[k] != "" }

// EventMovesMoney reports whether an event is about money that moved after the payment.
func EventMovesMoney(k webhooks.Kind) bool { return movementByKind[k] != "" }

var newsByKind = map[webhooks.Kind]fsm.Event{ //nolint:gochecknoglobals // a table
	webhooks.KindProcessing:     fsm.EventProcessing,
	webhooks.KindActionRequired: fsm.EventActionRequired,
	webhooks.KindAuthorized:     fsm.EventAuthorized,
	webhooks.KindSucceeded:      fsm.EventSucceeded,
	webhooks.KindFailed:         fsm.EventFailed,
	webhooks.KindUndone:         fsm.EventFailed,
	webhooks.KindSoftFailed:     fsm.EventSoftFailed,
	webhooks.KindDisputed:       fsm.EventDisputed,
	webhooks.KindDisputeClosed:  fsm.EventMoney,
	webhooks.KindReview:         fsm.EventMoney,
}

var movementByKind = map[webhooks.Kind]MovementKind{ //nolint:gochecknoglobals // a table
	webhooks.KindReversed:           MovementCaptureReversal,
	webhooks.KindChargeback:         MovementChargeback,
	webhooks.KindChargebackReversed: MovementChargebackReversal,
}

var refundNewsByKind = map[webhooks.Kind]fsm.Event{ //nolint:gochecknoglobals // a table
	webhooks.KindRefundPending:   fsm.EventProcessing,
	webhooks.KindRefundSucceeded: fsm.EventSucceeded,
	webhooks.KindRefundFailed:    fsm.EventFailed,
}
