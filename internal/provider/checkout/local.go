package checkout

import (
	"cmp"
	"encoding/base32"
	"slices"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// These are the local methods: the tokens that choose them, and the types of their sources. The customer pays on the
// method's page, whose address is in the response
// (https://api-reference.checkout.com/#operation/requestAPaymentOrPayout). Sofort has ended. Klarna needs a payment
// context and its own script: Flow offers it.
const (
	bancontact = "bancontact"
	eps        = "eps"
	ideal      = "ideal"
	paypal     = "paypal"
)

func isLocal(name string) bool {
	return slices.Contains([]string{bancontact, eps, ideal, paypal}, name)
}

// localSource returns the source of a local method. The members are those of Checkout.com's Go SDK
// (https://github.com/checkout/checkout-sdk-go, payments/nas/sources/apm).
func localSource(ch gateway.Charge) *source {
	s := &source{Type: ch.Token}
	text := cmp.Or(ch.StatementDescriptor, string(ch.Order))
	switch ch.Token {
	case bancontact:
		s.Country, s.Holder = "BE", ch.Customer.Name
	case eps:
		s.Purpose = text
	case ideal:
		letters := []rune(text)
		s.Description = string(letters[:min(len(letters), maxDescription)])
	}
	return s
}

// maxDescription is the longest description of an iDEAL payment.
const maxDescription = 35

// referenceOf returns the reference of a payment. iDEAL takes only letters and digits, at most 35, and American Express
// at most 30 characters (https://github.com/checkout/checkout-sdk-java, PaymentSessionBase), and Flow offers both. So a
// payment of a session and of a local method has the short form. The metadata contain the attempt's id, too.
func referenceOf(ch gateway.Charge) string {
	if ch.Token == flow || isLocal(ch.Token) {
		return short(ch.Attempt)
	}
	return ch.Attempt.String()
}

var shortForm = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding) //nolint:gochecknoglobals // a constant

// short returns an attempt's id in 26 letters and digits.
func short(id payment.AttemptID) string { return shortForm.EncodeToString(id[:]) }

// long returns the attempt's id of a reference in the short form, or another reference unchanged.
func long(reference string) string {
	var id payment.AttemptID
	raw, _ := shortForm.DecodeString(reference)
	copy(id[:], raw)
	if _, ours := payment.OwnAttemptID(id.String()); !ours || short(id) != reference {
		return reference
	}
	return id.String()
}
