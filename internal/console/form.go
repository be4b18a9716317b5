package console

import (
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/paylatch/paylatch/internal/backoffice/finder"
	"github.com/paylatch/paylatch/internal/backoffice/lists"
	"github.com/paylatch/paylatch/internal/payment"
)

// form is a filter as it was typed.
type form struct { //nolint:recvcheck // methods that only read take a value
	Status, Stage, Account, User, Currency string
	AmountFrom, AmountTo                   string
	CreatedFrom, CreatedTo                 string
	UpdatedFrom, UpdatedTo                 string
}

// fields returns the names of a form's fields in the address, and where their texts stand.
func (f *form) fields() map[string]*string {
	return map[string]*string{
		"status": &f.Status, "stage": &f.Stage, "account": &f.Account, "user_id": &f.User, "currency": &f.Currency,
		"amount_from": &f.AmountFrom, "amount_to": &f.AmountTo, "created_from": &f.CreatedFrom, "created_to": &f.CreatedTo,
		"updated_from": &f.UpdatedFrom, "updated_to": &f.UpdatedTo,
	}
}

func readForm(q url.Values) form {
	var f form
	for name, text := range f.fields() {
		*text = strings.TrimSpace(q.Get(name))
	}
	f.Currency = strings.ToUpper(f.Currency)
	return f
}

// Narrowed reports whether anything is filtered.
func (f form) Narrowed() bool { return f != form{} }

// query is the list's query, with days of a time zone. A time instead of a day counts as it is. It returns a payment.ValidationError with all errors of the first kind found.
func (f form) query(kind lists.Kind, cursor string, zone *time.Location) (lists.Query, error) {
	params := map[string]string{
		"status": f.Status, "stage": f.Stage, "account": f.Account, "user_id": f.User, "currency": f.Currency, "cursor": cursor,
	}
	var wrong []payment.FieldError
	for name, text := range map[string]string{"amount_min": f.AmountFrom, "amount_max": f.AmountTo} {
		if text == "" {
			continue
		}
		money, ok := finder.MoneyIn(text, params["currency"])
		if !ok {
			field := strings.NewReplacer("min", "from", "max", "to").Replace(name)
			wrong = append(wrong, payment.FieldError{Field: field, Message: "must be an amount such as 49.99, with its currency after it or chosen"})
			continue
		}
		params[name], params["currency"] = strconv.FormatInt(money.Minor, 10), string(money.Currency)
	}
	for name, day := range map[string]struct {
		text string
		next int
	}{
		"created_from": {f.CreatedFrom, 0}, "created_to": {f.CreatedTo, 1}, "updated_from": {f.UpdatedFrom, 0}, "updated_to": {f.UpdatedTo, 1},
	} {
		if day.text == "" {
			continue
		}
		if at, err := time.Parse(time.RFC3339, day.text); err == nil {
			params[name] = at.UTC().Format(time.RFC3339Nano)
			continue
		}
		date, err := time.Parse(time.DateOnly, day.text)
		if err != nil {
			wrong = append(wrong, payment.FieldError{Field: name, Message: "must be a day, such as 2026-03-01, or a time, such as 2026-03-01T00:00:00Z"})
			continue
		}
		params[name] = dayOf(date, zone, day.next).UTC().Format(time.RFC3339)
	}
	if len(wrong) > 0 {
		return lists.Query{}, &payment.ValidationError{Fields: wrong}
	}
	return lists.Parse(kind, params)
}

// dateInput is the type of a field with a day, or with a time, which an input of days does not show.
func dateInput(text string) string {
	if _, err := time.Parse(time.RFC3339, text); err == nil {
		return "text"
	}
	return "date"
}

// address is a path with the filter.
func (f form) address(path string) string {
	q := url.Values{}
	for name, text := range f.fields() {
		if *text != "" {
			q.Set(name, *text)
		}
	}
	if len(q) == 0 {
		return path
	}
	return path + "?" + q.Encode()
}
