// Package webhooks verifies the webhooks of payment providers and reads their meaning. This package has the types that all
// providers share. Each provider is a package below it, and package all makes a verifier by the name of its kind.
//
//	verifier, err := stripe.New(webhooks.Config{Secrets: []string{"whsec_…"}})
//	…
//	events, err := verifier.Verify(ctx, webhooks.Delivery{
//		Method: r.Method, URL: r.URL.String(), Header: r.Header, Body: body, ReceivedAt: time.Now(),
//	})
//
// One call verifies and parses, so there is no unverified event. An error wraps one of the sentinels in errors.go.
// [ErrUnavailable] requests another delivery. [ErrConfig] is an error of the receiver's own configuration. Any other error means that the
// delivery is forged or in another form: store nothing of it.
//
// The package uses no network, no database and no clock. The time is [Delivery.ReceivedAt], and a function of the caller
// fetches certificates. An event that must be looked up at the provider has [Event.NeedsFetch].
//
// Three interfaces cover special schemes: [Challenger] for a provider that tests the endpoint, [Answerer] for a request that
// needs a decision before the provider takes money, and [Redactor] for a delivery that carries its secret.
//
// An event of an unknown type is [KindIgnored], and a genuine event in an unknown form is [KindUnreadable]. Neither is an error,
// because providers add types and disable endpoints that refuse them. A reader uses only the members that the event's meaning
// needs. A later version reads the stored bytes again by [Reader].
//
// In a provider's package, proof.go verifies (and signs, where the scheme is symmetric), read.go reads the body, and doc.go
// describes the scheme and its setup ([About]).
package webhooks
