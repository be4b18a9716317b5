-- Keeps the tokens of new attempts.
-- name: SealedTokensInsert :exec
INSERT INTO sealed_tokens (attempt_id, sealed, created_at)
SELECT n.attempt_id, n.sealed, n.created_at
FROM (SELECT unnest(@attempt_ids::uuid[]) AS attempt_id, unnest(@sealed::bytea[]) AS sealed, unnest(@created_ats::timestamptz[]) AS created_at) n;

-- Reads the token of an attempt; locks nothing.
-- name: SealedTokenRead :one
SELECT sealed FROM sealed_tokens WHERE attempt_id = @attempt_id;

-- Erases the tokens of some attempts, which the caller has locked, as far as there are
-- any.
-- name: SealedTokensErase :exec
DELETE FROM sealed_tokens WHERE attempt_id = ANY (@attempt_ids::uuid[]);

-- Erases the tokens that are older than the time to keep them, as many as are asked
-- for; skips what is locked.
-- name: SealedTokensPurge :execrows
DELETE FROM sealed_tokens
WHERE attempt_id = ANY (ARRAY(
    SELECT old.attempt_id FROM sealed_tokens old
    WHERE old.created_at < now() - make_interval(secs => @keep::float8)
    LIMIT sqlc.arg(most)::int
    FOR UPDATE SKIP LOCKED));
