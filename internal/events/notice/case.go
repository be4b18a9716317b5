package notice

import (
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/internal/events/outbox"
	"github.com/paylatch/paylatch/internal/payment"
)

// RefundRequest is the kind of a refund that staff requested. EndpointFailing is the kind of an endpoint that has dead letters
// or answered 410. All other kinds are kinds of discrepancies.
const (
	RefundRequest   = "refund_request"
	EndpointFailing = "endpoint_failing"
)

// Any is in place of all kinds.
const Any = "*"

// Kinds returns the kinds of cases.
func Kinds() []string {
	return []string{
		string(payment.PaymentReversed), string(payment.RefundReversed), string(payment.Disputed), string(payment.LateSuccess),
		string(payment.DoubleSuccess), string(payment.PaidAfterCancel), string(payment.AmountMismatch), string(payment.CurrencyMismatch),
		string(payment.RefundExceeds), string(payment.EventChanged), string(payment.UnmatchedEvent), string(payment.UnreadableEvent),
		string(payment.UnknownAtProvider), string(payment.UnknownHere), string(payment.NeedsReview), RefundRequest, EndpointFailing,
	}
}

// Case is a case for a person. Its texts are ids and codes.
type Case struct {
	Kind, ID       string
	Order, Attempt string
	Account        string
	Amount         *int64
	Currency       string
	// Endpoint and Detail are of EndpointFailing.
	Endpoint, Detail string
	At               time.Time
}

// Request is a refund request as the store has it.
type Request struct {
	ID      uuid.UUID
	Order   payment.OrderID
	Attempt payment.AttemptID
	Money   payment.Money
	At      time.Time
}

func (r Request) asCase() Case {
	return Case{
		Kind: RefundRequest, ID: r.ID.String(), Order: string(r.Order), Attempt: r.Attempt.String(),
		Amount: &r.Money.Minor, Currency: string(r.Money.Currency), At: r.At,
	}
}

// FailingEndpoint is an endpoint that has missed events since a time.
type FailingEndpoint struct {
	Name string
	// Dead counts the endpoint's dead letters; it is 0 if the endpoint is only gone.
	Dead  int64
	Since time.Time
}

func (e FailingEndpoint) asCase() Case {
	c := Case{Kind: EndpointFailing, ID: e.Name + "@" + e.Since.UTC().Format(time.RFC3339Nano), Endpoint: e.Name, At: e.Since}
	switch e.Dead {
	case 0:
		c.Detail = "the endpoint answered 410 Gone and gets no events"
	case 1:
		c.Detail = "1 event was given up"
	default:
		c.Detail = strconv.FormatInt(e.Dead, 10) + " events were given up"
	}
	return c
}

// caseOf reads the event of a discrepancy. If the event can't be read, only its id is sent, since an error would stop the
// notice.
func caseOf(e outbox.Event) Case {
	var d struct {
		DiscrepancyID    string    `json:"discrepancy_id"`
		Kind             string    `json:"kind"`
		OrderID          *string   `json:"order_id"`
		PaymentAttemptID *string   `json:"payment_attempt_id"`
		Account          *string   `json:"account"`
		Amount           *int64    `json:"amount"`
		Currency         *string   `json:"currency"`
		OpenedAt         time.Time `json:"opened_at"`
	}
	if err := json.Unmarshal(e.Payload, &d); err != nil {
		return Case{Kind: string(payment.NeedsReview), ID: e.Subject, At: e.CreatedAt}
	}
	c := Case{Kind: d.Kind, ID: d.DiscrepancyID, Amount: d.Amount, At: d.OpenedAt}
	for to, from := range map[*string]*string{&c.Order: d.OrderID, &c.Attempt: d.PaymentAttemptID, &c.Account: d.Account, &c.Currency: d.Currency} {
		if from != nil {
			*to = *from
		}
	}
	return c
}

// cases returns the cases that a notice of some kinds sends, in the order in which they began.
func (w Work) cases(kinds []string) []Case {
	var all []Case
	for _, e := range w.Events {
		all = append(all, caseOf(e))
	}
	for _, r := range w.Requests {
		all = append(all, r.asCase())
	}
	for _, e := range w.Endpoints {
		all = append(all, e.asCase())
	}
	all = slices.DeleteFunc(all, func(c Case) bool { return !slices.Contains(kinds, Any) && !slices.Contains(kinds, c.Kind) })
	slices.SortStableFunc(all, func(a, b Case) int { return a.At.Compare(b.At) })
	return all
}
