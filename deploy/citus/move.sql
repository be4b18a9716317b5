-- Moves a cell to another worker, while it serves:
--   psql -v cell=cell_1 -v host=worker-2 -v port=5432 -f deploy/citus/move.sql "$COORDINATOR_URL"
-- Writes wait at the end, and no write fails. Logical replication copies the tables, except for UNLOGGED tables. So
-- these are logged for the time of the move; each is small, and locked while it is rewritten.
\set ON_ERROR_STOP on
SELECT coalesce(string_agg(result, ''), '') <> '' AS weak FROM run_command_on_workers($$
    SELECT string_agg(name, ' ') FROM pg_settings WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit') AND reset_val = 'off'
$$) WHERE nodename = :'host' AND nodeport = :port \gset
\if :weak
    DO $$ BEGIN RAISE EXCEPTION 'that worker may lose commits: turn on fsync, full_page_writes and synchronous_commit there'; END $$;
\endif
CREATE TEMPORARY TABLE unlogged AS SELECT oid::regclass AS name FROM pg_class
    WHERE relkind = 'r' AND relpersistence = 'u' AND relnamespace = quote_ident(:'cell')::regnamespace;
SELECT format('ALTER TABLE %s SET LOGGED', name) FROM unlogged \gexec
\set ON_ERROR_STOP off
SELECT citus_schema_move(quote_ident(:'cell')::regnamespace, :'host', :port);
\set failed :ERROR
\set ON_ERROR_STOP on
SELECT format('ALTER TABLE %s SET UNLOGGED', name) FROM unlogged \gexec
\if :failed
    DO $$ BEGIN RAISE EXCEPTION 'the cell was not moved: it serves where it was'; END $$;
\endif
SELECT DISTINCT nodename, nodeport FROM citus_shards s JOIN pg_class c ON c.oid = s.table_name
    WHERE c.relnamespace = quote_ident(:'cell')::regnamespace;
