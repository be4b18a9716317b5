package pool

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Vitals is how a server and a database are.
type Vitals struct {
	// Version is server_version_num, such as 150006.
	Version int
	// Now is the server's clock.
	Now time.Time
	// Free is how many connections are left for roles that are no superusers. Most is how many this pool opens.
	Free, Most int
	// Autovacuum is whether the server vacuums by itself. Unvacuumed are the tables whose settings exclude them.
	Autovacuum bool
	Unvacuumed []string
	// OldestTransaction is the age of the oldest transaction id that is not frozen; at 2,146 million the server takes no writes.
	OldestTransaction int64
	// IdleSlots are the replication slots without a reader that keep over a GiB of WAL.
	IdleSlots []string
	// StandbyMissing is set where commits wait for a synchronous standby, and no standby is connected. A role without pg_read_all_stats
	// does not see which standbys are synchronous: any standby counts.
	StandbyMissing bool
}

const vitals = `SELECT current_setting('server_version_num')::int, clock_timestamp(),
	current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
		- (SELECT count(*)::int FROM pg_stat_activity WHERE backend_type = 'client backend'),
	current_setting('autovacuum')::bool AND current_setting('track_counts')::bool,
	ARRAY(SELECT c.relname::text FROM pg_class c WHERE c.relnamespace = quote_ident(current_schema())::regnamespace AND c.relkind = 'r'
		AND c.reloptions && ARRAY['autovacuum_enabled=false', 'autovacuum_enabled=off'] ORDER BY 1),
	(SELECT max(age(datfrozenxid))::bigint FROM pg_database),
	ARRAY(SELECT slot_name::text FROM pg_replication_slots WHERE NOT active
		AND NOT pg_is_in_recovery() AND pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn) > 1 << 30 ORDER BY 1),
	current_setting('synchronous_standby_names') <> '' AND current_setting('synchronous_commit') NOT IN ('off', 'local')
		AND NOT EXISTS (SELECT FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum') OR sync_state IS NULL)`

// Vitals reads the state of the server. A role that may not see other sessions counts only its own sessions, and no
// slots.
func (p *Pool) Vitals(ctx context.Context) (Vitals, error) {
	v := Vitals{Most: int(p.conns.Config().MaxConns) + asideConns + 2}
	err := p.on(ctx, p.conns, func(ctx context.Context, c *pgxpool.Conn) error {
		err := c.QueryRow(ctx, vitals, pgx.QueryExecModeCacheDescribe).Scan(&v.Version, &v.Now, &v.Free, &v.Autovacuum, &v.Unvacuumed,
			&v.OldestTransaction, &v.IdleSlots, &v.StandbyMissing)
		if err != nil {
			return fmt.Errorf("read how the server is: %w", err)
		}
		return nil
	})
	return v, err
}
