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
	Config  string           `help:"Read the configuration from this file. Default: $$PAYLATCH_CONFIG, or paylatch.yaml if it exists." placeholder:"FILE"`
	Cell    int              `help:"Act in this cell. Default: the cell of the account or id that the command names. If it names none, the default is cell 0, but a command on stored data is refused if there are several cells. migrate, verify, doctor, journal and erase act in all cells." placeholder:"NUMBER" default:"-1"`
	Version kong.VersionFlag `help:"Print the version."`

	Init        initCmd        `cmd:"" help:"Write the configuration of a provider's test account, and make a first test payment."`
	Dev         devCmd         `cmd:"" help:"Run everything on this machine: a private PostgreSQL, the service and the sandbox provider."`
	Serve       serveCmd       `cmd:"" help:"Run the service."`
	Migrate     migrateCmd     `cmd:"" help:"Update the database's schema, list its migrations, or grant privileges."`
	Verify      verifyCmd      `cmd:"" help:"Derive every payment from its log again and report each difference. Exit code 1 if there is a difference."`
	Doctor      doctorCmd      `cmd:"" help:"Check the configuration, the database, the clocks and the providers, and print a remedy for each problem. Exit code 1 if there is a problem."`
	Import      importCmd      `cmd:"" help:"Import past payments, so that their refunds and chargebacks can be matched. Exit code 1 if a line was refused."`
	Erase       eraseCmd       `cmd:"" help:"Erase a customer's name from all payments; amounts stay. Exit code 1 if an order or command is still under way."`
	Backfill    backfillCmd    `cmd:"" help:"Import the events of an account from the provider's list, after an outage or a period with a wrong secret."`
	Reconcile   reconcileCmd   `cmd:"" help:"Compare a period of an account with its provider's books. Exit code 1 if something could not be compared."`
	Journal     journalCmd     `cmd:"" help:"Write a month as a double-entry journal: payments, fees and payouts."`
	Token       tokenCmd       `cmd:"" help:"Print a token."`
	Key         keyCmd         `cmd:"" help:"Create, list and revoke API keys."`
	Attempt     attemptCmd     `cmd:"" help:"Show payment attempts and look them up at their provider."`
	Event       eventCmd       `cmd:"" help:"Show providers' events and replay them."`
	Discrepancy discrepancyCmd `cmd:"" help:"List discrepancies and resolve them."`
	Refund      refundCmd      `cmd:"" help:"Refund payments."`
	Listen      listenCmd      `cmd:"" help:"Forward events to a program on this machine."`
	Endpoint    endpointCmd    `cmd:"" help:"List endpoints, send test events and redeliver events."`
	Sandbox     sandboxCmd     `cmd:"" help:"Run the sandbox provider, which misbehaves on request."`
	Conformance conformanceCmd `cmd:"" help:"Check a provider of the kind standard from outside. Exit code 1 if a check fails."`
	Rehearse    rehearseCmd    `cmd:"" help:"Pay at a shop's checkout in a browser under a bad network and count the charges. Exit code 1 if an order was charged other than once."`
	Healthcheck healthcheckCmd `cmd:"" help:"Check whether the service on this machine is alive."`

	PrintVersion versionCmd    `cmd:"" name:"version" help:"Print the version."`
	Completion   completionCmd `cmd:"" help:"Print a shell's completion script."`
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
	a.configFile, a.cell, a.given, a.model = c.Config, c.Cell, given(command), parser.Model
	zerolog.ErrorMarshalFunc = loggedError //nolint:reassign // a setting
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	command.BindTo(ctx, (*context.Context)(nil))
	return a.report(command.Run(a))
}

// given lists the values of a command line: of flags as --name=value, of arguments alone.
func given(c *kong.Context) (values []string) {
	for _, p := range c.Path {
		switch {
		case p.Flag != nil:
			values = append(values, fmt.Sprintf("--%s=%v", p.Flag.Name, p.Flag.Target.Interface()))
		case p.Positional != nil:
			values = append(values, fmt.Sprint(p.Positional.Target.Interface()))
		}
	}
	return values
}
