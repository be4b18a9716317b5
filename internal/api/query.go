package api

import (
	"maps"
	"slices"

	"github.com/labstack/echo/v4"

	"github.com/paylatch/paylatch/internal/api/contract"
	"github.com/paylatch/paylatch/internal/api/render"
)

// filters reports whether a call selects items by its query.
func filters(op *contract.Operation) bool { return op.Has("query", "created_from") }

// knownQuery refuses a parameter that the call does not have, or that comes twice: a list would otherwise have more than was meant.
func knownQuery(op *contract.Operation) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			query := c.QueryParams()
			for _, name := range slices.Sorted(maps.Keys(query)) {
				switch {
				case !op.Has("query", name):
					return render.Refuse("malformed-request", "The query has an unknown parameter. Correct its name or leave it out.")
				case len(query[name]) > 1:
					return render.Refuse("malformed-request", "The query has "+name+" more than once. Send it once.")
				}
			}
			return next(c)
		}
	}
}
