package webhooks

import (
	"context"
	"fmt"
)

// GoPay reads notifications of GoPay
// (https://help.gopay.com/en/s/3, "State of the payment"): a GET of the notification
// URL with ?id=<payment id>, which nothing signs.
//
// It is safe for concurrent use.
type GoPay struct{}

// NewGoPay returns a verifier. There is no secret, and GoPay documents no addresses:
// where a contract names them, [Senders] checks them.
func NewGoPay(Config) (*GoPay, error) { return &GoPay{}, nil }

// Verify implements [Verifier]. A notification proves nothing but that somebody
// knows an id, so that it is KindNotice with NeedsFetch, an id of its own for each
// arrival and SecretIndex -1. The id goes into the path of a call to GoPay: one
// that is not plain digits, and a query without one, is ErrPayload.
func (g *GoPay) Verify(_ context.Context, d Delivery) ([]Event, error) {
	event, err := parseGoPay(d)
	if err != nil {
		return nil, err
	}
	event.SecretIndex = -1
	return []Event{event}, nil
}

// Ack implements [Verifier]: exactly 200; any other status is not delivered.
func (g *GoPay) Ack(Delivery, []Event) Ack { return OK() }

// About implements [Describer].
func (*GoPay) About() About {
	return About{
		Name:         "GoPay",
		Header:       "nothing: the payment must be asked for",
		EventID:      "derived, one for each arrival: the payment's id, time; what the fetch finds is what is deduplicated",
		Ack:          "exactly 200",
		RetryHorizon: "at most 20 tries; when is not documented",
		Quirks: []string{
			"The notification is a GET with the payment's id in the query, and says nothing else.",
			"None comes for the states CREATED and PAYMENT_METHOD_CHOSEN.",
			"Refunds are announced in the same way; the fetched state says REFUNDED or PARTIALLY_REFUNDED.",
		},
		Setup: [5]string{
			"Ask GoPay for the client id and secret of the shop, and its GoID.",
			"Put them into client_id, client_secret and goid.",
			"Set callback.notification_url of each payment to the address of the account's endpoint.",
			"Let GET through to that address, with its query.",
			"If your contract names GoPay's addresses, put them into allowed_ips.",
		},
	}
}

// maxGoPayID is the number of digits of the largest int64.
const maxGoPayID = 19

func parseGoPay(d Delivery) (Event, error) {
	query, err := formFields(queryOf(d))
	if err != nil {
		return Event{}, fmt.Errorf("%w: %w", ErrPayload, err)
	}
	id := query["id"]
	if !isDigits(id) || len(id) > maxGoPayID {
		return Event{}, fmt.Errorf("%w: no id of a payment in the query", ErrPayload)
	}
	return noticeOf(d, id), nil
}
