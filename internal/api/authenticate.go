package api

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/paylatch/paylatch/internal/api/render"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/auth"
)

func (g *Gate) authenticate(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		c.Response().Header().Set(echo.HeaderCacheControl, "no-store")
		if _, err := url.ParseQuery(r.URL.RawQuery); err != nil {
			return render.Refuse("malformed-request", "The query string can't be read. Correct it and send the request again.")
		}
		authorization := strings.Join(r.Header.Values(echo.HeaderAuthorization), ", ")
		bearer, err := auth.Bearer(authorization)
		if err != nil {
			if authorization != "" {
				g.auditRefusal(c, support.RefusedToken, err)
			}
			return err
		}
		user, err := onBehalfOf(r.Header.Values("On-Behalf-Of"))
		if err != nil {
			return err
		}
		x := ExchangeIn(c)
		if x.Actor, err = g.Auth.Authenticate(r.Context(), bearer, user); err != nil {
			g.auditRefusal(c, support.RefusedToken, err)
			return err
		}
		x.Subject, x.OnBehalfOf = x.Actor.Subject, string(x.Actor.OnBehalfOf)
		return next(c)
	}
}

// statusToken is the contract's name for the token that reads one attempt.
const statusToken = "statusToken"

// errStatusToken is why, for the audit log.
var errStatusToken = fmt.Errorf("%w: a status token reads only its own attempt", payment.ErrForbidden)

// refuseStatusToken refuses a status token for all operations that the contract does not open to it, before any lookup: its
// bearer can't learn which objects exist.
func (g *Gate) refuseStatusToken(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if ExchangeIn(c).Actor.OnlyAttempt != nil {
			g.auditRefusal(c, support.RefusedToken, errStatusToken)
			return render.Refuse("forbidden", "A status token reads only its own attempt. Use a token with a role.")
		}
		return next(c)
	}
}

// onBehalfOf refuses an empty name: a service that lost its user's would otherwise act with all of its own rights.
func onBehalfOf(values []string) (string, error) {
	switch {
	case len(values) == 0:
		return "", nil
	case len(values) > 1 || values[0] == "":
		return "", render.Refuse("malformed-request", "Send On-Behalf-Of once, with a user's id, or leave it out.")
	}
	return values[0], nil
}
