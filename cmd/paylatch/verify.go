package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres"
)

type verifyCmd struct {
	JSON  bool `name:"json" help:"Print one JSON object with all differences instead of a table."`
	Batch int  `default:"500" help:"How many attempts are read in one snapshot."`
}

var errDiffers = errors.New("what was written does not agree with its log")

// Run verifies all attempts. What it finds goes to the output, how far it is to
// the errors.
func (c *verifyCmd) Run(ctx context.Context, a *app) error {
	if c.Batch < 1 || c.Batch > 10_000 {
		return usageError{errors.New("--batch must be 1 to 10000")}
	}
	cfg, err := a.read()
	if err != nil {
		return err
	}
	return withSharedDatabase(ctx, cfg, func(dsn string) error {
		store, err := postgres.Open(ctx, dsn)
		if err != nil {
			return err
		}
		defer store.Close()
		if err := store.Migrated(ctx); err != nil {
			return err
		}
		n, found, err := c.all(ctx, store, a.stderr)
		if err != nil {
			return err
		}
		if err := c.print(a.stdout, n, found); err != nil {
			return err
		}
		if len(found) > 0 {
			return fmt.Errorf("%w: %d differences in %d attempts", errDiffers, len(found), n)
		}
		return nil
	})
}

func (c *verifyCmd) all(ctx context.Context, store *postgres.Store, progress io.Writer) (n int, found []payment.Difference, err error) {
	found = []payment.Difference{}
	for after := (payment.AttemptID{}); ; {
		v, err := payment.Verify(ctx, store, after, c.Batch, false)
		if err != nil {
			return n, found, fmt.Errorf("verify what follows %s: %w", after, err)
		}
		if v.Attempts == 0 {
			return n, found, nil
		}
		n, found, after = n+v.Attempts, append(found, v.Differences...), v.Last
		_, _ = fmt.Fprintf(progress, "%d attempts verified, %d differences\n", n, len(found))
	}
}

func (c *verifyCmd) print(out io.Writer, n int, found []payment.Difference) error {
	if c.JSON {
		e := json.NewEncoder(out)
		e.SetIndent("", "  ")
		return e.Encode(map[string]any{"attempts": n, "differences": found}) //nolint:wrapcheck // it says all there is
	}
	if len(found) == 0 {
		_, err := fmt.Fprintf(out, "%d attempts agree with their logs\n", n)
		return err //nolint:wrapcheck // it says all there is
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "ORDER\tATTEMPT\tCHECK\tDIFFERENCE")
	for _, d := range found {
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", d.OrderID, d.AttemptID, d.Check, d.Text)
	}
	return w.Flush() //nolint:wrapcheck // it says all there is
}
