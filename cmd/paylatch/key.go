package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/paylatch/paylatch/internal/api"
	"github.com/paylatch/paylatch/internal/api/render"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/backoffice/apikey"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/dev"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/terminal"
	"github.com/paylatch/paylatch/internal/setup/config"
)

type keyCmd struct {
	Create keyCreateCmd `cmd:"" help:"Create an API key and print it. It is never shown again."`
	List   keyListCmd   `cmd:"" help:"List the API keys."`
	Revoke keyRevokeCmd `cmd:"" help:"Revoke an API key. All processes refuse it within a second."`
}

// withKeys calls do with the API keys on the configured database. Cell 0 has the keys of all cells.
func withKeys(ctx context.Context, a *app, do func(keys *apikey.Service, who support.Staff) error) error {
	cfg, err := config.Read(a.configFile, a.environ, dev.Beside)
	if err != nil {
		return err
	}
	if a.cell > int(payment.OnlyCell) {
		return usageError{fmt.Errorf("--cell: cell %d has the API keys of all cells; leave it out", payment.OnlyCell)}
	}
	cfg = cfg.In(payment.OnlyCell)
	return withDatabase(cfg, func(dsn string) error {
		store, err := openPatient(ctx, cfg, dsn)
		if err != nil {
			return err
		}
		defer store.Close()
		if err := store.Migrated(ctx); err != nil {
			return err
		}
		return do(apikey.New(store.APIKeys(), api.Scopes(), now), support.Operator())
	})
}

type keyCreateCmd struct {
	Name  string         `required:"" placeholder:"TEXT" help:"The name of the program that uses the key."`
	Role  []payment.Role `required:"" placeholder:"ROLE" enum:"service,support,admin" help:"A role of the key (${enum}). Repeat the flag for several roles."`
	Scope []authz.Scope  `placeholder:"SCOPE" help:"A scope of the key, such as orders:read. Repeat the flag for several scopes. Default: everything that the roles allow."`
	TTL   time.Duration  `name:"ttl" help:"How long the key is valid. Default: until it is revoked."`
	JSON  bool           `help:"Print the API's response."`
}

// Run prints the key alone, so that a shell can use it. The rest goes to the errors.
func (c *keyCreateCmd) Run(ctx context.Context, a *app) error {
	cmd := apikey.Create{Name: c.Name, Roles: c.Role, Scopes: c.Scope}
	if c.TTL < 0 {
		return usageError{errors.New("--ttl must be longer than 0")}
	}
	if c.TTL > 0 {
		cmd.ExpiresAt = new(now().Add(c.TTL))
	}
	return withKeys(ctx, a, func(keys *apikey.Service, who support.Staff) error {
		made, text, err := keys.Create(ctx, who, cmd)
		if err != nil {
			return err
		}
		if c.JSON {
			return terminal.JSON(a.stdout, render.NewKey(made, text))
		}
		_, _ = fmt.Fprintf(a.stderr, "API key %s was created. Keep it now: only its hash is stored.\n", made.ID)
		_, err = fmt.Fprintln(a.stdout, text)
		return err //nolint:wrapcheck // the error is complete
	})
}

type keyListCmd struct {
	Limit  int    `default:"100" help:"List at most this many, 1 to 100 (${default})."`
	Cursor string `placeholder:"CURSOR" help:"Continue after this cursor, which the previous page printed."`
	JSON   bool   `help:"Print the API's response."`
}

// Run lists the keys, newest first.
func (c *keyListCmd) Run(ctx context.Context, a *app) error {
	page, err := support.ParsePage(c.Cursor, strconv.Itoa(c.Limit))
	if err != nil {
		return usageError{err}
	}
	return withKeys(ctx, a, func(keys *apikey.Service, who support.Staff) error {
		list, next, err := keys.Keys(ctx, who, page)
		if err != nil {
			return err
		}
		if c.JSON {
			return terminal.JSON(a.stdout, render.Keys(list, next))
		}
		if len(list) == 0 {
			_, err := fmt.Fprintln(a.stdout, "There is no API key.")
			return err //nolint:wrapcheck // the error is complete
		}
		w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
		_, _ = fmt.Fprintln(w, "NAME\tKEY\tROLES\tSCOPES\tCREATED (UTC)\tBY\tLAST USED (UTC)\tEXPIRES (UTC)\tID")
		for _, k := range list {
			_, _ = fmt.Fprintf(w, "%s\t%s…\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", terminal.Visible(k.Name), k.Prefix, joined(k.Roles), orAll(joined(k.Scopes)),
				terminal.Time(k.CreatedAt), terminal.Visible(k.CreatedBy), stampOrNone(k.LastUsedAt), stampOrNone(k.ExpiresAt), k.ID)
		}
		if next != "" {
			_, _ = fmt.Fprintln(w, "More keys: --cursor "+next)
		}
		return w.Flush()
	})
}

func joined[T ~string](list []T) string {
	texts := make([]string, len(list))
	for i, item := range list {
		texts[i] = string(item)
	}
	return strings.Join(texts, ",")
}

func orAll(scopes string) string {
	if scopes == "" {
		return "all"
	}
	return scopes
}

type keyRevokeCmd struct {
	ID string `arg:"" help:"The key's id, which the list shows."`
}

// Run revokes a key.
func (c *keyRevokeCmd) Run(ctx context.Context, a *app) error {
	id, err := apikey.ParseID(c.ID)
	if err != nil {
		return usageError{fmt.Errorf("%w: give its id, which `paylatch key list` shows", err)}
	}
	return withKeys(ctx, a, func(keys *apikey.Service, who support.Staff) error {
		k, err := keys.Revoke(ctx, who, id)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(a.stdout, "API key %s (%s) is revoked.\n", k.ID, terminal.Visible(k.Name))
		return err //nolint:wrapcheck // the error is complete
	})
}
