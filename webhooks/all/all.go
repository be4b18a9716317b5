// Package all makes the verifier of an account by the name of its kind.
//
//	verifier, err := all.New("stripe", webhooks.Config{Secrets: []string{"whsec_…"}})
//
// A program that takes the webhooks of one provider imports that provider's package instead.
package all

import (
	"fmt"
	"maps"
	"slices"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/adyen"
	"github.com/paylatch/paylatch/webhooks/braintree"
	"github.com/paylatch/paylatch/webhooks/checkout"
	"github.com/paylatch/paylatch/webhooks/cloudpayments"
	"github.com/paylatch/paylatch/webhooks/comgate"
	"github.com/paylatch/paylatch/webhooks/gocardless"
	"github.com/paylatch/paylatch/webhooks/gopay"
	"github.com/paylatch/paylatch/webhooks/lemonsqueezy"
	"github.com/paylatch/paylatch/webhooks/mollie"
	"github.com/paylatch/paylatch/webhooks/paddle"
	"github.com/paylatch/paylatch/webhooks/paypal"
	"github.com/paylatch/paylatch/webhooks/razorpay"
	"github.com/paylatch/paylatch/webhooks/robokassa"
	"github.com/paylatch/paylatch/webhooks/square"
	"github.com/paylatch/paylatch/webhooks/standard"
	"github.com/paylatch/paylatch/webhooks/stripe"
	"github.com/paylatch/paylatch/webhooks/tbank"
	"github.com/paylatch/paylatch/webhooks/yookassa"
)

// kinds is the registry: one line a kind.
var kinds = map[string]kind{
	"adyen":         of(adyen.New, adyen.About),
	"braintree":     of(braintree.New, braintree.About),
	"checkout":      of(checkout.New, checkout.About),
	"cloudpayments": of(cloudpayments.New, cloudpayments.About),
	"comgate":       of(comgate.New, comgate.About),
	"gocardless":    of(gocardless.New, gocardless.About),
	"gopay":         of(gopay.New, gopay.About),
	"lemonsqueezy":  of(lemonsqueezy.New, lemonsqueezy.About),
	"mollie":        of(mollie.New, mollie.About),
	"paddle":        of(paddle.New, paddle.About),
	"paypal":        of(paypal.New, paypal.About),
	"razorpay":      of(razorpay.New, razorpay.About),
	"robokassa":     of(robokassa.New, robokassa.About),
	"sandbox":       of(standard.New, standard.About),
	"square":        of(square.New, square.About),
	"standard":      of(standard.New, standard.About),
	"stripe":        of(stripe.New, stripe.About),
	"tbank":         of(tbank.New, tbank.About),
	"yookassa":      of(yookassa.New, yookassa.About),
}

type kind struct {
	construct func(webhooks.Config) (webhooks.Verifier, error)
	about     func() webhooks.About
}

// of makes an entry. A constructor that fails yields no verifier at all, not an interface that holds a nil pointer.
func of[V webhooks.Verifier](construct func(webhooks.Config) (V, error), about func() webhooks.About) kind {
	return kind{about: about, construct: func(c webhooks.Config) (webhooks.Verifier, error) {
		verifier, err := construct(c)
		if err != nil {
			return nil, err
		}
		return verifier, nil
	}}
}

// New returns the verifier of a kind ("stripe", "standard", …). An unknown kind and a configuration that can't work
// wrap [webhooks.ErrConfig].
func New(kind string, c webhooks.Config) (webhooks.Verifier, error) {
	k, ok := kinds[kind]
	if !ok {
		return nil, fmt.Errorf("%w: unknown kind %q (known: %v)", webhooks.ErrConfig, kind, Kinds())
	}
	return k.construct(c)
}

// Kinds lists the kinds that [New] takes, sorted.
func Kinds() []string { return slices.Sorted(maps.Keys(kinds)) }

// Abouts describes every kind, sorted by kind.
func Abouts() []webhooks.About {
	var abouts []webhooks.About
	for _, name := range Kinds() {
		about := kinds[name].about()
		about.Kind = name
		abouts = append(abouts, about)
	}
	return abouts
}

// Reference returns the form in which a provider of a kind takes the name of a payment; zero for an unknown kind.
func Reference(kind string) webhooks.ReferenceForm {
	if k, known := kinds[kind]; known {
		return k.about().Reference
	}
	return webhooks.ReferenceForm{}
}
