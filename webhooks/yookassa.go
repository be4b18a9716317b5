package webhooks

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
)

// YooKassa reads notifications of YooKassa
// (https://yookassa.ru/developers/using-api/webhooks). They are not signed. What
// speaks for one is the address of its sender, and only the object that is read
// back from YooKassa is the truth: each event about a payment or a refund has
// NeedsFetch set. What the body says is kept all the same, for whoever looks at it.
//
// It is safe for concurrent use.
type YooKassa struct{ senders Senders }

// NewYooKassa returns a verifier by the documented addresses, or by
// [Config.AllowedIPs] in their place. It has no secret.
func NewYooKassa(c Config) (*YooKassa, error) {
	if len(c.AllowedIPs) > 0 {
		return &YooKassa{senders: slices.Clone(c.AllowedIPs)}, nil
	}
	var documented Senders
	for _, text := range []string{
		"185.71.76.0/27", "185.71.77.0/27", "77.75.153.0/25", "77.75.154.128/25",
		"77.75.156.11/32", "77.75.156.35/32", "2a02:5180::/32",
	} {
		documented = append(documented, netip.MustParsePrefix(text))
	}
	return &YooKassa{senders: documented}, nil
}

// Verify implements [Verifier]: it checks [Delivery.RemoteAddr], which must be the
// real peer and not a proxy of the receiver's. Any other address is ErrSender.
func (y *YooKassa) Verify(_ context.Context, d Delivery) ([]Event, error) {
	if err := y.senders.Check(d.RemoteAddr); err != nil {
		return nil, err
	}
	event, err := parseYooKassa(d)
	if err != nil {
		return nil, err
	}
	event.SecretIndex = -1
	return []Event{event}, nil
}

// Ack implements [Verifier]: exactly 200; any other code, even 201, means that the
// notification was not delivered.
func (y *YooKassa) Ack(Delivery, []Event) Ack { return OK() }

// About implements [Describer].
func (*YooKassa) About() About {
	return About{
		Name:         "YooKassa",
		Header:       "nothing but the sender's address: the object must be asked for",
		EventID:      "derived, one for each arrival: event, the object's id and status, time; what the fetch finds is what is deduplicated",
		Ack:          "exactly 200",
		RetryHorizon: "for 24 hours",
		Quirks: []string{
			"Nothing is signed: a notification only says what to ask for.",
			"The address must be the real peer's: tell the receiver which proxies to trust.",
			"There is no event of a refund that failed: it is found by asking.",
			"Any code but 200 counts as not delivered.",
			"payment.canceled covers declined, expired and cancelled; cancellation_details says which.",
		},
		Setup: [5]string{
			"Merchant profile, Integration, HTTP notifications: set the address of the account's endpoint (https, port 443 or 8443).",
			"Choose payment.waiting_for_capture, payment.succeeded, payment.canceled and refund.succeeded.",
			"Put shop_id and api_key into the account: without them nothing can be read back.",
			"Send the payment attempt's id as metadata payment_attempt_id.",
			"Make a payment in the test shop and look for its event.",
		},
	}
}

// yookassaObject holds what is read of a payment or refund
// (https://yookassa.ru/developers/api#payment_object, #refund_object).
type yookassaObject struct {
	ID         string                     `json:"id"`
	Status     string                     `json:"status"`
	PaymentID  string                     `json:"payment_id"` // of a refund
	Metadata   map[string]json.RawMessage `json:"metadata"`
	Test       *bool                      `json:"test"`
	CreatedAt  json.RawMessage            `json:"created_at"`
	CapturedAt json.RawMessage            `json:"captured_at"`
	Amount     *struct {
		Value    scalar `json:"value"`
		Currency string `json:"currency"`
	} `json:"amount"`
	CancellationDetails struct {
		Reason string `json:"reason"`
	} `json:"cancellation_details"`
}

// maxYooKassaID is longer than any id of YooKassa's.
const maxYooKassaID = 64

