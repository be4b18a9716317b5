// Package webhooks proves who sent a webhook and says what it means.
//
// Bytes and headers go in, verified events come out:
//
//	verifier, err := webhooks.New("stripe", webhooks.Config{Secrets: []string{"whsec_…"}})
//	…
//	events, err := verifier.Verify(ctx, webhooks.Delivery{
//		Method: r.Method, URL: r.URL.String(), Header: r.Header, Body: body, ReceivedAt: time.Now(),
//	})
//
// One call verifies and parses, so that an unverified event can't be had. An
// error wraps one of the sentinels in errors.go. [ErrUnavailable] asks for another
// delivery and [ErrConfig] is the receiver's own fault; all others say that the
// sender is not who it claims to be, or speaks something else, and that nothing
// should be kept of it.
//
// The package has no network, no database and no clock of its own: the time is
// [Delivery.ReceivedAt], and what a scheme must fetch (a certificate) comes in
// by a function of the caller. An event that can't be understood without asking
// the provider is marked [Event.NeedsFetch].
//
// A provider lives in one file, or in a few that share its name, with the same
// three parts in the same order: verification (and signing); the acknowledgement
// that the provider expects, and what a person should know of it ([About]); and
// parsing. What several schemes share is in bodymac.go and stampedmac.go.
//
// Two sorts of requests carry no news: a provider that tries the endpoint out
// ([Challenger]), and one that asks before it takes money ([Answerer]). Whoever stores
// deliveries leaves out the secret of those that carry it ([Redactor]).
//
// An event of a type that this version does not know is [KindIgnored], never an
// error: providers add types, and disable endpoints that refuse them.
package webhooks
