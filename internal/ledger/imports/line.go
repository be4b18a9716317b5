package imports

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/payment"
)

// MaxReferences bounds the further names of a payment.
const MaxReferences = 8

// Past is a payment of the past, as a line has it.
type Past struct {
	Account string
	// Attempt is the attempt's id; zero for a new attempt, as for all lines of a file.
	Attempt payment.AttemptID `json:"-"`
	Order   payment.OrderID
	User    payment.UserID
	Request payment.RequestID
	// Payment is the provider's id of the payment. References are further names, sorted.
	Payment    string
	References []string
	Succeeded  bool
	Money      payment.Money
	// The amounts are in minor units; 0 unless it succeeded.
	AmountCaptured, AmountRefunded int64
	CreatedAt                      time.Time
	FinalizedAt                    time.Time
}

// Names returns all names of the payment at the provider.
func (p *Past) Names() []payment.Reference {
	names := make([]payment.Reference, 0, 1+len(p.References))
	for _, name := range append([]string{p.Payment}, p.References...) {
		names = append(names, payment.Reference{Account: p.Account, Name: name})
	}
	return names
}

// Hash is the same for lines that mean the same.
func (p *Past) Hash() idempotency.Hash {
	return sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q %q %q %t %d %q %d %d %d %d", p.Account, p.Order, p.User, p.Request, p.Payment, p.References,
		p.Succeeded, p.Money.Minor, p.Money.Currency, p.AmountCaptured, p.AmountRefunded, p.CreatedAt.UnixMicro(), p.FinalizedAt.UnixMicro()))
}

// RefusalError is why a line is not taken.
type RefusalError struct {
	// Line counts from 1.
	Line int
	// Member is the wrong member, empty for the line as a whole; Text is the remedy.
	Member, Text string
	// Later is set if the refusal may pass: an attempt of the order is not over.
	Later bool
}

// Error implements error.
func (r *RefusalError) Error() string {
	if r.Member == "" {
		return fmt.Sprintf("line %d: %s", r.Line, r.Text)
	}
	return fmt.Sprintf("line %d: %s: %s", r.Line, r.Member, r.Text)
}

func refuse(member, format string, args ...any) *RefusalError {
	return &RefusalError{Member: member, Text: fmt.Sprintf(format, args...)}
}

// wire is a line; optional members are pointers.
type wire struct {
	OrderID           string     `json:"order_id"`
	UserID            string     `json:"user_id"`
	ClientRequestID   *string    `json:"client_request_id"`
	ProviderPaymentID string     `json:"provider_payment_id"`
	References        []string   `json:"references"`
	Status            string     `json:"status"`
	Amount            int64      `json:"amount"`
	Currency          string     `json:"currency"`
	AmountCaptured    *int64     `json:"amount_captured"`
	AmountRefunded    *int64     `json:"amount_refunded"`
	CreatedAt         *time.Time `json:"created_at"`
	FinalizedAt       *time.Time `json:"finalized_at"`
}

// Parse reads a line and checks it by itself.
func Parse(line []byte, account string, now time.Time) (Past, *RefusalError) {
	w, wrong := decode(line)
	if wrong != nil {
		return Past{}, wrong
	}
	p := Past{
		Account: account, Order: payment.OrderID(w.OrderID), User: payment.UserID(w.UserID), Payment: w.ProviderPaymentID,
		Succeeded: w.Status == "succeeded", Money: payment.Money{Minor: w.Amount, Currency: payment.Currency(w.Currency)},
	}
	for _, check := range []func(*wire, *Past) *RefusalError{names, request, money, func(w *wire, p *Past) *RefusalError { return times(w, p, now) }} {
		if wrong := check(&w, &p); wrong != nil {
			return Past{}, wrong
		}
	}
	return p, nil
}

// twice finds a member that occurs twice, ignoring case, since one of the two values would be passed over. It accepts a line
// that is not an object; decoding it finds that error.
func twice(line []byte) *RefusalError {
	d := json.NewDecoder(bytes.NewReader(line))
	token, err := d.Token()
	var seen []string
	for err == nil && token != nil && d.More() {
		if token, err = d.Token(); err != nil {
			break
		}
		name, _ := token.(string)
		if slices.ContainsFunc(seen, func(other string) bool { return strings.EqualFold(other, name) }) {
			return refuse("", "has the member %q twice; remove one of them", name)
		}
		seen = append(seen, name)
		err = d.Decode(new(json.RawMessage))
	}
	return nil //nolint:nilerr // what can't be decoded is refused beside it
}

