package doctor

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/paylatch/paylatch/internal/postgres/pool"
)

// Database has the queries for the demands on a database.
type Database interface {
	Durable(ctx context.Context) error
	Settings(ctx context.Context) (role string, err error)
}

// Demand returns the demands that a database violates: that commits are durable, which is required in live only, and that
// sessions have the settings that bound the locks of a frozen process. A database that does not answer has no findings.
func Demand(ctx context.Context, db Database, live bool) []Finding {
	return append(durability(db.Durable(ctx), live), settings(db.Settings(ctx))...)
}

func durability(err error, live bool) []Finding {
	weak, found := errors.AsType[*pool.NotDurableError](err)
	if !found {
		return nil
	}
	list := make([]Finding, len(weak.Settings))
	for i, name := range weak.Settings {
		list[i] = Finding{
			Check: "database_url", Grave: live, Problem: name + " is off, so a confirmed payment can be lost",
			Remedy: "turn the setting on for the server, the database and the role, or set environment to test",
		}
		setting, worker, elsewhere := strings.Cut(name, " of the worker ")
		if elsewhere {
			list[i].Remedy = fmt.Sprintf("turn %s on at %s for the server, the database and the role, or set environment to test", setting, worker)
		}
		if setting != "synchronous_commit" {
			list[i].Remedy += ", or set database.durability to storage if the storage keeps commits (Aurora, Neon)"
		}
	}
	return list
}

func settings(role string, err error) []Finding {
	if refused, is := errors.AsType[*pool.PoolerError](err); is {
		return []Finding{{
			Check: "database_url", Grave: true, Problem: refused.Error(),
			Remedy: "set database.pooler to transaction and database.direct_url to PostgreSQL itself, or database_url to PostgreSQL itself",
		}}
	}
	lacking, found := errors.AsType[*pool.SettingsError](err)
	if !found {
		return nil
	}
	list := make([]Finding, len(lacking.Settings))
	for i, s := range lacking.Settings {
		list[i] = Finding{
			Check: "database_url", Grave: true, Problem: fmt.Sprintf("the pooler's sessions have %s set to %s", s.Name, s.Value),
			Remedy: fmt.Sprintf("run %s, and make the pooler start new sessions", s.Remedy(role)),
		}
	}
	return list
}
