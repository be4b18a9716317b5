package webhooks

import "errors"

// The ways in which a delivery is refused. No event of a refused delivery should be stored. They are matched with
// errors.Is; the wrapping text has the details.
var (
	// ErrSignatureMissing is returned when the header or field that carries the signature is absent or empty.
	ErrSignatureMissing = errors.New("signature missing")
	// ErrSignatureMalformed is returned when the signature's header can't be read (for example no timestamp, or
	// another form than the documented form).
	ErrSignatureMalformed = errors.New("signature malformed")
	// ErrSignatureInvalid is returned when no configured secret made the signature over exactly these bytes.
	ErrSignatureInvalid = errors.New("signature invalid")
	// ErrTooOld is returned when the signature is genuine but its timestamp lies further in the past than the
	// tolerance: a replay, or a clock that is wrong.
	ErrTooOld = errors.New("timestamp too old")
	// ErrTooNew is returned when the signature is genuine but its timestamp lies further in the future than the
	// tolerance.
	ErrTooNew = errors.New("timestamp too far in the future")
	// ErrSender is returned when the sender's address is not in [Senders], and by YooKassa's verifier when the address
	// is not in [Config.AllowedIPs] or, if AllowedIPs is empty, not a documented address.
	ErrSender = errors.New("sender's address not allowed")
	// ErrPayload is returned when a delivery of a scheme without any proof can't be read, and by the helpers for amounts.
	// A genuine delivery that can't be read is an event of [KindUnreadable].
	ErrPayload = errors.New("payload not understood")
	// ErrUnavailable is returned when the signature can't be checked now (a certificate that can't be fetched). The
	// provider should send it again; nothing was learnt about the sender.
	ErrUnavailable = errors.New("verification unavailable")
	// ErrConfig is returned by New and by a verifier of a configuration that can't work (no secret, a key of the wrong
	// form).
	ErrConfig = errors.New("verifier misconfigured")
)
