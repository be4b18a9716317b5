-- Run once on the coordinator, in the database of the cells, by a superuser:
--   psql -v ON_ERROR_STOP=1 -f deploy/citus/database.sql "$COORDINATOR_URL"
-- It needs Citus 12 or newer (tried with 13.2.2 on PostgreSQL 15), workers (SELECT citus_add_node('worker-1', 5432)), and, for moves,
-- wal_level = logical on each.

-- The triggers that guard writes run on the worker with the row. They read and write only that cell's tables.
SELECT format('ALTER DATABASE %I SET citus.enable_unsafe_triggers = on', current_database()) \gexec

-- The coordinator keeps no cell: the cell would have to move before it can grow.
SELECT citus_set_node_property(nodename, nodeport, 'shouldhaveshards', false) FROM pg_dist_node WHERE groupid = 0;
