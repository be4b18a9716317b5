package migrations

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Served returns what serving does with each table beside reading it, as privileges of PostgreSQL: empty for what is only read. What
// is append-only has no UPDATE and no DELETE.
func Served() map[string][]string {
	const insert, update, remove = "INSERT", "UPDATE", "DELETE"
	return map[string][]string{
		"account_entries":     {insert, update},
		"account_merchants":   {insert, update},
		"account_webhooks":    {insert, update},
		"api_keys":            {insert, update, remove},
		"attempt_log":         {insert},
		"attempt_references":  {insert},
		"attempt_transitions": {insert},
		"lifted_guards":       {},
		"money_movements":     {insert},
		"cell_maps":           {insert, update, remove},
		"data_keys":           {insert, update},
		"discrepancies":       {insert, update},
		"disputes":            {insert, update},
		"dispute_moves":       {insert},
		"endpoint_deliveries": {insert, remove},
		"endpoint_retries":    {insert, update, remove},
		"endpoints":           {insert, update},
		"event_bytes":         {insert, remove},
		"erased_requests":     {},
		"erasures":            {},
		"feed_epochs":         {insert},
		"final_cursors":       {insert, update},
		"final_lookups":       {insert, update, remove},
		"goose_db_version":    {},
		"hourly_outcomes":     {insert, update, remove},
		"hourly_progress":     {update},
		"idempotency_keys":    {insert, update, remove},
		"key_quotas":          {insert, update},
		"operations":          {insert, update},
		"noticed_endpoints":   {insert, update},
		"noticed_requests":    {insert},
		"notices":             {insert, update},
		"orders":              {insert, update},
		"outbox":              {insert, remove},
		"outbox_batches":      {insert, update, remove},
		"outbox_head":         {update},
		"pay_holds":           {insert, update},
		"payment_attempts":    {insert, update},
		"payouts":             {insert, update},
		"provider_events":     {insert, update},
		"reconciliations":     {insert, update},
		"refund_requests":     {insert, update},
		"refunds":             {insert, update},
		"rejected_deliveries": {insert, update, remove},
		"saved_methods":       {insert, update},
		"sealed_details":      {insert, update, remove},
		"sealed_requests":     {insert, update, remove},
		"search_cursors":      {update},
		"search_orders":       {insert, update},
		"search_payments":     {insert, update},
		"service_marks":       {update},
		"service_processes":   {insert, update, remove},
		"sessions":            {insert, update, remove},
		"settlements":         {insert, update},
		"webhook_deliveries":  {insert, update},
		"worklist_comments":   {insert},
		"worklist_turns":      {update},
		"staff_audit":         {insert},
		"streams":             {insert, update},
		"support_job_items":   {insert},
		"support_jobs":        {insert, update},
	}
}

// called returns the functions that statements and triggers call by name; the triggers' own need no right.
func called(schema string) []string {
	return []string{
		schema + ".must_touch(text, bigint, bigint)", schema + ".audit_hash(" + schema + ".staff_audit)",
		schema + ".outbox_id(uuid, bigint)", schema + ".settlement_id(text, text)",
		schema + ".entry_net(text, bigint, text, bigint, bigint, text)", //nolint:dupword // its types
		schema + ".purge_audit(interval, uuid, integer)", schema + ".purge_attempt_log(interval, uuid, integer)",
		schema + ".make_event_bytes()", schema + ".old_event_bytes(interval)", schema + ".drop_event_bytes(date, interval)",
	}
}

// Why a role can't be the one that serves.
var (
	// ErrNoRole is returned when the role does not exist.
	ErrNoRole = errors.New("there is no such role; make it: CREATE ROLE … LOGIN PASSWORD '…'")
	// ErrUnbound is returned for a role that grants do not bind: a superuser, the owner of the tables or a member of such a role.
	ErrUnbound = errors.New("grants do not bind this role")
	// ErrMore is returned when the role may do more than serving needs by other ways than its own grants.
	ErrMore = errors.New("the role may do more than serving needs, through PUBLIC or a role that it is a member of")
)

