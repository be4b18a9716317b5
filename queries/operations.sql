-- Reads all operations of some attempts, by kind and number. Locks nothing.
-- name: OperationsOfAttempts :many
SELECT * FROM operations WHERE attempt_id = ANY (@attempt_ids::uuid[]) ORDER BY attempt_id, created_at, kind, number;

-- Reads all operations of the attempts with one of the ids or names. Locks nothing. The pairs are matched by position.
-- name: OperationsNamed :many
SELECT o.* FROM operations o WHERE o.attempt_id IN (
    SELECT unnest(@attempt_ids::uuid[])
    UNION ALL
    SELECT r.attempt_id FROM attempt_references r
    JOIN (SELECT unnest(@accounts::text[]) AS account, unnest(@refs::text[]) AS reference) n
        ON r.account = n.account AND r.reference = n.reference)
ORDER BY o.attempt_id, o.created_at, o.kind, o.number;

-- Reads all operations of the attempts of some orders. Locks nothing.
-- name: OperationsOfOrders :many
SELECT o.* FROM operations o JOIN payment_attempts a ON a.attempt_id = o.attempt_id
WHERE a.order_id = ANY (@order_ids::text[]) ORDER BY o.attempt_id, o.created_at, o.kind, o.number;

-- Inserts new operations.
-- name: OperationsInsert :exec
INSERT INTO operations (order_id, attempt_id, kind, number, account, refund_id, amount, origin, origin_id, state, sends, fence,
    lease_until, tries, next_at, first_sent_at, provider_ref, result, created_at, payment, unpaid_at, has_data, final, captured_before)
SELECT unnest(@order_ids::text[]), unnest(@attempt_ids::uuid[]), unnest(@kinds::text[]), unnest(@numbers::int[]), unnest(@accounts::text[]),
    NULLIF(unnest(@refund_ids::uuid[]), '00000000-0000-0000-0000-000000000000'::uuid), unnest(@amounts::bigint[]), unnest(@origins::text[]),
    unnest(@origin_ids::text[]), unnest(@states::text[]), unnest(@sends::int[]), unnest(@fences::bigint[]),
    NULLIF(unnest(@lease_untils::timestamptz[]), '0001-01-01 00:00:00Z'), unnest(@tries::int[]),
    NULLIF(unnest(@next_ats::timestamptz[]), '0001-01-01 00:00:00Z'), NULLIF(unnest(@first_sent_ats::timestamptz[]), '0001-01-01 00:00:00Z'),
    unnest(@provider_refs::text[]), unnest(@results::text[]), unnest(@created_ats::timestamptz[]), unnest(@payments::text[]),
    NULLIF(unnest(@unpaid_ats::timestamptz[]), '0001-01-01 00:00:00Z'), unnest(@have_data::bool[]),
    unnest(@finals::bool[]), unnest(@captured_befores::bigint[])
RETURNING 1;

-- Writes operations of locked attempts, each guarded by the state and the fence that were read: all operations or no operation.
-- name: OperationsMove :exec
WITH done AS (
UPDATE operations o SET
    state = n.state,
    sends = n.sends,
    fence = n.fence,
    lease_until = NULLIF(n.lease_until, '0001-01-01 00:00:00Z'),
    tries = n.tries,
    next_at = NULLIF(n.next_at, '0001-01-01 00:00:00Z'),
    first_sent_at = NULLIF(n.first_sent_at, '0001-01-01 00:00:00Z'),
    provider_ref = n.provider_ref,
    result = n.result
FROM (
    SELECT unnest(@attempt_ids::uuid[]) AS attempt_id,
        unnest(@kinds::text[]) AS kind,
        unnest(@numbers::int[]) AS number,
        unnest(@were_states::text[]) AS was_state,
        unnest(@were_fences::bigint[]) AS was_fence,
        unnest(@states::text[]) AS state,
        unnest(@sends::int[]) AS sends,
        unnest(@fences::bigint[]) AS fence,
        unnest(@lease_untils::timestamptz[]) AS lease_until,
        unnest(@tries::int[]) AS tries,
        unnest(@next_ats::timestamptz[]) AS next_at,
        unnest(@first_sent_ats::timestamptz[]) AS first_sent_at,
        unnest(@provider_refs::text[]) AS provider_ref,
        unnest(@results::text[]) AS result
) n
WHERE o.attempt_id = n.attempt_id AND o.kind = n.kind AND o.number = n.number AND o.state = n.was_state AND o.fence = n.was_fence
RETURNING 1
)
SELECT must_touch('operations_as_read', count(*), cardinality(@attempt_ids::uuid[])) FROM done;

-- Closes the due operations of an account whose attempts are final. Skips locked rows.
-- name: OperationsTrailing :execrows
UPDATE operations o SET state = 'done', next_at = NULL, lease_until = NULL
FROM (
    SELECT d.attempt_id, d.kind, d.number, d.fence
    FROM operations d JOIN payment_attempts a ON a.order_id = d.order_id AND a.attempt_id = d.attempt_id
    WHERE d.account = @account AND d.open AND d.next_at <= now() AND (d.lease_until IS NULL OR d.lease_until <= now())
        AND d.kind IN ('charge', 'complete', 'check') AND d.refund_id IS NULL AND a.status <> 'pending'
    LIMIT sqlc.arg(most)::int
    FOR NO KEY UPDATE OF d SKIP LOCKED
) t
WHERE o.attempt_id = t.attempt_id AND o.kind = t.kind AND o.number = t.number AND o.fence = t.fence AND o.open;

-- Lists the due operations of an account, the longest due first. Locks nothing.
-- name: OperationsDue :many
SELECT attempt_id, kind, number FROM operations
WHERE account = @account AND open AND next_at <= now() AND (lease_until IS NULL OR lease_until <= now())
ORDER BY next_at LIMIT sqlc.arg(most)::int;

-- Lists the accounts with a due operation. Reads only the first entry of each account.
-- name: AccountsDue :many
WITH RECURSIVE first (account, at) AS (
    (SELECT account, next_at FROM operations WHERE open ORDER BY account, next_at LIMIT 1)
    UNION ALL
    SELECT n.account, n.next_at FROM first p CROSS JOIN LATERAL (
        SELECT o.account, o.next_at FROM operations o WHERE o.open AND o.account > p.account ORDER BY o.account, o.next_at LIMIT 1
    ) n
)
SELECT account::text FROM first WHERE at <= now();

-- Reads how many seconds the longest due operation and the longest due parked event have waited; negative if nothing is due.
-- Reads only the first index entry of each account. Lists a kind only if something of it waits.
-- name: Overdue :many
WITH RECURSIVE first (account, at) AS (
    (SELECT account, next_at FROM operations WHERE open ORDER BY account, next_at LIMIT 1)
    UNION ALL
    SELECT n.account, n.next_at FROM first p CROSS JOIN LATERAL (
        SELECT o.account, o.next_at FROM operations o WHERE o.open AND o.account > p.account ORDER BY o.account, o.next_at LIMIT 1
    ) n
)
SELECT 'operations' AS what, extract(epoch FROM now() - min(at))::float8 AS seconds FROM first HAVING min(at) IS NOT NULL
UNION ALL
SELECT 'events', extract(epoch FROM now() - min(next_try_at))::float8 FROM provider_events WHERE next_try_at IS NOT NULL HAVING min(next_try_at) IS NOT NULL;
