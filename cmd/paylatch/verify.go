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
	"github.com/paylatch/paylatch/internal/support"
	"github.com/paylatch/paylatch/internal/verify"
)

type verifyCmd struct {
	JSON  bool   `name:"json" help:"Print one JSON object with all differences instead of a table."`
	Batch int    `default:"500" help:"How many attempts are read in one snapshot."`
	Head  string `placeholder:"ENTRIES:HASH" help:"A head of the audit log that the service's log once named: the entry must be there, with this hash."`
}

var (
	errDiffers = errors.New("what was written does not agree with its log")
	errBroken  = errors.New("the audit log is broken at entry")
)

// Run verifies all attempts and the audit log. Findings go to the output, progress to the errors.
func (c *verifyCmd) Run(ctx context.Context, a *app) error {
	if c.Batch < 1 || c.Batch > 10_000 {
		return usageError{errors.New("--batch must be 1 to 10000")}
	}
	head, err := support.ParseHead(c.Head)
	if err != nil {
		return usageError{fmt.Errorf("--head: %w", err)}
	}
	cfg, err := a.read()
	if err != nil {
		return err
	}
	return withDirectDatabase(ctx, cfg, func(dsn string) error {
		store, err := postgres.Open(ctx, dsn)
		if err != nil {
			return err
		}
		defer store.Close()
		if err := store.Migrated(ctx); err != nil {
			return err
		}
		n, found, err := c.all(ctx, store.Evidence(), a.stderr)
		if err != nil {
			return err
		}
		chain, err := c.chain(ctx, store.Support(), head)
		if err != nil {
			return err
		}
		if err := c.print(a.stdout, n, found, chain); err != nil {
			return err
		}
		return errors.Join(differs(n, found), broken(chain))
	})
}

func differs(n int, found []verify.Difference) error {
	if len(found) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %d differences in %d attempts", errDiffers, len(found), n)
}

func broken(chain support.Chain) error {
	if chain.Broken == nil {
		return nil
	}
	return fmt.Errorf("%w %s", errBroken, chain.Broken)
}

func (c *verifyCmd) all(ctx context.Context, from verify.Archive, progress io.Writer) (n int, found []verify.Difference, err error) {
	found = []verify.Difference{}
	for after := (payment.AttemptID{}); ; {
		v, err := verify.Verify(ctx, from, after, c.Batch, false)
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

// chain follows the audit log to its end, or to where it is broken.
func (c *verifyCmd) chain(ctx context.Context, from support.ChainStore, head support.Head) (chain support.Chain, err error) {
	chain.Known = head
	for more := true; more; {
		if more, err = chain.Follow(ctx, from, c.Batch); err != nil {
			return chain, err
		}
	}
	return chain, nil
}

func (c *verifyCmd) print(out io.Writer, n int, found []verify.Difference, chain support.Chain) error {
	if c.JSON {
		return c.printJSON(out, n, found, chain)
	}
	if chain.Broken == nil {
		_, _ = fmt.Fprintf(out, "%d entries of the audit log are chained, the last has the hash %s\n", chain.Entries, chain.Hash)
	} else {
		_, _ = fmt.Fprintf(out, "%s\n", broken(chain))
	}
	if len(found) == 0 {
		_, err := fmt.Fprintf(out, "%d attempts agree with their logs\n", n)
		return err //nolint:wrapcheck // the error is complete
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "ORDER\tATTEMPT\tCHECK\tDIFFERENCE")
	for _, d := range found {
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", d.OrderID, d.AttemptID, d.Check, d.Text)
	}
	return w.Flush() //nolint:wrapcheck // the error is complete
}

func (c *verifyCmd) printJSON(out io.Writer, n int, found []verify.Difference, chain support.Chain) error {
	audit := map[string]any{"entries": chain.Entries, "head": chain.String(), "broken": nil}
	if b := chain.Broken; b != nil {
		audit["broken"] = map[string]any{"position": b.Position, "entry_id": b.EntryID, "text": b.Text}
	}
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	return e.Encode(map[string]any{"attempts": n, "differences": found, "audit": audit}) //nolint:wrapcheck // the error is complete
}