// Grant gives a role exactly what serving needs, in one transaction: what it had of the tables beyond that is revoked. It returns the
// statements; dry, it executes none. The session must own the tables, and the database must be at Required or beyond. Beyond, Grant revokes
// nothing: processes of the newer version may need what this binary does not know. The same again changes nothing. It returns ErrBehind,
// ErrNoRole, ErrUnbound and ErrMore.
func Grant(ctx context.Context, dsn, role string, dry bool) (statements []string, err error) {
	conn, err := connect(ctx, dsn)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		statements, err = grant(ctx, tx, role, dry)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("grant to %s: %w", role, err)
	}
	return statements, nil
}

func grant(ctx context.Context, tx pgx.Tx, role string, dry bool) ([]string, error) {
	if err := Check(ctx, tx); err != nil {
		return nil, err
	}
	// Two processes that grant at once would fail: tuple concurrently updated.
	if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock(hashtextextended('paylatch grants ' || current_schema(), 0))"); err != nil {
		return nil, fmt.Errorf("wait for others: %w", err)
	}
	if err := bound(ctx, tx, role); err != nil {
		return nil, err
	}
	var schema string
	if err := tx.QueryRow(ctx, "SELECT relnamespace::regnamespace::text FROM pg_class WHERE oid = 'staff_audit'::regclass").Scan(&schema); err != nil {
		return nil, fmt.Errorf("find the schema: %w", err)
	}
	version, err := Version(ctx, tx)
	if err != nil {
		return nil, err
	}
	newer := version > Required()
	statements := grants(schema, pgx.Identifier{role}.Sanitize())
	if newer {
		statements = slices.DeleteFunc(statements, func(s string) bool { return strings.HasPrefix(s, "REVOKE") })
	}
	if dry {
		return statements, nil
	}
	for _, s := range statements {
		if _, err := tx.Exec(ctx, s); err != nil {
			return nil, fmt.Errorf("%s: %w", s, err)
		}
	}
	if newer {
		return statements, nil
	}
	return statements, exactly(ctx, tx, role)
}

// grants returns the statements for a schema and a role, both quoted.
func grants(schema, role string) []string {
	list := []string{
		"REVOKE ALL ON ALL TABLES IN SCHEMA " + schema + " FROM " + role,
		"REVOKE ALL ON ALL SEQUENCES IN SCHEMA " + schema + " FROM " + role,
		"REVOKE CREATE ON SCHEMA " + schema + " FROM " + role,
		"GRANT USAGE ON SCHEMA " + schema + " TO " + role,
		"GRANT EXECUTE ON FUNCTION " + strings.Join(called(schema), ", ") + " TO " + role,
	}
	served := Served()
	for _, table := range slices.Sorted(maps.Keys(served)) {
		list = append(list, fmt.Sprintf("GRANT %s ON %s.%s TO %s", strings.Join(append([]string{"SELECT"}, served[table]...), ", "), schema, table, role))
	}
	return list
}

