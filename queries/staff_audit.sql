-- Writes an entry of the audit log of staff.
-- name: AuditInsert :exec
INSERT INTO staff_audit (entry_id, deed_id, actor, roles, action, target_type, target, order_id, attempt_id, reason, address, request_id, outcome, detail)
VALUES (@entry_id, @deed_id, @actor, @roles, @action, @target_type, @target, sqlc.narg(order_id), sqlc.narg(attempt_id), @reason, @address, @request_id, @outcome, @detail);

-- Lists the audit log behind a point, newest first; an empty filter stands for any. Locks nothing.
-- name: AuditList :many
SELECT * FROM staff_audit
WHERE entry_id < @before_id
    AND (@actor::text = '' OR actor = @actor::text)
    AND (@action::text = '' OR action = @action::text)
    AND (@target::text = '' OR target = @target::text)
ORDER BY entry_id DESC LIMIT @most::int;

-- Reads the actions of staff on an attempt, without looks. Locks nothing.
-- name: AuditOfAttempt :many
SELECT * FROM staff_audit
WHERE attempt_id = @attempt_id::uuid AND action NOT LIKE '%.view' ORDER BY entry_id DESC LIMIT 1000;

-- Reads the audit log in the order of its chain, behind a position. Locks nothing.
-- name: AuditChain :many
SELECT position, previous, hash, entry_id, deed_id, actor, roles, action, target_type, target, order_id, attempt_id, reason, address, request_id,
    outcome, detail::text AS detail, at
FROM staff_audit WHERE position > @after ORDER BY position LIMIT sqlc.arg(most)::int;

-- Reads whether the session's role may change tables to which rows are only added. Locks nothing.
-- name: AuditMayBeChanged :one
SELECT current_user::text AS name, (has_table_privilege('staff_audit', 'UPDATE, DELETE, TRUNCATE') OR (
    SELECT pg_has_role(c.relowner, 'MEMBER') FROM pg_catalog.pg_class c WHERE c.oid = 'staff_audit'::regclass))::boolean AS may;
