package postgres

import (
	"encoding/json"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/paymentsjson"
)

// paymentsParam returns the payments of an attempt as text; empty if there are none.
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
			Failure: p.Failure, First: micros(p.FirstAt), Last: micros(p.LastAt) - micros(p.FirstAt), Reported: micros(p.ReportedAt),
		}
	}
	for _, c := range a.Containers {
		all.Containers = append(all.Containers, paymentsjson.Container(c))
	}
	raw, _ := json.Marshal(all) //nolint:errchkjson // texts and numbers always marshal
	return string(raw)
}

// readPayments reads the text that paymentsParam wrote.
func readPayments(a *payment.Attempt, all *paymentsjson.Payments) {
	if all == nil {
		return
	}
	a.PageOpen = all.PageOpen
	a.Payments = make([]payment.Payment, len(all.Payments))
	for i, p := range all.Payments {
		a.Payments[i] = payment.Payment{
			ID: p.ID, State: fsm.PaymentState(p.State), Container: p.Container, NamedBy: payment.NamedBy(p.NamedBy),
			Authorized: p.Authorized, Captured: p.Captured, Refunded: p.Refunded, Disputed: p.Disputed,
			Failure: p.Failure, FirstAt: timeOf(p.First), LastAt: timeOf(p.First + p.Last), ReportedAt: timeOf(p.Reported),
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
