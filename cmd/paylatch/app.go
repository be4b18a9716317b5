package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/paylatch/paylatch/internal/dev"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/setup/config"
)

// version is set by the linker.
var version = "dev"

// The exit codes; README, "Commands", has them, too.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

// app is the environment of a command.
type app struct {
	configFile string
	// cell is the number of the flag, negative if the flag is missing. given are the values of the command line, of flags as --name=value.
	cell  int
	given []string
	// model is the command line as it may be.
	model          *kong.Application
	environ        []string
	stdout, stderr io.Writer
}

// read returns the configuration for a command other than the service, of one cell. It is completed as by `paylatch dev`.
func (a *app) read() (*config.Config, error) {
	cfg, n, _, err := a.readIn()
	if err != nil {
		return nil, err
	}
	return cfg.In(n), nil
}

// readIn returns the configuration of all cells and the result of cellIn.
func (a *app) readIn() (cfg *config.Config, n payment.Cell, chosen bool, err error) {
	cfg, err = config.Read(a.configFile, a.environ, dev.Beside)
	if err != nil {
		return nil, n, false, err
	}
	n, chosen, err = a.cellIn(cfg)
	return cfg, n, chosen, err
}

// readOne is read for a command on the data of one cell. If there are several cells, it refuses a command line that names none
// of them.
func (a *app) readOne() (*config.Config, error) {
	cfg, n, chosen, err := a.readIn()
	if err != nil {
		return nil, err
	}
	if !chosen && len(cfg.Cells) > 0 {
		return nil, usageError{fmt.Errorf("--cell: is missing; this command acts in one cell, and there are %s", strings.Join(cfg.Choice(), ", "))}
	}
	return cfg.In(n), nil
}

// cellIn returns the cell of the flag, or else the cell of the first account, order or paylatch id in the command line. Without any of
// these it returns cell 0 and false.
func (a *app) cellIn(cfg *config.Config) (n payment.Cell, chosen bool, err error) {
	if a.cell < 0 {
		n, chosen = cfg.CellOfArgs(a.given)
		return n, chosen, nil
	}
	if n := payment.Cell(a.cell); a.cell <= math.MaxUint16 && slices.Contains(cfg.Numbers(), n) { //nolint:gosec // checked beside it
		return n, true, nil
	}
	return payment.OnlyCell, false, usageError{fmt.Errorf("--cell: the configuration has no cell %d", a.cell)}
}

// inEach calls do with the configuration of each cell, or only of the cell of the flag. It continues if do fails in a cell.
func (a *app) inEach(do func(cfg *config.Config) error) error {
	return a.inEachOf(func() (*config.Config, error) { return config.Read(a.configFile, a.environ, dev.Beside) }, do)
}

// inEachOf is inEach of a configuration that is read in another way.
func (a *app) inEachOf(read func() (*config.Config, error), do func(cfg *config.Config) error) error {
	cfg, err := read()
	if err != nil {
		return err
	}
	if a.cell >= 0 {
		n, _, err := a.cellIn(cfg)
		if err != nil {
			return err
		}
		return do(cfg.In(n))
	}
	var failed []error
	for _, n := range cfg.Numbers() {
		err := do(cfg.In(n))
		switch {
		case len(cfg.Cells) == 0:
		case err != nil:
			err = fmt.Errorf("cell %d: %w", n, err)
		default:
			_, _ = fmt.Fprintf(a.stderr, "cell %d: done\n", n)
		}
		failed = append(failed, err)
	}
	return errors.Join(failed...)
}

// usageError is an invalid command line.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// report prints an error and returns the exit code for it. Validation errors of the
// configuration are printed as they are, one a line.
func (a *app) report(err error) int {
	var invalid config.ValidationErrors
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &invalid):
		_, _ = fmt.Fprintln(a.stderr, invalid)
		return exitUsage
	}
	_, _ = fmt.Fprintln(a.stderr, "paylatch:", inOneLine(err))
	if errors.As(err, new(usageError)) || errors.As(err, new(*payment.ValidationError)) {
		return exitUsage
	}
	return exitFailed
}
