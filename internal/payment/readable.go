package payment

import "errors"

// errUnreadable is returned for an answer that names what can't be kept.
var errUnreadable = errors.New("the provider's answer can't be kept as it is")

// Readable is the outcome as it can be kept. It returns an error where it names the
// payment, its currency or the customer's next address by what no database takes:
// then nobody knows what the provider answered.
func (o Outcome) Readable() (Outcome, error) {
	names := append([]string{o.ProviderPaymentID}, o.References...)
	for _, m := range o.Movements {
		names = append(names, m.ID, string(m.Money.Currency))
	}
	if !keepable(o.NextActionURL) || !nameable(append(names, currencyOf(o.Money))...) {
		return Outcome{}, errUnreadable
	}
	o.Failure, o.Saved = o.Failure.readable(), o.Saved.readable()
	return o, nil
}

// readable has what the provider stored as the database can hold it. A token that
// can't be kept as it is would be of no use.
func (m *SavedMethod) readable() *SavedMethod {
	if m == nil || m.Token == "" || !nameable(m.Token) {
		return nil
	}
	return &SavedMethod{Token: m.Token, Type: text(m.Type), Display: text(m.Display), Expires: text(m.Expires)}
}

// Readable is as that of Outcome.
func (o RefundOutcome) Readable() (RefundOutcome, error) {
	if !nameable(o.ProviderRefundID, o.Reference, currencyOf(o.Money)) {
		return RefundOutcome{}, errUnreadable
	}
	o.Failure = o.Failure.readable()
	return o, nil
}

// readable has the provider's code as the database can hold it: nothing hangs on it.
func (f *Failure) readable() *Failure {
	if f == nil {
		return nil
	}
	return &Failure{Code: f.Code, Message: f.Message, ProviderCode: text(f.ProviderCode)}
}

func currencyOf(m *Money) string {
	if m == nil {
		return ""
	}
	return string(m.Currency)
}

func keepable(s string) bool { return text(s) == s }

// nameable reports whether all names can be kept and looked for.
func nameable(names ...string) bool {
	for _, name := range names {
		if len(name) > maxName || !keepable(name) {
			return false
		}
	}
	return true
}