func decode(line []byte) (w wire, wrong *RefusalError) {
	if wrong := twice(line); wrong != nil {
		return w, wrong
	}
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	err := d.Decode(&w)
	if err == nil {
		if _, err := d.Token(); !errors.Is(err, io.EOF) {
			return w, refuse("", "has more than one JSON value: put each payment on a line of its own")
		}
		return w, nil
	}
	if of, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && of.Field != "" {
		if of.Type.Kind().String() == "int64" {
			return w, refuse(of.Field, "must be a whole number of minor units, not %s: 19.99 EUR is 1999", of.Value)
		}
		return w, refuse(of.Field, "must be of type %s, not %s", of.Type, of.Value)
	}
	if of, ok := errors.AsType[*time.ParseError](err); ok {
		return w, refuse("created_at, finalized_at", "must be an RFC 3339 time such as 2024-05-06T07:08:09Z, not %s", of.Value)
	}
	return w, refuse("", "must be a JSON object of the known members: %v", err)
}

var orderID = regexp.MustCompile(`^[A-Za-z0-9._:~-]{1,128}$`)

// names checks the payment's order, its user and its names at the provider.
func names(w *wire, p *Past) *RefusalError {
	if !orderID.MatchString(w.OrderID) {
		return refuse("order_id", "must be 1 to 128 of A-Z a-z 0-9 - _ . : ~")
	}
	if _, err := authz.ParseUserID(w.UserID); err != nil {
		return refuse("user_id", "%v", err)
	}
	if w.ProviderPaymentID == "" {
		return refuse("provider_payment_id", "is required: the provider's webhooks find the payment by this id")
	}
	if !payment.Nameable(w.ProviderPaymentID) {
		return refuse("provider_payment_id", "must be at most %d bytes of UTF-8 without NUL", payment.MaxStorableName)
	}
	if len(w.References) > MaxReferences {
		return refuse("references", "must be at most %d", MaxReferences)
	}
	for _, name := range w.References {
		if name == "" || !payment.Nameable(name) {
			return refuse("references", "must each be 1 to %d bytes of UTF-8 without NUL", payment.MaxStorableName)
		}
	}
	p.References = slices.Compact(slices.Sorted(slices.Values(w.References)))
	p.References = slices.DeleteFunc(p.References, func(name string) bool { return name == p.Payment })
	return nil
}

func request(w *wire, p *Past) *RefusalError {
	if w.ClientRequestID == nil {
		p.Request = payment.RequestID("import:" + w.ProviderPaymentID)
		return nil
	}
	key, err := idempotency.ParseKey([]string{*w.ClientRequestID})
	if err != nil || string(key) != *w.ClientRequestID {
		return refuse("client_request_id", "must be 8 to 200 of A-Z a-z 0-9 - _ . : ~, or be left out")
	}
	p.Request = payment.RequestID(key)
	return nil
}

func money(w *wire, p *Past) *RefusalError {
	if w.Status != "succeeded" && w.Status != "failed" {
		return refuse("status", "must be succeeded or failed; a pending payment can't be imported")
	}
	if w.Amount < 1 || w.Amount > payment.MaxAmount {
		return refuse("amount", "must be 1 to %d minor units: 19.99 EUR is 1999", payment.MaxAmount)
	}
	if _, listed := p.Money.Wire().Decimal(); !listed {
		return refuse("currency", "must be an ISO 4217 code in upper case")
	}
	if !p.Succeeded {
		for name, amount := range map[string]*int64{"amount_captured": w.AmountCaptured, "amount_refunded": w.AmountRefunded} {
			if amount != nil && *amount != 0 {
				return refuse(name, "must be 0 or left out: the payment failed")
			}
		}
		return nil
	}
	p.AmountCaptured = w.Amount
	if w.AmountCaptured != nil {
		p.AmountCaptured = *w.AmountCaptured
	}
	if p.AmountCaptured < 1 || p.AmountCaptured > w.Amount {
		return refuse("amount_captured", "must be from 1 to the amount, %d, for a payment that succeeded", w.Amount)
	}
	if w.AmountRefunded != nil {
		p.AmountRefunded = *w.AmountRefunded
	}
	if p.AmountRefunded < 0 || p.AmountRefunded > p.AmountCaptured {
		return refuse("amount_refunded", "must be from 0 to the captured amount, %d", p.AmountCaptured)
	}
	return nil
}

// times checks when it began and ended. The database keeps microseconds.
func times(w *wire, p *Past, now time.Time) *RefusalError {
	if w.CreatedAt == nil || w.CreatedAt.Before(time.Unix(0, 0)) || w.CreatedAt.After(now) {
		return refuse("created_at", "is required and must be a time between 1970 and now")
	}
	end := cmp.Or(w.FinalizedAt, w.CreatedAt)
	if end.Before(*w.CreatedAt) || end.After(now) {
		return refuse("finalized_at", "must be a time between created_at and now, or be left out")
	}
	p.CreatedAt, p.FinalizedAt = w.CreatedAt.UTC().Truncate(time.Microsecond), end.UTC().Truncate(time.Microsecond)
	return nil
}
