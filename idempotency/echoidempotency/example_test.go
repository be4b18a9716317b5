package echoidempotency_test

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/labstack/echo/v4"

	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/idempotency/echoidempotency"
	"github.com/paylatch/paylatch/idempotency/pgxstore"
	"github.com/paylatch/paylatch/internal/dev/testdb"
)

// A shop reserves stock: the reservation that is sent twice takes one piece from the shelf.
func Example_stock() {
	ctx := context.Background()
	url, drop := testdb.ForExample("echo_stock")
	defer drop()
	db, err := pgxpool.New(ctx, url)
	check(err)
	defer db.Close()
	_, err = db.Exec(ctx, pgxstore.Schema+`CREATE TABLE stock (sku text PRIMARY KEY, pieces int NOT NULL); INSERT INTO stock VALUES ('A', 1), ('B', 3)`)
	check(err)

	e := echo.New()
	e.POST("/reservations/:sku", func(c echo.Context) error {
		ctx := c.Request().Context()
		tag, err := pgxstore.TxOf(ctx).Exec(ctx, `UPDATE stock SET pieces = pieces - 1 WHERE sku = $1 AND pieces > 0`, c.Param("sku"))
		if err != nil {
			return err
		}
		if tag.RowsAffected() == 0 {
			return c.String(http.StatusConflict, "sold out")
		}
		return c.String(http.StatusCreated, "reserved")
	}, echoidempotency.New(echoidempotency.Options{
		Guard: &idempotency.Guard{Store: pgxstore.New(db, pgxstore.Options{}), Wait: time.Second},
		User:  func(c echo.Context) (string, error) { return c.Request().Header.Get("X-User"), nil },
	}))

	reserve := func(key, sku string) {
		r := httptest.NewRequest(http.MethodPost, "/reservations/"+sku, strings.NewReader(`{}`))
		r.Header.Set("X-User", "ann")
		r.Header.Set("Idempotency-Key", key)
		w := httptest.NewRecorder()
		e.ServeHTTP(w, r)
		fmt.Println(key, w.Code, w.Body, cmp.Or(w.Header().Get("Idempotency-Result"), "refused"))
	}
	reserve("cart-0001", "A")
	reserve("cart-0001", "A")
	reserve("cart-0002", "A")
	reserve("cart-0003", "B")
	var a, b int
	check(db.QueryRow(ctx, `SELECT pieces, (SELECT pieces FROM stock WHERE sku = 'B') FROM stock WHERE sku = 'A'`).Scan(&a, &b))
	fmt.Println(a, b)
	// Output:
	// cart-0001 201 reserved created
	// cart-0001 201 reserved reused
	// cart-0002 409 sold out refused
	// cart-0003 201 reserved created
	// 0 2
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
