package inbox_test

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/paylatch/paylatch/inbox"
	"github.com/paylatch/paylatch/internal/dev/testdb"
)

// connect opens a database with the inbox's table and those of an Example.
func connect(ctx context.Context, url, tables string) *pgxpool.Pool {
	pool, err := pgxpool.New(ctx, url)
	check(err)
	_, err = pool.Exec(ctx, inbox.Schema+tables)
	check(err)
	return pool
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// A shop takes a piece from its stock once when an order is paid, even if the event arrives twice.
func Example() {
	ctx := context.Background()
	url, drop := testdb.ForExample("inbox_stock")
	defer drop()
	db := connect(ctx, url, `CREATE TABLE stock (sku text PRIMARY KEY, pieces int NOT NULL CHECK (pieces >= 0)); INSERT INTO stock VALUES ('ticket', 3)`)
	defer db.Close()

	orderPaid := func(messageID, sku string) error {
		return pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
			done, err := inbox.Consumer("stock").Once(ctx, tx, messageID, func(ctx context.Context) error {
				_, err := tx.Exec(ctx, `UPDATE stock SET pieces = pieces - 1 WHERE sku = $1`, sku)
				return err
			})
			fmt.Println(messageID, done)
			return err
		})
	}
	for _, id := range []string{"msg_1", "msg_1", "msg_2", "msg_1"} {
		check(orderPaid(id, "ticket"))
		// The commit is through: acknowledge the message here.
	}
	var left int
	check(db.QueryRow(ctx, `SELECT pieces FROM stock WHERE sku = 'ticket'`).Scan(&left))
	fmt.Println(left, "left")
	// Output:
	// msg_1 true
	// msg_1 false
	// msg_2 true
	// msg_1 false
	// 1 left
}

// A new message with an older version than the applied version changes nothing.
func Example_version() {
	ctx := context.Background()
	url, drop := testdb.ForExample("inbox_version")
	defer drop()
	db := connect(ctx, url, `CREATE TABLE payments (id text PRIMARY KEY, status text NOT NULL, version int NOT NULL); INSERT INTO payments VALUES ('p-1', 'pending', 1)`)
	defer db.Close()

	changed := func(messageID, status string, version int) error {
		return pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
			_, err := inbox.Once(ctx, tx, messageID, func(ctx context.Context) error {
				tag, err := tx.Exec(ctx, `UPDATE payments SET status = $2, version = $3 WHERE id = $1 AND version < $3`, "p-1", status, version)
				fmt.Println("version", version, tag.RowsAffected() == 1)
				return err
			})
			return err
		})
	}
	check(changed("msg_b", "succeeded", 3))
	check(changed("msg_a", "authorized", 2))
	var status string
	check(db.QueryRow(ctx, `SELECT status FROM payments WHERE id = 'p-1'`).Scan(&status))
	fmt.Println(status)
	// Output:
	// version 3 true
	// version 2 false
	// succeeded
}

// Old markers go once a day.
func ExamplePurge() {
	ctx := context.Background()
	url, drop := testdb.ForExample("inbox_purge")
	defer drop()
	db := connect(ctx, url, `; INSERT INTO processed_messages VALUES ('stock', 'msg_1', now() - interval '91 days'), ('stock', 'msg_2', now())`)
	defer db.Close()
	fmt.Println(inbox.Purge(ctx, db, 90*24*time.Hour))
	// Output: 1 <nil>
}
