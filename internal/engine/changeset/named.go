package changeset

import (
	"cmp"
	"slices"

	"github.com/paylatch/paylatch/internal/payment"
)

// Named are the movements, disputes and stored payment methods that reports name. Each name is unique within an account.
type Named struct {
	Movements []payment.MovementName
	Disputes  []payment.DisputeName
	Methods   []payment.MethodName
}

// With adds the names of o.
func (n Named) With(o Named) Named {
	return Named{
		append(slices.Clip(n.Movements), o.Movements...), append(slices.Clip(n.Disputes), o.Disputes...), append(slices.Clip(n.Methods), o.Methods...),
	}
}

// NamedBy returns a report's movements and disputes with an id, as an account has them.
func NamedBy(r payment.Report, account string) (n Named) {
	for _, m := range r.Movements {
		if id := cmp.Or(m.ID, m.Dispute); id != "" {
			n.Movements = append(n.Movements, payment.MovementName{Account: account, Kind: m.Kind, ID: id})
		}
		if m.Dispute != "" {
			n.Disputes = append(n.Disputes, payment.DisputeName{Account: account, ID: m.Dispute})
		}
	}
	for _, d := range r.Disputes {
		n.Disputes = append(n.Disputes, payment.DisputeName{Account: account, ID: d.ProviderID})
	}
	return n
}

// NamesOf returns the movements, disputes and stored payment methods that an event names. A hint that must be looked up names them, too: its dispute
// counts once the payment is found. A capture has a name only where its hold is captured in several parts (inParts).
func NamesOf(r payment.ReceivedEvent, inParts bool) (named Named) {
	if m := r.Event.Method; m != nil {
		for _, token := range m.Tokens {
			n := payment.MethodName{Account: r.Account, Token: token}
			named.Methods = append(named.Methods, n, n.Erased())
		}
		return named
	}
	report, ok := payment.ReportOfEvent(r.Event, "")
	if !ok {
		return named
	}
	if r.Event.NeedsFetch {
		return Named{Disputes: NamedBy(report, r.Account).Disputes}
	}
	if t := report.Refund; t != nil && t.ProviderID != "" {
		return Named{Movements: []payment.MovementName{
			{Account: r.Account, Kind: payment.MovementRefund, ID: t.ProviderID},
			{Account: r.Account, Kind: payment.MovementRefundReversal, ID: t.ProviderID},
		}}
	}
	for i, m := range report.Movements {
		if !inParts {
			report.Movements[i] = m.AsTotal()
		}
	}
	return NamedBy(report, r.Account)
}
