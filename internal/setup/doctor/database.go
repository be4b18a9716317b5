package doctor

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/pool"
)

// Store has the queries for the checks of the database.
type Store interface {
	Database

	Ping(ctx context.Context) error
	Migrated(ctx context.Context) error
	Vitals(ctx context.Context) (pool.Vitals, error)
	// Listen calls ready once notices come, and goes on until ctx ends.
	Listen(ctx context.Context, ready func(), heard func(notice string)) error
	// AuditMayBeChanged reports whether the role may change tables that are append-only.
	AuditMayBeChanged(ctx context.Context) (role string, may bool, err error)
}

const (
	// clocksApart is how much clocks may differ: leases, permits and the age of webhooks are compared by two of them.
	clocksApart = 2 * time.Second
	// oldTransactions is when the ids of transactions are three quarters used up; until then autovacuum should have frozen them.
	oldTransactions = 1_500_000_000
)

// OfDatabase returns the checks of the database.
func OfDatabase(s Store, live bool, now func() time.Time) []Check {
	checks := []Check{
		{Name: answers, Run: func(ctx context.Context) []Finding {
			return failed("database_url", s.Ping(ctx), "start PostgreSQL, or correct the address, the role or its password")
		}},
		{Name: migrations, Run: func(ctx context.Context) []Finding {
			return failed(migrations, s.Migrated(ctx), "run `paylatch migrate up`")
		}},
		{Name: "session settings", Run: func(ctx context.Context) []Finding { return Demand(ctx, s, live) }},
		{Name: "role", Run: func(ctx context.Context) []Finding { return role(s.AuditMayBeChanged(ctx)) }},
		{Name: "server", Run: func(ctx context.Context) []Finding {
			asked := now()
			v, err := s.Vitals(ctx)
			return server(v, apart(v.Now, asked, now()), err)
		}},
		{Name: "notices", Run: func(ctx context.Context) []Finding { return notices(ctx, s) }},
	}
	for i := range checks[1:] {
		checks[i+1].After = answers
	}
	return checks
}

// OfCell is the check of a database's number and map of order ids, which compare reads. It comes after the checks of OfDatabase.
func OfCell(compare func(ctx context.Context) error) Check {
	return Check{Name: "cell", After: migrations, Run: func(ctx context.Context) []Finding {
		err := compare(ctx)
		if wrong := (*payment.CellMapError)(nil); errors.As(err, &wrong) {
			return []Finding{{Check: wrong.Key, Grave: true, Problem: wrong.Problem, Remedy: wrong.Remedy}}
		}
		return failed("database_url", err, "check whether the database responds, and run the doctor again")
	}}
}

const (
	// answers is the name of the check that all others of the database come after.
	answers    = "database"
	migrations = "migrations"
)

// failed is the finding for an error, or no finding if err is nil.
func failed(check string, err error, remedy string) []Finding {
	if err == nil {
		return nil
	}
	return []Finding{{Check: check, Grave: true, Problem: strings.Join(strings.Fields(err.Error()), " "), Remedy: remedy}}
}

func role(role string, may bool, err error) []Finding {
	if err != nil {
		return failed("audit log", err, "grant the role its privileges with `paylatch migrate grants`")
	}
	if !may {
		return nil
	}
	return []Finding{{
		Check: "database_url", Problem: "the role " + role + " may change the audit log and all other tables",
		Remedy: "serve with a separate role: see `paylatch migrate grants`, and \"Two roles\" in docs/how-to/operate.md",
	}}
}

// apart is the least difference between another clock and this clock. The other clock showed clock at some time between asked and answered,
// so a slow response alone makes no difference.
func apart(clock, asked, answered time.Time) time.Duration {
	return max(asked.Sub(clock), clock.Sub(answered), 0)
}

func server(v pool.Vitals, apart time.Duration, err error) []Finding {
	if err != nil {
		return failed("server", err, "check whether the server responds, and whether the role may read pg_stat_activity")
	}
	var found []Finding
	add := func(hurts bool, problem, remedy string) {
		if hurts {
			found = append(found, Finding{Check: "server", Problem: problem, Remedy: remedy})
		}
	}
	add(apart > clocksApart, fmt.Sprintf("the server's clock and this machine's clock differ by at least %s", apart.Round(time.Millisecond)), "synchronize both clocks by NTP")
	add(v.Free < v.Most, fmt.Sprintf("the server has %d free connections, and each process opens up to %d", v.Free, v.Most),
		"raise max_connections, lower pool_max_conns in database_url, or put PgBouncer in front of the server (database.pooler)")
	add(!v.Autovacuum, "autovacuum or track_counts is off: tables grow, and query plans get worse", "turn both on")
	add(len(v.Unvacuumed) > 0, "autovacuum is off for "+strings.Join(v.Unvacuumed, ", "), "run ALTER TABLE … RESET (autovacuum_enabled)")
	add(v.OldestTransaction > oldTransactions, fmt.Sprintf("the oldest transaction id is %d transactions old, and the server refuses writes at 2,146 million", v.OldestTransaction),
		"end old transactions, also prepared transactions, drop old replication slots, and run VACUUM (FREEZE)")
	add(len(v.IdleSlots) > 0, "nothing reads the replication slots "+strings.Join(v.IdleSlots, ", ")+", which fill the disk with WAL", "start their readers, or drop them")
	add(v.StandbyMissing, "commits wait for a synchronous standby, and no standby is connected: all writes get 503", "start a standby, or change synchronous_standby_names")
	return found
}

// heardWithin is how long a session may take to hear a notice.
const heardWithin = 10 * time.Second

func notices(ctx context.Context, s Store) []Finding {
	ctx, cancel := context.WithTimeout(ctx, heardWithin)
	defer cancel()
	heard := false
	err := s.Listen(ctx, func() { heard = true; cancel() }, func(string) {})
	if heard || err == nil || errors.Is(err, context.Canceled) {
		return nil
	}
	return []Finding{{
		Check: "database.direct_url", Problem: "paylatch does not receive notices of changes (" + err.Error() + "), so waiting pages check for changes once a second",
		Remedy: "set database.direct_url to PostgreSQL itself",
	}}
}
