-- Makes an empty cell, on the worker with the fewest cells:
--   psql -v ON_ERROR_STOP=1 -v cell=cell_1 -v owner=paylatch_owner -f deploy/citus/cell.sql "$COORDINATOR_URL"
-- Then run, as that role, `paylatch migrate up` with the address of the cell:
--   postgres://paylatch_owner:…@coordinator:5432/paylatch?search_path=cell_1&plan_cache_mode=auto
SET citus.enable_schema_based_sharding = on;
CREATE SCHEMA :"cell" AUTHORIZATION :"owner";
SELECT schema_name, colocation_id FROM citus_schemas WHERE schema_name = :'cell'::regnamespace;
