package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/paylatch/paylatch/internal/config"
	"github.com/paylatch/paylatch/internal/dev"
	"github.com/paylatch/paylatch/internal/payment"
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
	configFile     string
	environ        []string
	stdout, stderr io.Writer
}

// read returns the configuration for a command other than the service. It is completed
// as by `paylatch dev`.
func (a *app) read() (*config.Config, error) {
	return config.Read(a.configFile, a.environ, dev.Beside)
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
	_, _ = fmt.Fprintln(a.stderr, "paylatch:", err)
	if errors.As(err, new(usageError)) || errors.As(err, new(*payment.ValidationError)) {
		return exitUsage
	}
	return exitFailed
}
