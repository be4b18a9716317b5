-- Inserts payouts that are named for the first time, in the order of (account, id). They have nothing but their name.
-- name: PayoutsInsert :exec
INSERT INTO payouts (payout_id, account, provider_payout_id, created_at, updated_at)
SELECT n.payout_id, n.account, n.provider_payout_id, n.created_at, n.created_at
FROM (
    SELECT unnest(@payout_ids::uuid[]) AS payout_id, unnest(@accounts::text[]) AS account, unnest(@provider_payout_ids::text[]) AS provider_payout_id,
        unnest(@created_ats::timestamptz[]) AS created_at
) n
ORDER BY n.account, n.provider_payout_id
ON CONFLICT (account, provider_payout_id) DO NOTHING
RETURNING 1;

-- Reads payouts of an account by the provider's ids. Locks nothing.
-- name: PayoutsNamed :many
SELECT * FROM payouts WHERE account = @account AND provider_payout_id = ANY (@provider_payout_ids::text[]);

-- Locks payouts of an account in the order of their ids, and reads them.
-- name: PayoutsLock :many
SELECT * FROM payouts WHERE account = @account AND provider_payout_id = ANY (@provider_payout_ids::text[])
ORDER BY provider_payout_id FOR UPDATE;

-- Writes a change of a locked payout.
-- name: PayoutMove :exec
UPDATE payouts SET amount = sqlc.narg(amount), currency = sqlc.narg(currency), status = sqlc.narg(status), arrives_on = sqlc.narg(arrives_on),
    version = @version, updated_at = @updated_at
WHERE payout_id = @payout_id;

-- Reads a payout with its settlements counted. Locks nothing.
-- name: PayoutRead :one
SELECT sqlc.embed(p), s.entries, s.explained
FROM payouts p CROSS JOIN LATERAL (
    SELECT count(*) AS entries, coalesce(sum(entry_net(s.kind, s.amount, s.currency, s.fee, s.net, s.balance_currency))
        FILTER (WHERE coalesce(nullif(s.balance_currency, ''), s.currency) = p.currency), 0)::bigint AS explained
    FROM settlements s WHERE s.account = p.account AND s.payout_id = p.provider_payout_id AND s.payout_id <> ''
) s
WHERE p.payout_id = @payout_id;

-- Lists payouts behind a point with their settlements counted, newest first; an empty text stands for any. Without bounds, payouts
-- without an amount are listed too. Locks nothing.
-- name: PayoutsList :many
SELECT sqlc.embed(p), s.entries, s.explained
FROM payouts p CROSS JOIN LATERAL (
    SELECT count(*) AS entries, coalesce(sum(entry_net(s.kind, s.amount, s.currency, s.fee, s.net, s.balance_currency))
        FILTER (WHERE coalesce(nullif(s.balance_currency, ''), s.currency) = p.currency), 0)::bigint AS explained
    FROM settlements s WHERE s.account = p.account AND s.payout_id = p.provider_payout_id AND s.payout_id <> ''
) s
WHERE (p.created_at, p.payout_id) < (@before_at::timestamptz, @before_id::uuid)
    AND p.created_at >= @created_from::timestamptz AND p.created_at < @created_to::timestamptz
    AND p.updated_at >= @updated_from::timestamptz AND p.updated_at < @updated_to::timestamptz
    AND (@account::text = '' OR p.account = @account::text)
    AND (@currency::text = '' OR p.currency = @currency::text)
    AND (@any_amount::boolean OR p.amount BETWEEN @amount_min::bigint AND @amount_max::bigint)
    AND (@status::text = '' OR p.status = @status::text)
ORDER BY p.created_at DESC, p.payout_id DESC LIMIT @most::int;

-- Lists settlements between two points with their payouts, newest first; an empty text stands for any. A settlement's time is the
-- provider's, or the time at which it was recorded. Locks nothing.
-- name: SettlementsList :many
SELECT sqlc.embed(s), p.payout_id AS payout
FROM settlements s LEFT JOIN payouts p ON p.account = s.account AND p.provider_payout_id = s.payout_id
WHERE (coalesce(s.at, s.recorded_at), settlement_id(s.account, s.entry_id)) < (@before_at::timestamptz, @before_id::uuid)
    AND (coalesce(s.at, s.recorded_at), settlement_id(s.account, s.entry_id)) >= (@until_at::timestamptz, @until_id::uuid)
    AND coalesce(s.at, s.recorded_at) >= @created_from::timestamptz AND coalesce(s.at, s.recorded_at) < @created_to::timestamptz
    AND (@account::text = '' OR s.account = @account::text)
    AND (@provider_payout_id::text = '' OR s.payout_id = @provider_payout_id::text AND s.payout_id <> '')
    AND (@attempt_id::uuid = '00000000-0000-0000-0000-000000000000' OR s.attempt_id = @attempt_id::uuid)
    AND (@kind::text = '' OR s.kind = @kind::text)
    AND (@currency::text = '' OR s.currency = @currency::text)
    AND s.amount BETWEEN @amount_min::bigint AND @amount_max::bigint
ORDER BY coalesce(s.at, s.recorded_at) DESC, settlement_id(s.account, s.entry_id) DESC LIMIT @most::int;

-- Finds where a list stops: the last of @skipped + 1 settlements behind a point, newest first. Reads only an index, and locks
-- nothing.
-- name: SettlementsReach :one
SELECT coalesce(at, recorded_at)::timestamptz AS booked_at, settlement_id(account, entry_id)::uuid AS settlement_id FROM settlements
WHERE (coalesce(at, recorded_at), settlement_id(account, entry_id)) < (@before_at::timestamptz, @before_id::uuid)
    AND coalesce(at, recorded_at) >= @created_from::timestamptz AND coalesce(at, recorded_at) < @created_to::timestamptz
ORDER BY coalesce(at, recorded_at) DESC, settlement_id(account, entry_id) DESC OFFSET @skipped::int LIMIT 1;

-- Lists runs behind a point, newest first; an empty text stands for any. An unfinished run without progress for long was killed, and
-- counts as failed. Locks nothing.
-- name: ReconciliationsList :many
SELECT sqlc.embed(r), (r.finished_at IS NULL AND r.failure = '' AND r.touched_at > now() - make_interval(secs => @alive::float8))::boolean AS running
FROM reconciliations r
WHERE (r.started_at, r.reconciliation_id) < (@before_at::timestamptz, @before_id::uuid)
    AND r.started_at >= @created_from::timestamptz AND r.started_at < @created_to::timestamptz
    AND r.touched_at >= @updated_from::timestamptz AND r.touched_at < @updated_to::timestamptz
    AND (@account::text = '' OR r.account = @account::text)
    AND (@status::text = '' OR @status::text = CASE WHEN r.finished_at IS NOT NULL THEN 'finished'
        WHEN r.failure = '' AND r.touched_at > now() - make_interval(secs => @alive::float8) THEN 'running' ELSE 'failed' END)
ORDER BY r.started_at DESC, r.reconciliation_id DESC LIMIT @most::int;
