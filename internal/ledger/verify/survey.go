package verify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/payment"
)

// A Survey verifies all attempts of a database and its audit log, and prints the findings for a person or a program.

var (
	errDiffers = errors.New("the stored data does not match its log")
	errBroken  = errors.New("the audit log is broken at entry")
)

// Survey has the sources to verify and the form of the output. All fields but Head are required.
type Survey struct {
	Archive Archive
	Log     support.ChainStore
	// Head must be in the audit log; the zero head is in any.
	Head support.Head
	// Batch is how many attempts are read in one snapshot.
	Batch int
	// JSON prints one object instead of a table.
	JSON bool
	// Out gets the findings, Progress the progress messages.
	Out, Progress io.Writer
}

// Run verifies and prints. It returns an error if anything does not agree.
func (s Survey) Run(ctx context.Context) error {
	n, found, err := s.all(ctx)
	if err != nil {
		return err
	}
	chain, err := s.chain(ctx)
	if err != nil {
		return err
	}
	if err := s.print(n, found, chain); err != nil {
		return err
	}
	return errors.Join(differs(n, found), broken(chain))
}

func differs(n int, found []Difference) error {
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

func (s Survey) all(ctx context.Context) (n int, found []Difference, err error) {
	found = []Difference{}
	for after, end := (payment.AttemptID{}), false; !end; {
		v, err := Verify(ctx, s.Archive, after, s.Batch, false)
		if err != nil {
			return n, found, fmt.Errorf("verify what follows %s: %w", after, err)
		}
		n, found, after, end = n+v.Attempts, append(found, v.Differences...), v.Last, v.End
		if v.Attempts > 0 {
			_, _ = fmt.Fprintf(s.Progress, "%d attempts verified, %d differences\n", n, len(found))
		}
	}
	return n, found, nil
}

// chain follows the audit log to its end, or to a break of its chain.
func (s Survey) chain(ctx context.Context) (chain support.Chain, err error) {
	chain.Known = s.Head
	for more := true; more; {
		if more, err = chain.Follow(ctx, s.Log, s.Batch); err != nil {
			return chain, err
		}
	}
	return chain, nil
}

func (s Survey) print(n int, found []Difference, chain support.Chain) error {
	if s.JSON {
		return s.printJSON(n, found, chain)
	}
	if chain.Broken == nil {
		_, _ = fmt.Fprintf(s.Out, "%d entries of the audit log are chained, the last has the hash %s\n", chain.Entries, chain.Hash)
	} else {
		_, _ = fmt.Fprintf(s.Out, "%s\n", broken(chain))
	}
	if len(found) == 0 {
		_, err := fmt.Fprintf(s.Out, "%d attempts agree with their logs\n", n)
		return err //nolint:wrapcheck // the error is complete
	}
	w := tabwriter.NewWriter(s.Out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "ORDER\tATTEMPT\tCHECK\tDIFFERENCE")
	for _, d := range found {
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", d.OrderID, d.AttemptID, d.Check, d.Text)
	}
	return w.Flush() //nolint:wrapcheck // the error is complete
}

func (s Survey) printJSON(n int, found []Difference, chain support.Chain) error {
	audit := map[string]any{"entries": chain.Entries, "head": chain.String(), "broken": nil}
	if b := chain.Broken; b != nil {
		audit["broken"] = map[string]any{"position": b.Position, "entry_id": b.EntryID, "text": b.Text}
	}
	e := json.NewEncoder(s.Out)
	e.SetIndent("", "  ")
	return e.Encode(map[string]any{"attempts": n, "differences": found, "audit": audit}) //nolint:wrapcheck // the error is complete
}
