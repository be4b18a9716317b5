-- Locks the progress of the hourly counts until the transaction ends. Returns no row if another process has it.
-- name: HourlyLock :one
SELECT position FROM hourly_progress FOR UPDATE SKIP LOCKED;

-- Reads the end of the next portion of events behind a position, which is the end of a batch. Locks nothing.
-- name: HourlyPortion :one
SELECT COALESCE(max(n.last), @after::bigint)::bigint AS until
FROM (SELECT b.last FROM outbox_batches b WHERE b.last > @after::bigint ORDER BY b.last LIMIT @batches::int) n;

-- Counts the events of some types between two positions by hours, adds them to the counts, and moves the progress. The caller has
-- locked the progress. Returns the added counts.
-- name: HourlyAdvance :many
WITH ended AS (
    SELECT date_trunc('hour', e.created_at, 'UTC') AS hour, split_part(e.type, '.', 2) AS status, e.type, e.p
    FROM outbox_batches b CROSS JOIN LATERAL (
        SELECT o.type, o.created_at, o.payload::jsonb AS p FROM outbox o
        WHERE o.batch = b.batch AND o.type = ANY (@types::text[])
        ORDER BY o.batch, o.nth
    ) e
    WHERE b.last > @after::bigint AND b.last <= @until::bigint
), found AS (
    SELECT ended.hour,
        CASE split_part(ended.type, '.', 1) WHEN 'payment_attempt' THEN 'attempt' ELSE split_part(ended.type, '.', 1) END AS subject,
        coalesce(ended.p->>'account', '') AS account, coalesce(ended.p->>'currency', '') AS currency, ended.status,
        CASE ended.status WHEN 'succeeded' THEN '' WHEN 'opened' THEN coalesce(ended.p->>'kind', 'other') ELSE coalesce(ended.p->'failure'->>'code', 'other') END AS code,
        count(*) AS count,
        sum(coalesce(CASE WHEN ended.type = 'payment_attempt.succeeded' THEN ended.p->>'amount_captured' ELSE ended.p->>'amount' END, '0')::bigint)::bigint AS amount
    FROM ended GROUP BY 1, 2, 3, 4, 5, 6
), added AS (
    INSERT INTO hourly_outcomes AS h (hour, subject, account, currency, status, code, count, amount)
    SELECT f.hour, f.subject, f.account, f.currency, f.status, f.code, f.count, f.amount FROM found f
    ON CONFLICT (hour, subject, account, currency, status, code) DO UPDATE SET count = h.count + excluded.count, amount = h.amount + excluded.amount
), moved AS (
    UPDATE hourly_progress SET position = @until::bigint
)
SELECT f.hour::timestamptz AS hour, f.subject::text AS subject, f.account::text AS account, f.status::text AS status, f.code::text AS code, f.count::bigint AS count
FROM found f;

-- Deletes the hours before a time.
-- name: HourlyPurge :execrows
DELETE FROM hourly_outcomes WHERE hour < @before;

-- Reads how many events are not counted yet. Locks nothing.
-- name: HourlyBehind :one
SELECT (h.last - p.position)::bigint AS behind FROM outbox_head h, hourly_progress p;

-- Reads the counts of the hours since a time, by subject, currency and outcome. Returns at most one row for each hour, currency
-- and outcome. Locks nothing.
-- name: HourlySeries :many
SELECT hour, subject, currency, status, (code = 'canceled')::boolean AS cancelled, sum(count)::bigint AS count, sum(amount)::bigint AS amount
FROM hourly_outcomes WHERE hour >= @since GROUP BY 1, 2, 3, 4, 5;

-- Counts the ended and the succeeded attempts by account and currency, for a day, a week, and the time before the week. Cancelled
-- attempts are left out. Locks nothing.
-- name: HourlyRates :many
SELECT account, currency,
    coalesce(sum(count) FILTER (WHERE hour >= @day AND status = 'succeeded'), 0)::bigint AS day_succeeded,
    coalesce(sum(count) FILTER (WHERE hour >= @day), 0)::bigint AS day_ended,
    coalesce(sum(count) FILTER (WHERE hour >= @week AND status = 'succeeded'), 0)::bigint AS week_succeeded,
    coalesce(sum(count) FILTER (WHERE hour >= @week), 0)::bigint AS week_ended,
    coalesce(sum(count) FILTER (WHERE hour < @week AND status = 'succeeded'), 0)::bigint AS before_succeeded,
    coalesce(sum(count) FILTER (WHERE hour < @week), 0)::bigint AS before_ended
FROM hourly_outcomes
WHERE hour >= @before AND subject = 'attempt' AND code <> 'canceled'
GROUP BY account, currency;

-- Counts the open operations, a limited number of them and without checks, by account and by refund or not. Operations with an
-- unknown outcome are counted by the age of their first send. Reads only open operations, and locks nothing.
-- name: OperationsOpen :many
SELECT o.account, o.refund, o.band, count(*)::bigint AS count, coalesce(min(o.since), 'epoch')::timestamptz AS oldest
FROM (
    SELECT n.account, (n.kind = 'refund')::boolean AS refund, coalesce(n.first_sent_at, n.created_at) AS since,
        (CASE WHEN n.state <> 'unknown' THEN 'known'
            WHEN coalesce(n.first_sent_at, n.created_at) > now() - interval '1 minute' THEN 'minute'
            WHEN coalesce(n.first_sent_at, n.created_at) > now() - interval '10 minutes' THEN 'ten_minutes'
            WHEN coalesce(n.first_sent_at, n.created_at) > now() - interval '1 hour' THEN 'hour'
            WHEN coalesce(n.first_sent_at, n.created_at) > now() - interval '1 day' THEN 'day'
            ELSE 'older' END)::text AS band
    FROM (
        SELECT p.account, p.kind, p.state, p.first_sent_at, p.created_at FROM operations p
        WHERE p.open AND p.kind <> 'check' LIMIT @at_most::int
    ) n
) o
GROUP BY 1, 2, 3;