// parseYooKassa reads a notification. One about a payment has an id of its own for
// each arrival: were it a duplicate, a forged one could keep the real one from
// being asked about.
func parseYooKassa(d Delivery) (Event, error) {
	var notification struct {
		Event  string          `json:"event"`
		Object json.RawMessage `json:"object"`
	}
	if err := decode("notification", d.Body, &notification); err != nil {
		return Event{}, err
	}
	e := Event{Type: notification.Event, IDSource: Derived, Kind: yookassaKind(notification.Event)}
	if e.Kind == KindIgnored {
		object := members(notification.Object)
		e.ID = derivedID(e.Type, jsonText(object["id"]), jsonText(object["status"]))
		return e, nil
	}
	var object yookassaObject
	if err := decode("object of "+e.Type, notification.Object, &object); err != nil {
		return Event{}, err
	}
	if !isPlainID(object.ID) || object.PaymentID != "" && !isPlainID(object.PaymentID) {
		return Event{}, fmt.Errorf("%w: object of %s without an id of the known form", ErrPayload, e.Type)
	}
	e.ID, e.NeedsFetch = noticeID(d, e.Type, object.ID, object.Status), true
	return object.fill(e)
}

func yookassaKind(eventType string) Kind {
	switch eventType {
	case "payment.waiting_for_capture":
		return KindAuthorized
	case "payment.succeeded":
		return KindSucceeded
	case "payment.canceled":
		return KindFailed
	case "refund.succeeded":
		return KindRefundSucceeded
	default:
		return KindIgnored
	}
}

// isPlainID reports whether an id is one that can stand in an address as it is:
// nobody signed it, and it will be asked for.
func isPlainID(id string) bool {
	for _, c := range []byte(id) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c != '-' && c != '_' {
			return false
		}
	}
	return id != "" && len(id) <= maxYooKassaID
}

// fill adds to an event what its object says. The notification has no time of its
// own: only a capture and a refund say when they were.
func (o yookassaObject) fill(e Event) (Event, error) {
	e.ProviderPaymentID, e.OccurredAt = o.ID, jsonTime(o.CapturedAt)
	if e.Kind == KindRefundSucceeded {
		e.ProviderPaymentID, e.RefundID = o.PaymentID, o.ID
		e.RefundReference = jsonText(o.Metadata["refund_id"])
		e.OccurredAt = jsonTime(o.CreatedAt)
	}
	attempt := jsonText(o.Metadata["payment_attempt_id"])
	e.References = references(attempt, e.ProviderPaymentID)
	if attempt == "" {
		e.References = references(e.ProviderPaymentID, jsonText(o.Metadata["order_id"]))
	}
	if o.Test != nil {
		e.TestKnown, e.Test = true, *o.Test
	}
	if e.Kind.failed() {
		e.FailureCode, e.ProviderCode = YooKassaFailureCode(o.CancellationDetails.Reason)
	}
	if o.Amount == nil {
		return e, nil
	}
	money, err := ParseDecimal(string(o.Amount.Value), o.Amount.Currency)
	return e.withMoney(&money, err)
}

// yookassaReasons translates why a payment was cancelled
// (https://yookassa.ru/developers/payment-acceptance/after-the-payment/declined-payments).
var yookassaReasons = map[string]string{
	"3d_secure_failed":              codeAuthenticationFailed,
	"call_issuer":                   codeCardDeclined,
	"card_expired":                  codeCardDeclined,
	"general_decline":               codeCardDeclined,
	"invalid_card_number":           codeCardDeclined,
	"invalid_csc":                   codeCardDeclined,
	"payment_method_limit_exceeded": codeInsufficientFunds,
	"insufficient_funds":            codeInsufficientFunds,
	"fraud_suspected":               codeFraudSuspected,
	"canceled_by_merchant":          codeCanceled,
	"permission_revoked":            codeCanceled,
	"expired_on_confirmation":       codeExpired,
	"expired_on_capture":            codeExpired,
	"deal_expired":                  codeExpired,
	"internal_timeout":              codeExpired,
}

// YooKassaFailureCode returns paylatch's code and the one of YooKassa to keep for
// the reason of a cancellation.
func YooKassaFailureCode(reason string) (ours, yookassas string) {
	return cmp.Or(yookassaReasons[reason], codeProviderRejected), reason
}
