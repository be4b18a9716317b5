package inbox_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"github.com/paylatch/paylatch/inbox"
)

// consumerEnv makes this binary a consumer that acts on one message and then waits to be killed.
const consumerEnv = "INBOX_TEST_CONSUMER"

func TestMain(m *testing.M) {
	if url := os.Getenv(consumerEnv); url != "" {
		if err := consumeAndWait(context.Background(), url); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
	goleak.VerifyTestMain(m)
}

// consumeAndWait writes the effect of message m-1, signals this, and never commits.
func consumeAndWait(ctx context.Context, url string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	tx, err := conn.Begin(ctx)
	if err != nil {
		return err
	}
	_, err = inbox.Once(ctx, tx, "m-1", func(ctx context.Context) error {
		if _, err := tx.Exec(ctx, addOne); err != nil {
			return err
		}
		fmt.Println("acted")
		_, _ = os.Stdin.Read(make([]byte, 1))
		return nil
	})
	return err
}