// bound returns ErrNoRole or ErrUnbound for a role that can't serve.
func bound(ctx context.Context, tx pgx.Tx, role string) error {
	var super, creates bool
	err := tx.QueryRow(ctx, "SELECT rolsuper, rolcreaterole FROM pg_roles WHERE rolname = $1", role).Scan(&super, &creates)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return ErrNoRole
	case err != nil:
		return fmt.Errorf("read the role: %w", err)
	case super:
		return fmt.Errorf("%w: it is a superuser", ErrUnbound)
	case creates:
		return fmt.Errorf("%w: it may create roles, and make itself a member of others", ErrUnbound)
	}
	// The owner of the schema or the database may drop what is in it.
	rows, err := tx.Query(ctx, `
		SELECT DISTINCT 'it is, or is a member of, ' || why || ' ' || r.rolname FROM pg_roles r JOIN (
			SELECT relowner AS oid, 'the owner of the tables,' AS why FROM pg_class
				WHERE relkind IN ('r', 'p') AND relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'staff_audit'::regclass)
			UNION ALL SELECT nspowner, 'the owner of the schema,' FROM pg_namespace
				WHERE oid = (SELECT relnamespace FROM pg_class WHERE oid = 'staff_audit'::regclass)
			UNION ALL SELECT datdba, 'the owner of the database,' FROM pg_database WHERE datname = current_database()
			UNION ALL SELECT oid, 'the superuser' FROM pg_roles WHERE rolsuper
			UNION ALL SELECT oid, 'the role' FROM pg_roles WHERE rolname IN ('pg_write_server_files', 'pg_execute_server_program')
		) o USING (oid) WHERE pg_has_role($1::name, r.oid, 'MEMBER') ORDER BY 1`, role)
	if err != nil {
		return fmt.Errorf("read the owners: %w", err)
	}
	why, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("read the owners: %w", err)
	}
	if len(why) > 0 {
		return fmt.Errorf("%w: %s", ErrUnbound, strings.Join(why, "; "))
	}
	return nil
}

// exactly returns ErrMore where the role may do what was not granted to it.
func exactly(ctx context.Context, tx pgx.Tx, role string) error {
	var more []string
	//nolint:rowserrcheck // ForEachRow checks it
	rows, err := tx.Query(ctx, `
		WITH ours AS (SELECT relnamespace AS schema FROM pg_class WHERE oid = 'staff_audit'::regclass)
		SELECT c.relname::text, p FROM ours, pg_class c, unnest(ARRAY['INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER']) p
		WHERE c.relkind IN ('r', 'p') AND c.relnamespace = ours.schema AND CASE WHEN p IN ('INSERT', 'UPDATE', 'REFERENCES')
			THEN has_any_column_privilege($1::name, c.oid, p) ELSE has_table_privilege($1::name, c.oid, p) END
		UNION ALL SELECT 'the schema', 'CREATE' FROM ours WHERE has_schema_privilege($1::name, ours.schema, 'CREATE')
		ORDER BY 1, 2`, role)
	if err != nil {
		return fmt.Errorf("read what was granted: %w", err)
	}
	served := Served()
	var table, privilege string
	_, err = pgx.ForEachRow(rows, []any{&table, &privilege}, func() error {
		if !slices.Contains(served[table], privilege) {
			more = append(more, privilege+" on "+table)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("read what was granted: %w", err)
	}
	if len(more) > 0 {
		return fmt.Errorf("%w: %s", ErrMore, strings.Join(more, ", "))
	}
	return nil
}

// connect opens a connection to an address, which may contain a pool size.
func connect(ctx context.Context, dsn string) (*pgx.Conn, error) {
	cfg, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	conn, err := pgx.ConnectConfig(ctx, cfg.ConnConfig)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	return conn, nil
}

// Granted lists the roles to which Grant gave what serving needs, by what they may do now; none for a session that does not own the
// tables, and can't grant.
func Granted(ctx context.Context, dsn string) ([]string, error) {
	conn, err := connect(ctx, dsn)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	rows, err := conn.Query(ctx, `
		SELECT DISTINCT r.rolname::text FROM pg_class c, aclexplode(c.relacl) g JOIN pg_roles r ON r.oid = g.grantee
		WHERE c.oid = to_regclass('staff_audit') AND g.privilege_type = 'INSERT' AND g.grantee <> c.relowner AND pg_has_role(c.relowner, 'MEMBER') ORDER BY 1`)
	if err != nil {
		return nil, fmt.Errorf("list the roles that serve: %w", err)
	}
	roles, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("list the roles that serve: %w", err)
	}
	return roles, nil
}
