// Package webhooks proves the sender of a webhook and reads its meaning. This package has what all providers share;
// each provider is a package below, and package all has the list of them.
//
// Bytes and headers go in, verified events come out:
//
//	verifier, err := stripe.New(webhooks.Config{Secrets: []string{"whsec_…"}})
//	…
//	events, err := verifier.Verify(ctx, webhooks.Delivery{
//		Method: r.Method, URL: r.URL.String(), Header: r.Header, Body: body, ReceivedAt: time.Now(),
//	})
//
// One call verifies and parses, so that an unverified event can't be had. An error wraps one of the sentinels in
// errors.go. [ErrUnavailable] calls for another delivery and [ErrConfig] is the receiver's own fault; all others mean
// that the sender is another than it claims, or speaks something else, and that nothing should be kept of it.
//
// There is no network, no database and no clock: the time is [Delivery.ReceivedAt], and what a scheme must fetch (a
// certificate) comes in by a function of the caller. An event that needs a call to the provider to be understood is
// marked [Event.NeedsFetch].
//
// In a provider's package, proof.go has the verification (and signing, where the scheme is symmetric), read.go the
// meaning of the body, and doc.go the scheme and what people need to set it up ([About]).
//
// Two sorts of requests carry no event: a provider that tries the endpoint out ([Challenger]), and one that needs a
// decision before it takes money ([Answerer]). A delivery that carries its secret is stored without it ([Redactor]).
//
// An event of an unfamiliar type is [KindIgnored], never an error: providers add types, and disable endpoints that
// refuse them. What is genuine and can't be read is [KindUnreadable], for the same reason: a new form, an unknown
// currency, an amount with too many digits. A reader takes only the members that its event's meaning needs; one that is
// missing or of another type elsewhere changes nothing. A later version reads the stored bytes again by [Reader].
package webhooks
