package imports

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/payment"
)

// MaxLine is the longest line in bytes, its end included.
const MaxLine = 64 << 10

// ErrTooMany is returned when so many lines were refused that the file is probably a wrong file.
var ErrTooMany = errors.New("too many lines were refused")

// Options are the options of an import.
type Options struct {
	Store   Store
	Rules   changeset.Rules
	Account string
	// CellOf returns the cell of an order. A line of another cell than that of the rules is refused. If it is nil, there is one cell.
	CellOf func(payment.OrderID) payment.Cell
	Now    func() time.Time
	// DryRun checks every line and writes nothing.
	DryRun bool
	// Batch is how many lines share a transaction, 500 by default.
	Batch int
	// MaxRefused ends the import after so many refused lines; 0 for no limit.
	MaxRefused int
	// Refused is called for each refused line, Progress after each batch. Neither may be nil.
	Refused  func(*RefusalError)
	Progress func(Count)
}

// Count counts the lines so far by result. Empty lines are not counted.
type Count struct{ Lines, Made, There, Refused int }

type importer struct {
	Options

	count Count
	// trial is nil but in a dry run.
	trial Trial
}

// Run imports the payments of a file. If the file is run again, or a run was cut off, it makes only the missing payments. It
// returns ErrTooMany, errors of the file, and errors of the store.
func Run(ctx context.Context, file io.Reader, o Options) (Count, error) {
	if o.Batch == 0 {
		o.Batch = 500
	}
	i := &importer{Options: o}
	if o.DryRun {
		var err error
		if i.trial, err = o.Store.Trial(ctx); err != nil {
			return i.count, fmt.Errorf("begin a dry run: %w", err)
		}
		defer i.trial.Close()
	}
	return i.run(ctx, file)
}

// Make imports one payment that was not found in a file. It returns a RefusalError if the payment can't be imported. A payment
// that exists already stays as it is.
func Make(ctx context.Context, o Options, p Past) error {
	i, l := &importer{Options: o}, &line{past: p}
	if err := i.take(ctx, []*line{l}); err != nil {
		return err
	}
	if l.refusal != nil {
		return l.refusal
	}
	return nil
}

func (i *importer) run(ctx context.Context, file io.Reader) (Count, error) {
	in := bufio.NewReaderSize(file, MaxLine)
	number := 0
	for more := true; more; {
		if err := ctx.Err(); err != nil {
			return i.count, err //nolint:wrapcheck // it was interrupted
		}
		var batch []*line
		var err error
		if batch, more, err = i.read(in, &number); err != nil {
			return i.count, err
		}
		if err := i.take(ctx, batch); err != nil {
			return i.count, fmt.Errorf("import lines up to %d: %w", number, err)
		}
		i.settled(batch)
		if i.MaxRefused > 0 && i.count.Refused >= i.MaxRefused {
			return i.count, fmt.Errorf("%w: %d by line %d", ErrTooMany, i.count.Refused, number)
		}
	}
	return i.count, nil
}

// read parses the lines of a batch. It reports whether there may be more.
func (i *importer) read(in *bufio.Reader, number *int) (batch []*line, more bool, err error) {
	now := i.Now()
	for len(batch) < i.Batch {
		text, err := in.ReadSlice('\n')
		long := errors.Is(err, bufio.ErrBufferFull)
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = in.ReadSlice('\n')
		}
		end := errors.Is(err, io.EOF)
		if err != nil && !end {
			return nil, false, fmt.Errorf("read line %d: %w", *number+1, err)
		}
		if *number++; long || len(bytes.TrimSpace(text)) > 0 {
			l := &line{number: *number}
			batch = append(batch, l)
			var wrong *RefusalError
			if l.past, wrong = Parse(text, i.Account, now); long {
				wrong = refuse("", "must be at most %d bytes", MaxLine)
			}
			l.settle(false, wrong)
		}
		if end {
			return batch, false, nil
		}
	}
	return batch, true, nil
}

// settled counts the lines of a batch.
func (i *importer) settled(batch []*line) {
	for _, l := range batch {
		i.count.Lines++
		switch {
		case l.made:
			i.count.Made++
		case l.there:
			i.count.There++
		default:
			i.count.Refused++
			i.Refused(l.refusal)
		}
	}
	i.Progress(i.count)
}
