package gateway

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/paylatch/paylatch/internal/payment"
)

// Data is the members of a provider's own request that a caller sends, as JSON, by their names.
type Data map[string]json.RawMessage

// ParseData reads the text of Data.Text. An empty text has no members.
func ParseData(text string) (d Data, err error) {
	if text == "" {
		return nil, nil
	}
	if err = json.Unmarshal([]byte(text), &d); err != nil {
		err = fmt.Errorf("read the members of a request: %w", err)
	}
	return d, err
}

// Text is the data as ParseData reads it, the same for the same data whatever the order of its members; empty without
// members.
func (d Data) Text() string {
	if len(d) == 0 {
		return ""
	}
	text, _ := json.Marshal(d) //nolint:errchkjson // a caller's JSON always marshals
	return string(text)
}

// Members are the members of a provider's own request that provider_data may contain, each with the check of its value.
// A check returns how the value must be, or "" for a valid value.
type Members map[string]func(value json.RawMessage) string

// Names returns the members' names in order.
func (m Members) Names() []string { return slices.Sorted(maps.Keys(m)) }

// check returns an error for each member of provider_data that is not allowed or has a wrong value. To is the request.
func (m Members) check(d Data, to string) (faults []payment.FieldError) {
	for _, name := range slices.Sorted(maps.Keys(d)) {
		check, allowed := m[name]
		var message string
		switch {
		case !allowed && len(m) == 0:
			message = "is not sent: this account's provider accepts no members in " + to
		case !allowed:
			message = "is not sent to this account's provider, which accepts only " + strings.Join(m.Names(), ", ") + " in " + to
		default:
			message = check(d[name])
		}
		if message != "" {
			faults = append(faults, payment.FieldError{Field: "provider_data." + name, Message: message})
		}
	}
	return faults
}

// Split describes the pays that share their money with other accounts at the provider, such as a marketplace's sellers. A
// refund of such a pay takes all of the money from the platform by default.
type Split struct {
	// Pay are the members of a pay's provider_data that share its money.
	Pay []string
	// Refund are the members of a refund's provider_data that choose the accounts that bear it. One of them is required.
	Refund []string
	// Advice explains them to a caller.
	Advice string
}

// Of reports whether a pay with the data shares its money.
func (s Split) Of(d Data) bool { return d.hasAny(s.Pay) }

func (d Data) hasAny(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { _, ok := d[name]; return ok })
}

// Further describes what the captures and refunds of an account may carry beside their amounts.
type Further struct {
	Capture, Refund Members
	Split           Split
}

// AcceptsCapture returns a payment.ValidationError for data that a capture must not carry. It also returns one for a capture
// that shares the money of a payment whose pay did not: the refund of such a payment would not have to choose the accounts that bear it.
func (f Further) AcceptsCapture(d Data, split bool) error {
	faults := f.Capture.check(d, "a capture")
	for _, name := range f.Split.Pay {
		if _, ok := d[name]; ok && !split {
			faults = append(faults, payment.FieldError{Field: "provider_data." + name, Message: "is accepted only if the pay shared its money, too: send it with the pay"})
		}
	}
	return invalid(faults)
}

// AcceptsRefund returns a payment.ValidationError for data that a refund must not carry. It also returns one for a refund
// of a payment that shares its money, if the data does not choose the accounts that bear it.
func (f Further) AcceptsRefund(d Data, split bool) error {
	faults := f.Refund.check(d, "a refund")
	if split && len(f.Split.Refund) > 0 && !d.hasAny(f.Split.Refund) {
		faults = append(faults, payment.FieldError{
			Field: "provider_data", Message: "must name the account that bears the refund, because the payment shares its money with another account: " + f.Split.Advice,
		})
	}
	return invalid(faults)
}

func invalid(faults []payment.FieldError) error {
	if len(faults) == 0 {
		return nil
	}
	return &payment.ValidationError{Fields: faults}
}
