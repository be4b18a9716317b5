-- Reads the stored payment methods with some names. Locks nothing. The pairs are matched by position.
-- name: MethodsNamed :many
SELECT m.* FROM (SELECT unnest(@accounts::text[]) AS account, unnest(@tokens::text[]) AS token) n
JOIN saved_methods m ON m.account = n.account AND m.token = n.token;

-- Locks the stored payment methods with some names, in the order of their names. The caller has locked its attempts before.
-- name: MethodsLock :many
SELECT m.* FROM (SELECT unnest(@accounts::text[]) AS account, unnest(@tokens::text[]) AS token) n
JOIN saved_methods m ON m.account = n.account AND m.token = n.token
ORDER BY m.account, m.token FOR NO KEY UPDATE OF m;

-- Inserts a stored payment method. An existing name is a unique violation; the caller decides again.
-- name: MethodInsert :exec
INSERT INTO saved_methods (account, token, user_id, order_id, attempt_id, type, display, expires, removed_at, changed_at, restored_at, version, updated_at)
VALUES (@account, @token, @user_id, @order_id, sqlc.narg(attempt_id), @type, @display, @expires, sqlc.narg(removed_at), sqlc.narg(changed_at),
    sqlc.narg(restored_at), @version, @updated_at);

-- Writes a locked stored payment method, guarded by the version that was read.
-- name: MethodAdvance :execrows
UPDATE saved_methods SET user_id = @user_id, order_id = @order_id, attempt_id = sqlc.narg(attempt_id), type = @type, display = @display, expires = @expires,
    removed_at = sqlc.narg(removed_at), changed_at = sqlc.narg(changed_at), restored_at = sqlc.narg(restored_at), version = @version, updated_at = @updated_at
WHERE account = @account AND token = @token AND version = @was;
