package api

import (
	"errors"

	"github.com/labstack/echo/v4"

	"github.com/paylatch/paylatch/idempotency"
)

// echoKey repeats a valid key in the response, errors included.
func echoKey(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if key, err := idempotency.ParseKey(c.Request().Header.Values(idempotency.HeaderKey)); err == nil {
			ExchangeIn(c).Key = key
			c.Response().Header().Set(idempotency.HeaderKey, string(key))
		}
		return next(c)
	}
}

// requireKey refuses a command without a valid key, or with one where it would end up in logs and histories.
func requireKey(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if _, err := idempotency.KeyOf(c.Request()); err != nil {
			return err
		}
		return next(c)
	}
}

// allowKey is requireKey for a call that takes one without needing it.
func allowKey(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if _, err := idempotency.KeyOf(c.Request()); err != nil && !errors.Is(err, idempotency.ErrKeyMissing) {
			return err
		}
		return next(c)
	}
}
