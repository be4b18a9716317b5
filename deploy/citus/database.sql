-- Run once on the coordinator, in the database of the cells, by its owner or a superuser:
--   psql -v ON_ERROR_STOP=1 -f deploy/citus/database.sql "$COORDINATOR_URL"
-- Citus 12 or newer; tried with 13.2.2 on PostgreSQL 15. The workers are there (SELECT citus_add_node('worker-1', 5432)), and
-- wal_level = logical is set on each, for moves.

-- The triggers that guard what is written run on the worker that has the row. They read and write that cell's tables only.
SELECT format('ALTER DATABASE %I SET citus.enable_unsafe_triggers = on', current_database()) \gexec

-- The coordinator keeps no cell: it would have to move to grow.
SELECT citus_set_node_property(nodename, nodeport, 'shouldhaveshards', false) FROM pg_dist_node WHERE groupid = 0;
