package request

import (
	"encoding/json"
	"maps"
	"regexp"
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

// telephone is a number with its country's code (E.164), of which one in ten would pass for a card's.
var telephone = regexp.MustCompile(`^\+[1-9][0-9]{6,14}$`)

// cardNumberRefused is returned for a request with a card number in a member.
func cardNumberRefused(member string) error {
	return &problem.Error{Code: "card-number-refused", Fields: []payment.FieldError{{Field: member, Message: "must not hold a card number"}}}
}

// RefuseCardNumbers is the middleware that looks through what a request has beside its body.
func RefuseCardNumbers(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		for _, name := range []string{"Idempotency-Key", "On-Behalf-Of"} {
			if slices.ContainsFunc(c.Request().Header.Values(name), cardnumber.In) {
				return cardNumberRefused(name)
			}
		}
		for _, name := range c.ParamNames() {
			if cardnumber.In(PathParam(c, name)) {
				return cardNumberRefused(name)
			}
		}
		for name, values := range c.Request().URL.Query() {
			if cardnumber.In(name) {
				return cardNumberRefused("query")
			}
			if slices.ContainsFunc(values, holder(name, nil)) {
				return cardNumberRefused(name)
			}
		}
		return next(c)
	}
}

// cardNumberIn returns the member of a body, as strictjson.Parse returns it, that
// holds a card number, empty for none: of a member whose name is one, what it stands in.
func cardNumberIn(value any) string {
	if field, found := memberWithCardNumber("", "body", value, nil); found {
		return field
	}
	return ""
}

func memberWithCardNumber(name, field string, value any, beside map[string]any) (string, bool) {
	switch v := value.(type) {
	case string:
		return field, holder(name, beside)(v)
	case json.Number:
		return field, cardnumber.In(v.String())
	case []any:
		for _, item := range v {
			if found, ok := memberWithCardNumber(name, field, item, beside); ok {
				return found, true
			}
		}
	case map[string]any:
		for _, member := range slices.Sorted(maps.Keys(v)) {
			if cardnumber.In(member) {
				return field, true
			}
			if found, ok := memberWithCardNumber(member, strings.TrimPrefix(field+"."+member, "body."), v[member], v); ok {
				return found, true
			}
		}
	}
	return "", false
}

// holder returns how a member's text is looked through. Where a provider's own ids
// are expected not every number of that length counts.
func holder(name string, beside map[string]any) func(text string) bool {
	if name == "phone" {
		return func(text string) bool { return !telephone.MatchString(text) && cardnumber.In(text) }
	}
	if name == "provider_payment_id" || name == "q" || name == "token" && beside["stored"] == true {
		return cardnumber.InID
	}
	return cardnumber.In
}
