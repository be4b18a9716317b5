package lists

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/payment"
)

// Kind is the kind of the items in a list.
type Kind string

// The kinds.
const (
	Orders   Kind = "orders"
	Attempts Kind = "attempts"
	Refunds  Kind = "refunds"
	Disputes Kind = "disputes"
	// The next three are of the merchant's books, and of no user.
	Settlements     Kind = "settlements"
	Payouts         Kind = "payouts"
	Reconciliations Kind = "reconciliations"
)

// ofBooks reports whether items of the kind belong to no user.
func (k Kind) ofBooks() bool { return k == Settlements || k == Payouts || k == Reconciliations }

// Filter selects items; an empty text is any. Times are from the first on and before the second.
type Filter struct {
	Status, Stage, Account string
	User                   payment.UserID
	Currency               payment.Currency
	AmountMin, AmountMax   int64
	CreatedFrom, CreatedTo time.Time
	UpdatedFrom, UpdatedTo time.Time
	// Payout, Attempt and Movement select settlements; zero is any.
	Payout   payment.PayoutID
	Attempt  payment.AttemptID
	Movement payment.MovementKind
}

// AnyAmount reports whether the filter accepts every amount, and items without an amount.
func (f Filter) AnyAmount() bool { return f.AmountMin == 0 && f.AmountMax == math.MaxInt64 }

// Place is the position of an item in its list.
type Place struct {
	At time.Time
	ID string
}

// Query is a page of a list.
type Query struct {
	Filter

	Kind Kind
	// Before is the place behind which the page begins; items up to Until, that included, are looked at: all to the oldest for the zero
	// place.
	Before, Until Place
	Limit         int
}

// Narrowed reports whether the query has a filter that no index covers in the list's order: the fewer items match, the more are
// read. A user has few items as a rule, but may have any number.
func (f Filter) Narrowed() bool {
	if f.Payout != (payment.PayoutID{}) || f.Attempt != (payment.AttemptID{}) {
		return false // an index covers either
	}
	return f.User != "" || f.Movement != "" || f.Status != "" || f.Stage != "" || f.Account != "" || f.Currency != "" || !f.AnyAmount() ||
		!f.UpdatedFrom.IsZero() || !f.UpdatedTo.Equal(latest())
}

const (
	// usualLimit and mostItems are how many items a page has.
	usualLimit = 25
	mostItems  = 100
	// lookedAt is how many items one statement looks at if no index covers the filter. windows is how many such statements a
	// page takes. The contract has their product.
	lookedAt = 20_000
	windows  = 5
	// exported is how many items an export reads at once, which bounds its memory.
	exported = 500
	// maxText bounds a text of a filter, in bytes.
	maxText = 512
)

// latest is after every time of an item; the zero time is before.
func latest() time.Time { return time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC) }

// highest sorts behind every id, of a text or of a UUID.
func highest(k Kind) string {
	if k == Orders {
		return "\U0010FFFF"
	}
	return "ffffffff-ffff-ffff-ffff-ffffffffffff"
}

var currencyCode = regexp.MustCompile(`^[A-Z]{3}$`)

// Parse reads the query of a list from its parameters. An empty parameter is absent. It returns a payment.ValidationError with
// all errors.
func Parse(kind Kind, params map[string]string) (Query, error) {
	p := parser{params: params}
	q := Query{Kind: kind, Limit: usualLimit, Filter: Filter{
		Status: p.oneOf("status", Statuses(kind)), Account: p.text("account"), User: p.user(), Currency: p.currency(),
		AmountMin: p.amount("amount_min", 0), AmountMax: p.amount("amount_max", math.MaxInt64),
		CreatedFrom: p.time("created_from", time.Time{}), CreatedTo: p.time("created_to", latest()),
		UpdatedFrom: p.time("updated_from", time.Time{}), UpdatedTo: p.time("updated_to", latest()),
	}}
	if kind == Attempts {
		q.Stage = p.oneOf("stage", Stages())
	} else if params["stage"] != "" {
		p.invalid("stage", "is of payment attempts only: leave it out")
	}
	if kind == Settlements {
		q.Movement = payment.MovementKind(p.oneOf("kind", texts(payment.MovementKinds())))
		q.Payout = parsed(&p, "payout_id", payment.ParsePayoutID)
		q.Attempt = parsed(&p, "payment_attempt_id", payment.ParseAttemptID)
	}
	if text := params["limit"]; text != "" {
		n, err := strconv.Atoi(text)
		if q.Limit = n; err != nil || n < 1 || n > mostItems || strconv.Itoa(n) != text {
			p.invalid("limit", "must be a whole number from 1 to "+strconv.Itoa(mostItems))
		}
	}
	q.Before = Place{latest(), highest(kind)}
	if text := params["cursor"]; text != "" {
		place, ok := q.parseCursor(text)
		if q.Before = place; !ok {
			p.invalid("cursor", "must be the next_cursor of a response to the same call with the same filters")
		}
	}
	if len(p.wrong) > 0 {
		return Query{}, &payment.ValidationError{Fields: p.wrong}
	}
	return q, nil
}

