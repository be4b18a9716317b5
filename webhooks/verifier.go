package webhooks

import (
	"context"
	"crypto/x509"
	"net/http"
	"net/netip"
	"time"
)

// Verifier checks the deliveries of one account of one provider. It is safe for concurrent use.
type Verifier interface {
	// Verify returns the events of a genuine delivery, in the order of the body: at least one, or an error of this
	// package. It compares in constant time and reads nothing of the body before the signature holds, unless the scheme
	// puts the signature there. A genuine event that can't be read is an event of [KindUnreadable], and no error. It
	// does not change the other events of a batch.
	Verify(ctx context.Context, d Delivery) ([]Event, error)
	// Ack is the response that this provider takes for "received".
	Ack(d Delivery, events []Event) Ack
}

// Reader is the second step of a [Verifier]: it reads a delivery and does not check the proof. It is for the stored
// bytes of a delivery that an earlier version verified but could not read.
type Reader interface {
	// Read returns the events of a delivery as Verify does, at least one. Only the values from the proof are missing:
	// the proof's mode, the index of the secret and the id of the delivery. Read uses the body, the topic, the headers
	// and the time of arrival of d. A stored query is passed as the body.
	Read(d Delivery) []Event
}

// Signer makes genuine deliveries where the scheme is symmetric (or the private key is configured), for tests and for
// programs that send webhooks.
type Signer interface {
	// Sign adds the provider's signature headers or fields to d, made with the first configured secret and with
	// d.ReceivedAt as the time of signing. It returns an error if d or the configuration lacks a value for that.
	Sign(d *Delivery) error
}

// Challenger is implemented by schemes in which the provider tries the endpoint out, with a request that carries no
// event, before or while it sends any.
type Challenger interface {
	// Challenge is the response to such a request, which needs no Verify then and must not be stored. It is false for
	// anything else.
	Challenge(d Delivery) (Ack, bool)
}

// Redactor is implemented by schemes with deliveries that carry the account's secret itself, and not a proof of it.
type Redactor interface {
	// Redacted returns the body of a genuine delivery without the secret's value and with every other byte unchanged.
	// The result may be stored and shown.
	Redacted(d Delivery) []byte
}

// Ack is the response to a delivery.
type Ack struct {
	// Status is the code of HTTP.
	Status int
	// ContentType is the header of that name, empty where there is no body.
	ContentType string
	// Body is sent as it is.
	Body []byte
}

// OK is the acknowledgement of most providers: any 2xx, the body ignored.
func OK() Ack { return Ack{Status: http.StatusOK} }

// Config configures a verifier. Which fields count is documented at each provider's New.
type Config struct {
	// Secrets may hold several secrets at once, so that a secret can be rotated.
	Secrets []string
	// Tolerance replaces the documented limit of a signature's age; 0 keeps it, a negative value switches the check off.
	Tolerance time.Duration
	// PublicURL is the address under which the provider has the endpoint.
	PublicURL string
	// AllowedIPs are the senders that YooKassa's verifier accepts, in place of the documented senders. A receiver checks
	// the senders of other kinds by [Senders].
	AllowedIPs []netip.Prefix
	// Params holds the settings of single kinds (webhook_id, public_key, hash, …), by the name of the account's field in
	// paylatch's configuration.
	Params map[string]string
	// Certificate fetches the PEM chain at a URL that the scheme has already found to be the provider's. It must not
	// follow redirects to other hosts. It should limit the bytes it reads and, since any sender may name addresses, its
	// rate of fetches. It must return an error that wraps ErrUnavailable if the network or the limit is the cause. Any
	// other error means that there is no certificate.
	Certificate func(ctx context.Context, url string) ([]byte, error)
	// Roots are the trusted roots of such certificates; nil means the system's.
	Roots *x509.CertPool
}
