package pgxstore_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/idempotency/pgxstore"
	"github.com/paylatch/paylatch/internal/dev/testdb"
)

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// A balance is charged once, however often the command is sent; a charge that the balance does not
// cover is refused, and so are its copies.
func Example_balance() {
	ctx := context.Background()
	url, drop := testdb.ForExample("pgxstore_balance")
	defer drop()
	db, err := pgxpool.New(ctx, url)
	check(err)
	defer db.Close()
	_, err = db.Exec(ctx, pgxstore.Schema+`CREATE TABLE balances (owner text PRIMARY KEY, cents bigint NOT NULL); INSERT INTO balances VALUES ('ann', 5000)`)
	check(err)

	guard := &idempotency.Guard{Store: pgxstore.New(db, pgxstore.Options{}), Wait: time.Second}
	charge := func(key idempotency.Key, owner string, cents int64) {
		request := idempotency.Request{
			User: owner, Endpoint: "charge", Key: key,
			Hash: idempotency.HashRequest("charge", owner, nil, nil, fmt.Appendf(nil, `{"cents":%d}`, cents)),
		}
		response, result, err := guard.InTx(ctx, request, idempotency.KeepMoney, func(ctx context.Context) (idempotency.Response, error) {
			var left int64
			err := pgxstore.TxOf(ctx).QueryRow(ctx,
				`UPDATE balances SET cents = cents - $2 WHERE owner = $1 AND cents >= $2 RETURNING cents`, owner, cents).Scan(&left)
			if errors.Is(err, pgx.ErrNoRows) {
				return idempotency.Response{Status: http.StatusConflict, Body: []byte("not enough")}, nil
			}
			return idempotency.Response{Status: http.StatusOK, Body: fmt.Appendf(nil, "%d left", left)}, err
		})
		if err != nil {
			fmt.Println(key, err)
			return
		}
		fmt.Println(key, result, response.Status, string(response.Body))
	}
	charge("ticket-0001", "ann", 1999)
	charge("ticket-0001", "ann", 1999)
	charge("ticket-0001", "ann", 2999)
	charge("ticket-0002", "ann", 9999)
	charge("ticket-0002", "ann", 9999)
	// Output:
	// ticket-0001 created 200 3001 left
	// ticket-0001 reused 200 3001 left
	// ticket-0001 idempotency key reused for another request
	// ticket-0002 created 409 not enough
	// ticket-0002 reused 409 not enough
}

// Execute gives the command the transaction itself, and whether an earlier runner may have begun it.
func ExampleStore_InTx() {
	ctx := context.Background()
	url, drop := testdb.ForExample("pgxstore_in_tx")
	defer drop()
	db, err := pgxpool.New(ctx, url)
	check(err)
	defer db.Close()
	_, err = db.Exec(ctx, pgxstore.Schema+`CREATE TABLE notes (text text)`)
	check(err)
	store := pgxstore.New(db, pgxstore.Options{})

	for range 2 {
		claim := idempotency.Claim{
			Request: idempotency.Request{User: "ann", Endpoint: "note", Key: "note-0001"}, Lease: time.Minute, Keep: idempotency.KeepOther,
		}
		done, err := idempotency.Execute(ctx, store.InTx, claim,
			func(ctx context.Context, tx pgxstore.Tx, _ idempotency.Record) (*idempotency.Response, error) {
				_, err := tx.Exec(ctx, `INSERT INTO notes VALUES ('hello')`)
				return &idempotency.Response{Status: http.StatusCreated, Subject: "hello"}, err
			})
		check(err)
		fmt.Println(done.Replay != nil)
	}
	var notes int
	check(db.QueryRow(ctx, `SELECT count(*) FROM notes`).Scan(&notes))
	fmt.Println(notes)
	// Output:
	// false
	// true
	// 1
}