// Whole returns the query of an export: all matching items, read in larger parts.
func (q Query) Whole() Query {
	q.Limit = exported
	return q
}

// Statuses returns the statuses that the items of a list may have.
func Statuses(k Kind) []string {
	switch k {
	case Orders:
		return []string{string(payment.OrderOpen), string(payment.OrderPaid), string(payment.OrderCancelled)}
	case Disputes:
		return texts(fsm.DisputeStates())
	case Payouts:
		return texts(payment.PayoutStatuses())
	case Reconciliations:
		return []string{RunRunning, RunFinished, RunFailed}
	case Settlements:
		return nil
	case Attempts, Refunds:
	}
	return []string{"pending", "succeeded", "failed"}
}

// Stages returns the stages that payment attempts may have.
func Stages() []string {
	return append(texts([]fsm.State{fsm.Requested, fsm.OutcomeUnknown, fsm.AwaitingCustomer, fsm.Authorized}), "final")
}

func texts[T ~string](of []T) []string {
	all := make([]string, len(of))
	for i, t := range of {
		all[i] = string(t)
	}
	return all
}

// parser reads parameters and collects their errors.
type parser struct {
	params map[string]string
	wrong  []payment.FieldError
}

func (p *parser) invalid(field, message string) {
	p.wrong = append(p.wrong, payment.FieldError{Field: field, Message: message})
}

func (p *parser) text(name string) string {
	text := p.params[name]
	if len(text) > maxText || !payment.IsStorable(text) {
		p.invalid(name, fmt.Sprintf("must be text in UTF-8 of at most %d bytes", maxText))
	}
	return text
}

func (p *parser) oneOf(name string, of []string) string {
	text := p.params[name]
	if text != "" && !slices.Contains(of, text) {
		p.invalid(name, "must be one of "+strings.Join(of, ", ")+", or be left out")
	}
	return text
}

func parsed[T any](p *parser, name string, parse func(string) (T, error)) (id T) {
	text := p.params[name]
	if text == "" {
		return id
	}
	id, err := parse(text)
	if err != nil {
		p.invalid(name, "must be an id as paylatch gives it, a UUID")
	}
	return id
}

func (p *parser) user() payment.UserID {
	text := p.params["user_id"]
	if text == "" {
		return ""
	}
	id, err := authz.ParseOwner(text)
	if err != nil {
		p.invalid("user_id", err.Error())
	}
	return id
}

func (p *parser) currency() payment.Currency {
	text := p.params["currency"]
	if text != "" && !currencyCode.MatchString(text) {
		p.invalid("currency", "must be a currency of ISO 4217, such as EUR")
	}
	return payment.Currency(text)
}

func (p *parser) amount(name string, absent int64) int64 {
	text := p.params[name]
	if text == "" {
		return absent
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || strconv.FormatInt(n, 10) != text {
		p.invalid(name, "must be a whole number of the currency's minor units")
	}
	return n
}

func (p *parser) time(name string, absent time.Time) time.Time {
	text := p.params[name]
	if text == "" {
		return absent
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil || at.UTC().Year() < 1 || !at.Before(latest()) {
		p.invalid(name, "must be a time as in RFC 3339, such as 2026-03-01T00:00:00Z; a + is written %2B")
	}
	return at.UTC()
}
