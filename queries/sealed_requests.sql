-- Keeps the sealed content of new operations.
-- name: SealedRequestsInsert :exec
INSERT INTO sealed_requests (attempt_id, kind, number, sealed, created_at)
SELECT n.attempt_id, n.kind, n.number, n.sealed, n.created_at
FROM (SELECT unnest(@attempt_ids::uuid[]) AS attempt_id, unnest(@kinds::text[]) AS kind, unnest(@numbers::int[]) AS number,
    unnest(@sealed::bytea[]) AS sealed, unnest(@created_ats::timestamptz[]) AS created_at) n
RETURNING 1;

-- Reads the sealed content of an operation. Locks nothing.
-- name: SealedRequestRead :one
SELECT sealed FROM sealed_requests WHERE attempt_id = @attempt_id AND kind = @kind AND number = @number;

-- Erases the sealed content of some operations, if there is any. The caller has locked their attempts.
-- name: SealedRequestsErase :exec
DELETE FROM sealed_requests s
USING (SELECT unnest(@attempt_ids::uuid[]) AS attempt_id, unnest(@kinds::text[]) AS kind, unnest(@numbers::int[]) AS number) n
WHERE s.attempt_id = n.attempt_id AND s.kind = n.kind AND s.number = n.number;

-- Erases a limited number of contents that are older than the time to keep. Skips locked rows.
-- name: SealedRequestsPurge :execrows
DELETE FROM sealed_requests s
USING (
    SELECT old.attempt_id, old.kind, old.number FROM sealed_requests old
    WHERE old.created_at < now() - make_interval(secs => @keep::float8)
    LIMIT sqlc.arg(most)::int
    FOR UPDATE SKIP LOCKED) n
WHERE s.attempt_id = n.attempt_id AND s.kind = n.kind AND s.number = n.number;
