package idempotency_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/paylatch/paylatch/internal/idempotency"
)

// A reservation of stock, protected over echo: the shop sends it twice and one
// piece leaves the shelf.
func ExampleGuard_echo() {
	stock := 3
	guard := &idempotency.Guard{Store: newMemory(), Wait: time.Second, Lease: time.Minute}
	e := echo.New()
	e.POST("/reservations", func(c echo.Context) error {
		key, err := idempotency.ParseKey(c.Request().Header.Values("Idempotency-Key"))
		if err != nil {
			return c.String(http.StatusBadRequest, err.Error())
		}
		body, err := io.ReadAll(c.Request().Body)
		if err != nil {
			return err
		}
		answer, result, err := guard.Do(c.Request().Context(), idempotency.Request{
			User: "shop-1", Endpoint: "POST /reservations", Key: key,
			Hash: idempotency.HashRequest("POST", "/reservations", nil, nil, body),
		}, idempotency.KeepOther, func(context.Context, bool) (idempotency.Answer, error) {
			stock--
			return idempotency.Answer{Status: http.StatusCreated, Body: fmt.Appendf(nil, "%d left", stock)}, nil
		})
		if errors.Is(err, idempotency.ErrKeyReused) {
			return c.String(http.StatusConflict, err.Error())
		}
		if err != nil {
			return err
		}
		c.Response().Header().Set("Idempotency-Result", string(result))
		return c.Blob(answer.Status, echo.MIMETextPlain, answer.Body)
	})
	for _, body := range []string{`{"sku":"A"}`, `{ "sku": "A" }`, `{"sku":"B"}`} {
		r := httptest.NewRequest(http.MethodPost, "/reservations", strings.NewReader(body))
		r.Header.Set("Idempotency-Key", "reserve-0001")
		w := httptest.NewRecorder()
		e.ServeHTTP(w, r)
		fmt.Println(w.Code, w.Header().Get("Idempotency-Result"), w.Body)
	}
	// Output:
	// 201 created 2 left
	// 201 reused 2 left
	// 409  idempotency key reused for another request
}
