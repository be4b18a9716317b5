-- Inserts an API key.
-- name: APIKeyInsert :one
INSERT INTO api_keys (api_key_id, hash, prefix, name, roles, scopes, created_by, expires_at)
VALUES (@api_key_id, @hash, @prefix, @name, @roles::text[], @scopes::text[], @created_by, sqlc.narg(expires_at))
RETURNING *;

-- Reads the API key of a hash, expired ones too. Locks nothing.
-- name: APIKeyByHash :one
SELECT * FROM api_keys WHERE hash = @hash;

-- Lists API keys before an id, newest first. Locks nothing.
-- name: APIKeysList :many
SELECT * FROM api_keys WHERE api_key_id < @before_id ORDER BY api_key_id DESC LIMIT sqlc.arg(most)::int;

-- Writes that an API key was used, once a minute: at most one row.
-- name: APIKeyUsed :exec
UPDATE api_keys SET last_used_at = now() WHERE api_key_id = @api_key_id AND (last_used_at IS NULL OR now() - last_used_at >= interval '1 minute');

-- Deletes an API key, and returns it.
-- name: APIKeyDelete :one
DELETE FROM api_keys WHERE api_key_id = @api_key_id RETURNING *;

-- Lists some names of valid API keys that were not used for 90 days. Locks nothing.
-- name: APIKeysIdle :many
SELECT name FROM api_keys
WHERE now() - coalesce(last_used_at, created_at) > interval '90 days' AND (expires_at IS NULL OR expires_at > now())
ORDER BY api_key_id LIMIT sqlc.arg(most)::int;
