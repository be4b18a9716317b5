-- Keeps rejected deliveries.
-- name: RejectedInsert :exec
INSERT INTO rejected_deliveries (delivery_id, account, sealed, tried, network, received_at)
SELECT n.delivery_id, n.account, n.sealed, ARRAY[n.tried], n.network, n.received_at
FROM (SELECT unnest(@delivery_ids::uuid[]) AS delivery_id, unnest(@accounts::text[]) AS account, unnest(@sealed::bytea[]) AS sealed,
    unnest(@tried::bytea[]) AS tried, unnest(@networks::smallint[]) AS network, unnest(@received_ats::timestamptz[]) AS received_at) n
RETURNING 1;

-- Deletes the oldest deliveries, so that each account keeps at most @most deliveries and @most_bytes, and each network of an
-- account half of that. Skips locked rows; the next call deletes them.
-- name: RejectedTrim :execrows
DELETE FROM rejected_deliveries r
USING (
    SELECT old.delivery_id FROM rejected_deliveries old JOIN (
        SELECT h.delivery_id, h.much, row_number() OVER newest AS place, sum(h.size) OVER newest AS bytes FROM (
            SELECT k.delivery_id, k.account, octet_length(k.sealed) AS size,
                row_number() OVER nearest > sqlc.arg(most)::bigint / 2 OR sum(octet_length(k.sealed)) OVER nearest > sqlc.arg(most_bytes)::bigint / 2 AS much
            FROM rejected_deliveries k WHERE k.account = ANY (@accounts::text[])
            WINDOW nearest AS (PARTITION BY k.account, k.network ORDER BY k.delivery_id DESC)
        ) h
        WINDOW newest AS (PARTITION BY h.account ORDER BY h.much, h.delivery_id DESC)
    ) p ON p.delivery_id = old.delivery_id
    WHERE p.place > sqlc.arg(most)::bigint OR p.bytes > sqlc.arg(most_bytes)::bigint
    FOR UPDATE OF old SKIP LOCKED) n
WHERE r.delivery_id = n.delivery_id;

-- Reads deliveries of some accounts behind a cursor that the account's present configuration has not verified, the oldest first.
-- Stops shortly after @most_bytes. Locks nothing.
-- name: RejectedUntried :many
SELECT n.delivery_id, n.account, n.sealed, n.received_at FROM (
    SELECT r.delivery_id, r.account, r.sealed, r.received_at,
        sum(octet_length(r.sealed)) OVER (ORDER BY r.delivery_id) - octet_length(r.sealed) AS before
    FROM rejected_deliveries r
    JOIN (SELECT unnest(@accounts::text[]) AS account, unnest(@fingerprints::bytea[]) AS fingerprint) a ON a.account = r.account
    WHERE r.delivery_id > @after AND a.fingerprint <> ALL (r.tried)
    ORDER BY r.delivery_id LIMIT sqlc.arg(most)::int
) n WHERE n.before < sqlc.arg(most_bytes)::bigint
ORDER BY n.delivery_id;

-- Records the configurations that refused some deliveries, each once.
-- name: RejectedTried :exec
UPDATE rejected_deliveries r SET tried = r.tried || n.fingerprint
FROM (SELECT unnest(@delivery_ids::uuid[]) AS delivery_id, unnest(@fingerprints::bytea[]) AS fingerprint) n
WHERE r.delivery_id = n.delivery_id AND n.fingerprint <> ALL (r.tried);

-- Deletes deliveries that were accepted.
-- name: RejectedErase :exec
DELETE FROM rejected_deliveries WHERE delivery_id = ANY (@delivery_ids::uuid[]);

-- Deletes a limited number of deliveries that are older than the time to keep. Skips locked rows.
-- name: RejectedPurge :execrows
DELETE FROM rejected_deliveries r
USING (
    SELECT old.delivery_id FROM rejected_deliveries old
    WHERE old.received_at < now() - make_interval(secs => @keep::float8)
    LIMIT sqlc.arg(most)::int
    FOR UPDATE SKIP LOCKED) n
WHERE r.delivery_id = n.delivery_id;

-- Counts the kept deliveries by account. Locks nothing.
-- name: RejectedCount :many
SELECT account, count(*) AS kept FROM rejected_deliveries GROUP BY account;
