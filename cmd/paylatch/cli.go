package main

import (
	"context"
	"fmt"
	"os/signal"
	"slices"
	"syscall"

	"github.com/alecthomas/kong"
	"github.com/rs/zerolog"

	"github.com/paylatch/paylatch/internal/dev"
)

// cli is the command line: a field a command.
type cli struct {
	Config  string           `help:"Configuration; by default $$PAYLATCH_CONFIG, or paylatch.yaml if it exists." placeholder:"FILE"`
	Cell    int              `help:"Act in this cell; by default in that of the account or id that is named, else in 0. migrate, verify and doctor act in all." placeholder:"NUMBER" default:"-1"`
	Version kong.VersionFlag `help:"Print the version."`

	Dev         devCmd         `cmd:"" help:"Run everything on this machine: a private PostgreSQL, the service, the sandbox provider."`
	Serve       serveCmd       `cmd:"" help:"Run the service."`
	Migrate     migrateCmd     `cmd:"" help:"Bring the database's schema up to date, or show where it stands."`
	Verify      verifyCmd      `cmd:"" help:"Derive every payment from its log again and report what does not agree. Exit code 1 if anything does not."`
	Doctor      doctorCmd      `cmd:"" help:"Find what will hurt: configuration, database, clocks, providers, each with what to do. Exit code 1 if anything does."`
	Import      importCmd      `cmd:"" help:"Take payments of the past in, so that their refunds and chargebacks find them. Exit code 1 if a line was refused."`
	Erase       eraseCmd       `cmd:"" help:"Take a customer's name from all that the customer paid; the money stays. Exit code 1 if something of it is under way."`
	Backfill    backfillCmd    `cmd:"" help:"Take in what a provider lists of an account's events, after an outage or a time with a wrong secret."`
	Reconcile   reconcileCmd   `cmd:"" help:"Compare a span of an account with its provider's books. Exit code 1 if something could not be compared."`
	Token       tokenCmd       `cmd:"" help:"Print a token."`
	Attempt     attemptCmd     `cmd:"" help:"Look at payment attempts."`
	Event       eventCmd       `cmd:"" help:"Look at providers' events and apply them again."`
	Discrepancy discrepancyCmd `cmd:"" help:"Look at what a person must settle."`
	Refund      refundCmd      `cmd:"" help:"Refund payments."`
	Listen      listenCmd      `cmd:"" help:"Forward events to a program on this machine."`
	Endpoint    endpointCmd    `cmd:"" help:"Look at deliveries of events, and have them made again."`
	Sandbox     sandboxCmd     `cmd:"" help:"Run the payment provider that misbehaves on request."`
	Conformance conformanceCmd `cmd:"" help:"Check a provider of the kind standard from outside. Exit code 1 if a check has failed."`
	Healthcheck healthcheckCmd `cmd:"" help:"Ask the service on this machine whether it is alive."`

	PrintVersion versionCmd    `cmd:"" name:"version" help:"Print the version."`
	Completion   completionCmd `cmd:"" help:"Print what makes a shell complete commands and flags."`
}

type versionCmd struct{}

// Run prints the version alone.
func (*versionCmd) Run(a *app) error {
	_, err := fmt.Fprintln(a.stdout, version)
	return err //nolint:wrapcheck // the error is complete
}

// run runs the command that args name and returns the exit code.
func (a *app) run(args []string) int {
	var c cli
	parser, err := kong.New(&c, kong.Name("paylatch"), kong.Description("Takes payments exactly once."),
		kong.Vars{"version": version, "dev_sandbox": dev.SandboxListen}, kong.Writers(a.stdout, a.stderr))
	if err != nil {
		panic(err) // the struct above is invalid
	}
	if len(args) > 0 && args[0] == "help" {
		args = append(slices.Clone(args[1:]), "--help")
	}
	command, err := parser.Parse(args)
	if err != nil {
		return a.report(usageError{err})
	}
	if name := command.Command(); c.Cell >= 0 && (name == "serve" || name == "dev") {
		return a.report(usageError{fmt.Errorf("--cell: %s serves all cells of its configuration; leave it out", name)})
	}
	a.configFile, a.cell, a.args, a.model = c.Config, c.Cell, args, parser.Model
	zerolog.ErrorMarshalFunc = loggedError //nolint:reassign // a setting
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	command.BindTo(ctx, (*context.Context)(nil))
	return a.report(command.Run(a))
}
