package api

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/paylatch/paylatch/internal/api/render"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/redact"
)

// A card number in clear must reach neither the database nor a provider nor a log: PCI DSS would apply to
// every system that stores it. Each request is scanned before any other use of its content.

// cardNumberRefused is returned for a request with a card number in a member.
func cardNumberRefused(member string) error {
	return &render.ProblemError{Code: "card-number-refused", Fields: []payment.FieldError{{Field: member, Message: "must not contain a card number"}}}
}

// RefuseCardNumbers is the middleware that scans everything in a request but its body. Keys, users' ids and the provider's
// ids are exempt: the shop can't choose others.
func RefuseCardNumbers(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		for _, name := range c.ParamNames() {
			if redact.CardNumberIn(PathParam(c, name)) {
				return cardNumberRefused(name)
			}
		}
		for name, values := range c.Request().URL.Query() {
			if redact.CardNumberIn(name) {
				return cardNumberRefused("query")
			}
			if !given("", name) && slices.ContainsFunc(values, redact.CardNumberIn) {
				return cardNumberRefused(name)
			}
		}
		return next(c)
	}
}

// cardNumberIn returns the member with a card number in a body from contract.ParseJSON; empty if the body has no card number.
// If the name of a member is a card number, it returns the enclosing member.
func cardNumberIn(value any) string {
	if path, found := memberWithCardNumber("", "", value); found && path != "" {
		return path
	} else if found {
		return "body"
	}
	return ""
}

// longestText is how many bytes of a text are looked through: no member may have more, so that a longer one is refused anyhow.
const longestText = 64 << 10

// memberWithCardNumber returns the path from a value, of a member of this name within another one, to the member within it that
// holds a card number.
func memberWithCardNumber(of, name string, value any) (path string, found bool) {
	switch v := value.(type) {
	case string:
		return "", !given(of, name) && redact.CardNumberIn(v[:min(len(v), longestText)])
	case json.Number:
		return "", redact.CardNumberIn(v.String())
	case []any:
		for _, item := range v {
			if path, found = memberWithCardNumber(of, name, item); found {
				return path, true
			}
		}
	case map[string]any:
		return withinMembers(name, v)
	}
	return path, found
}

// withinMembers is memberWithCardNumber for the members of an object, in any order.
func withinMembers(of string, members map[string]any) (path string, found bool) {
	for member, held := range members {
		if redact.CardNumberIn(member[:min(len(member), longestText)]) {
			return "", true
		}
		if within, some := memberWithCardNumber(of, member, held); some {
			within = strings.TrimSuffix(member+"."+within, ".")
			if !found || within < path {
				path, found = within, true
			}
		}
	}
	return path, found
}

// given reports whether a member of a body, within another one, or a parameter of the query, is an id that the shop can't choose anew.
func given(of, name string) bool {
	switch name {
	case "user_id", "client_request_id", "provider_payment_id", "references":
		return of == ""
	case "reference":
		return of == "customer"
	case "sku":
		return of == "lines"
	}
	return false
}
