package postgres

import (
	"encoding/json"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/paymentsjson"
)

// paymentsParam are the payments of an attempt as text, empty without payments. The only payment of an attempt repeats neither the
// id nor the amounts that the row has for the attempt.
func paymentsParam(a *payment.Attempt) string {
	if len(a.Payments)+len(a.Containers) == 0 && !a.PageOpen {
		return ""
	}
	all := paymentsjson.Payments{Payments: make([]paymentsjson.Payment, len(a.Payments)), PageOpen: a.PageOpen}
	for i := range a.Payments {
		p := &a.Payments[i]
		all.Payments[i] = paymentsjson.Payment{
			ID: p.ID, State: string(p.State), Container: p.Container, NamedBy: string(p.NamedBy),
			Authorized: p.Authorized, Captured: p.Captured, Refunded: p.Refunded, Disputed: p.Disputed,
			Failure: p.Failure, First: micros(p.FirstAt), Last: micros(p.LastAt), Reported: micros(p.ReportedAt),
		}
	}
	if only := all.Payments; len(only) == 1 && ofAttempt(a, &a.Payments[0]) {
		only[0].OfAttempt, only[0].ID = true, ""
		only[0].Authorized, only[0].Captured, only[0].Refunded, only[0].Disputed = 0, 0, 0, 0
	}
	for _, c := range a.Containers {
		all.Containers = append(all.Containers, paymentsjson.Container(c))
	}
	raw, _ := json.Marshal(all) //nolint:errchkjson // texts and numbers always marshal
	return string(raw)
}

// ofAttempt reports whether a payment has the id and the amounts of the attempt.
func ofAttempt(a *payment.Attempt, p *payment.Payment) bool {
	return p.ID == a.ProviderPaymentID && p.Authorized == a.Authorized && p.Captured == a.Captured && p.Refunded == a.Refunded && p.Disputed == a.Disputed
}

// readPayments reads the text that paymentsParam wrote.
func readPayments(a *payment.Attempt, all *paymentsjson.Payments) {
	if all == nil {
		return
	}
	a.PageOpen = all.PageOpen
	a.Payments = make([]payment.Payment, len(all.Payments))
	for i, p := range all.Payments {
		if p.OfAttempt {
			p.ID, p.Authorized, p.Captured, p.Refunded, p.Disputed = a.ProviderPaymentID, a.Authorized, a.Captured, a.Refunded, a.Disputed
		}
		a.Payments[i] = payment.Payment{
			ID: p.ID, State: fsm.PaymentState(p.State), Container: p.Container, NamedBy: payment.NamedBy(p.NamedBy),
			Authorized: p.Authorized, Captured: p.Captured, Refunded: p.Refunded, Disputed: p.Disputed,
			Failure: p.Failure, FirstAt: timeOf(p.First), LastAt: timeOf(p.Last), ReportedAt: timeOf(p.Reported),
		}
	}
	for _, c := range all.Containers {
		a.Containers = append(a.Containers, payment.Container(c))
	}
}

func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

func timeOf(micros int64) time.Time {
	if micros == 0 {
		return time.Time{}
	}
	return time.UnixMicro(micros).UTC()
}
