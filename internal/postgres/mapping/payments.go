package mapping

import (
	"encoding/json"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
)

// payments are an attempt's payments and containers as the row has them.
type payments struct {
	Payments   []onePayment   `json:"payments,omitempty"`
	Containers []oneContainer `json:"containers,omitempty"`
	PageOpen   bool           `json:"page_open,omitempty"`
}

type onePayment struct {
	ID         string `json:"id,omitempty"`
	State      string `json:"state"`
	Container  string `json:"container,omitempty"`
	NamedBy    string `json:"named_by,omitempty"`
	Authorized int64  `json:"authorized,omitempty"`
	Captured   int64  `json:"captured,omitempty"`
	Refunded   int64  `json:"refunded,omitempty"`
	Disputed   int64  `json:"disputed,omitempty"`
	Failure    string `json:"failure,omitempty"`
	// First, Last and Reported are microseconds since 1970; 0 for none.
	First    int64 `json:"first,omitempty"`
	Last     int64 `json:"last,omitempty"`
	Reported int64 `json:"reported,omitempty"`
}

type oneContainer struct {
	ID    string `json:"id"`
	Ended bool   `json:"ended,omitempty"`
}

// paymentsParam are the payments of an attempt, empty for none.
func paymentsParam(a *payment.Attempt) string {
	if len(a.Payments)+len(a.Containers) == 0 && !a.PageOpen {
		return ""
	}
	all := payments{Payments: make([]onePayment, len(a.Payments)), PageOpen: a.PageOpen}
	for i := range a.Payments {
		p := &a.Payments[i]
		all.Payments[i] = onePayment{
			ID: p.ID, State: string(p.State), Container: p.Container, NamedBy: string(p.NamedBy),
			Authorized: p.Authorized, Captured: p.Captured, Refunded: p.Refunded, Disputed: p.Disputed,
			Failure: p.Failure, First: micros(p.FirstAt), Last: micros(p.LastAt), Reported: micros(p.ReportedAt),
		}
	}
	for _, c := range a.Containers {
		all.Containers = append(all.Containers, oneContainer(c))
	}
	raw, _ := json.Marshal(all) //nolint:errchkjson // texts and numbers always marshal
	return string(raw)
}

// readPayments reads what paymentsParam wrote.
func readPayments(a *payment.Attempt, raw []byte) {
	if len(raw) == 0 {
		return
	}
	var all payments
	if json.Unmarshal(raw, &all) != nil {
		return
	}
	a.PageOpen = all.PageOpen
	a.Payments = make([]payment.Payment, len(all.Payments))
	for i, p := range all.Payments {
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
