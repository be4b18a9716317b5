-- Writes the times of the accounts' last webhooks, in the order of the accounts' names. An earlier time than the stored time
-- changes nothing.
-- name: LastWebhooksSave :exec
INSERT INTO account_webhooks AS w (account, last_webhook_at)
SELECT n.account, n.last_webhook_at FROM (
    SELECT unnest(@accounts::text[]) AS account, unnest(@last_webhook_ats::timestamptz[]) AS last_webhook_at
) n ORDER BY n.account
ON CONFLICT (account) DO UPDATE SET last_webhook_at = EXCLUDED.last_webhook_at WHERE w.last_webhook_at < EXCLUDED.last_webhook_at
RETURNING 1;

-- Finds the accounts without a webhook for @stale_after seconds, and counts their attempts that have been pending for as long,
-- but at most a day longer, and that began after the account's last webhook. Locks nothing.
-- name: AccountsStale :many
WITH quiet AS MATERIALIZED (
    SELECT n.account, w.last_webhook_at
    FROM (SELECT unnest(@accounts::text[]) AS account) n LEFT JOIN account_webhooks w ON w.account = n.account
    WHERE w.last_webhook_at IS NULL OR w.last_webhook_at < now() - make_interval(secs => @stale_after::float8)
)
SELECT a.account, count(DISTINCT a.attempt_id)::int AS pending, min(a.created_at)::timestamptz AS since, q.last_webhook_at
FROM quiet q JOIN operations o ON o.account = q.account AND o.open JOIN payment_attempts a ON a.attempt_id = o.attempt_id
WHERE EXISTS (SELECT FROM quiet)
    AND a.status = 'pending' AND a.stage <> 'authorized'
    AND a.created_at < now() - make_interval(secs => @stale_after::float8)
    AND a.created_at > now() - make_interval(days => 1, secs => @stale_after::float8)
    AND (q.last_webhook_at IS NULL OR q.last_webhook_at < a.created_at)
GROUP BY a.account, q.last_webhook_at
ORDER BY a.account;
