-- Keeps the map of cells unchanged until this transaction ends. Waits for a change of the map.
-- name: CellMapShare :exec
SELECT pg_advisory_xact_lock_shared(hashtextextended('paylatch cell map ' || current_schema(), 0));

-- Waits until every transaction that creates an order under the present map has ended, and keeps new ones waiting.
-- name: CellMapLock :exec
SELECT pg_advisory_xact_lock(hashtextextended('paylatch cell map ' || current_schema(), 0));

-- Reads the open maps, the oldest first. Locks nothing.
-- name: CellMapsOpen :many
SELECT epoch, number, prefixes FROM cell_maps WHERE closed_at IS NULL ORDER BY epoch;

-- Reads all maps, the oldest first. Locks nothing.
-- name: CellMapsRead :many
SELECT epoch, number, prefixes, (closed_at IS NULL)::boolean AS open FROM cell_maps ORDER BY epoch;

-- Inserts an open map, or nothing if the epoch is taken.
-- name: CellMapInsert :execrows
INSERT INTO cell_maps (epoch, number, prefixes) VALUES (@epoch, @number, @prefixes) ON CONFLICT DO NOTHING;

-- Closes the maps before an epoch.
-- name: CellMapsClose :exec
UPDATE cell_maps SET closed_at = now() WHERE closed_at IS NULL AND epoch < @epoch;

-- Deletes an open map that was refused.
-- name: CellMapDelete :exec
DELETE FROM cell_maps WHERE epoch = @epoch AND closed_at IS NULL;

-- Reads the first order of a range of ids. Locks nothing.
-- name: OrderInRange :one
SELECT order_id FROM orders WHERE order_id COLLATE "C" >= @low::text AND order_id COLLATE "C" < @high::text
ORDER BY order_id COLLATE "C" LIMIT 1;

-- Reads the first order that it finds among all ids that begin with ord_. With Among the id has the form that paylatch creates, and its third
-- group of digits is in Groups. Otherwise it is any other ord_ id. It may read all these ids. Locks nothing.
-- name: OrderOwn :one
SELECT order_id FROM orders WHERE order_id COLLATE "C" >= 'ord_' AND order_id COLLATE "C" < 'ord`'
AND (substr(order_id, 19, 4) = ANY (@groups::text[]) AND order_id ~ '^ord_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$') = @among::boolean
LIMIT 1;

-- Reads the oldest and the newest attempt. Their ids have the number of their cell. Locks nothing.
-- name: AttemptsAtEnds :many
(SELECT attempt_id FROM payment_attempts ORDER BY attempt_id LIMIT 1)
UNION ALL (SELECT attempt_id FROM payment_attempts ORDER BY attempt_id DESC LIMIT 1);
