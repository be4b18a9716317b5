package request

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/paylatch/paylatch/internal/api/problem"
	"github.com/paylatch/paylatch/internal/cardnumber"
	"github.com/paylatch/paylatch/internal/payment"
)

// A card number in clear must reach neither the database nor a provider nor a log: it
// would make all that keeps it subject to PCI DSS. What is sent is looked through
// before anything else is read of it.

// cardNumberRefused is returned for a request with a card number in a member.
func cardNumberRefused(member string) error {
	return &problem.Error{Code: "card-number-refused", Fields: []payment.FieldError{{Field: member, Message: "must not hold a card number"}}}
}

// RefuseCardNumbers is the middleware that looks through what a request has beside its body. Keys and users' ids are the
// shop's, which can't choose others: they are taken as they are.
func RefuseCardNumbers(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		for _, name := range c.ParamNames() {
			if cardnumber.In(PathParam(c, name)) {
				return cardNumberRefused(name)
			}
		}
		for name, values := range c.Request().URL.Query() {
			if cardnumber.In(name) {
				return cardNumberRefused("query")
			}
			if !given(name) && slices.ContainsFunc(values, cardnumber.In) {
				return cardNumberRefused(name)
			}
		}
		return next(c)
	}
}

// cardNumberIn returns the member of a body, as strictjson.Parse returns it, that
// holds a card number, empty for none: of a member whose name is one, what it stands in.
func cardNumberIn(value any) string {
	if field, found := memberWithCardNumber("body", value); found {
		return field
	}
	return ""
}

func memberWithCardNumber(field string, value any) (string, bool) {
	switch v := value.(type) {
	case string:
		return field, !given(field) && cardnumber.In(v)
	case json.Number:
		return field, cardnumber.In(v.String())
	case []any:
		for _, item := range v {
			if found, ok := memberWithCardNumber(field, item); ok {
				return found, true
			}
		}
	case map[string]any:
		for _, member := range slices.Sorted(maps.Keys(v)) {
			if cardnumber.In(member) {
				return field, true
			}
			if found, ok := memberWithCardNumber(strings.TrimPrefix(field+"."+member, "body."), v[member]); ok {
				return found, true
			}
		}
	}
	return "", false
}

// given reports whether a member of a body, or a parameter of the query, is an id that the shop can't choose anew.
func given(field string) bool {
	switch field {
	case "user_id", "client_request_id", "customer.reference", "lines.sku":
		return true
	}
	return false
}
