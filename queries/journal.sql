-- Reads movements of captured money between two times behind a point, oldest first, with the provider's id of the attempt's payment;
-- an empty account stands for any. A movement's time is the provider's, but at most the time at which it was recorded. Locks nothing.
-- name: JournalMovements :many
SELECT sqlc.embed(m), a.provider_payment_id, least(m.at, m.recorded_at)::timestamptz AS moved_at
FROM money_movements m JOIN payment_attempts a ON a.order_id = m.order_id AND a.attempt_id = m.attempt_id
WHERE least(m.at, m.recorded_at) >= @from_at::timestamptz AND least(m.at, m.recorded_at) < @to_at::timestamptz
    AND (least(m.at, m.recorded_at), m.attempt_id, m.number) > (@after_at::timestamptz, @after_id::uuid, @after_number::int)
    AND m.kind NOT IN ('authorization', 'release')
    AND (@account::text = '' OR m.account = @account::text)
ORDER BY least(m.at, m.recorded_at), m.attempt_id, m.number LIMIT @most::int;

-- Reads settlements between two times behind a point, oldest first; an empty account stands for any. Locks nothing.
-- name: JournalSettlements :many
SELECT s.* FROM settlements s
WHERE (coalesce(s.at, s.recorded_at), settlement_id(s.account, s.entry_id)) > (@after_at::timestamptz, @after_id::uuid)
    AND coalesce(s.at, s.recorded_at) >= @from_at::timestamptz AND coalesce(s.at, s.recorded_at) < @to_at::timestamptz
    AND (@account::text = '' OR s.account = @account::text)
ORDER BY coalesce(s.at, s.recorded_at), settlement_id(s.account, s.entry_id) LIMIT @most::int;

-- Reads entries that belong to no recorded payment between two times behind a point, oldest first; an empty account, and an empty
-- payout, stand for any. Locks nothing.
-- name: JournalEntries :many
SELECT e.* FROM account_entries e
WHERE (coalesce(e.at, e.recorded_at), settlement_id(e.account, e.entry_id)) > (@after_at::timestamptz, @after_id::uuid)
    AND coalesce(e.at, e.recorded_at) >= @from_at::timestamptz AND coalesce(e.at, e.recorded_at) < @to_at::timestamptz
    AND (@account::text = '' OR e.account = @account::text)
    AND (@provider_payout_id::text = '' OR e.payout_id = @provider_payout_id::text AND e.payout_id <> '')
    AND NOT EXISTS (SELECT FROM settlements s WHERE s.account = e.account AND s.entry_id = e.entry_id)
ORDER BY coalesce(e.at, e.recorded_at), settlement_id(e.account, e.entry_id) LIMIT @most::int;

-- Reads the payouts of a day, and those whose money came back on it; an empty account stands for any. A payout's day is its arrival, or
-- else the day of its last settlement, or else the day on which it was recorded. Locks nothing.
-- name: JournalPayouts :many
SELECT sqlc.embed(p), coalesce(p.arrives_on, (e.latest AT TIME ZONE 'UTC')::date, (p.created_at AT TIME ZONE 'UTC')::date)::date AS day
FROM payouts p CROSS JOIN LATERAL (
    SELECT max(coalesce(s.at, s.recorded_at)) AS latest FROM settlements s
    WHERE s.account = p.account AND s.payout_id = p.provider_payout_id AND s.payout_id <> ''
) e
WHERE (@account::text = '' OR p.account = @account::text)
    AND (coalesce(p.arrives_on, (e.latest AT TIME ZONE 'UTC')::date, (p.created_at AT TIME ZONE 'UTC')::date) = @day::date
        OR p.status IN ('failed', 'canceled') AND greatest(coalesce(p.arrives_on, (e.latest AT TIME ZONE 'UTC')::date, (p.created_at AT TIME ZONE 'UTC')::date), (p.updated_at AT TIME ZONE 'UTC')::date) = @day::date)
ORDER BY p.account, p.provider_payout_id;

-- Sums the nets of the settlements of payouts by payout and currency. A net that is not stated is the amount less the fee. Locks nothing.
-- name: PayoutsSettled :many
SELECT s.account, s.payout_id, coalesce(nullif(s.balance_currency, ''), s.currency)::text AS balance_currency, count(*) AS entries,
    coalesce(sum(entry_net(s.kind, s.amount, s.currency, s.fee, s.net, s.balance_currency)), 0)::bigint AS net
FROM settlements s
JOIN (SELECT unnest(@accounts::text[]) AS account, unnest(@provider_payout_ids::text[]) AS payout_id) n ON s.account = n.account AND s.payout_id = n.payout_id
WHERE s.payout_id <> ''
GROUP BY s.account, s.payout_id, coalesce(nullif(s.balance_currency, ''), s.currency);

-- Sums, by payout and currency, the nets of the payouts' entries that belong to no recorded payment. A net that is not stated is the amount
-- less the fee. Locks nothing.
-- name: PayoutsEntered :many
SELECT e.account, e.payout_id, coalesce(nullif(e.balance_currency, ''), e.currency)::text AS balance_currency, count(*) AS entries,
    coalesce(sum(entry_net(e.kind, e.amount, e.currency, e.fee, e.net, e.balance_currency)), 0)::bigint AS net
FROM account_entries e
JOIN (SELECT unnest(@accounts::text[]) AS account, unnest(@provider_payout_ids::text[]) AS payout_id) n ON e.account = n.account AND e.payout_id = n.payout_id
WHERE e.payout_id <> '' AND NOT EXISTS (SELECT FROM settlements s WHERE s.account = e.account AND s.entry_id = e.entry_id)
GROUP BY e.account, e.payout_id, coalesce(nullif(e.balance_currency, ''), e.currency);

-- Sums the movements of captured money between two times by account, currency and kind. Locks nothing.
-- name: MonthMovements :many
SELECT m.account, m.currency, m.kind, sum(m.amount)::bigint AS amount FROM money_movements m
WHERE least(m.at, m.recorded_at) >= @from_at::timestamptz AND least(m.at, m.recorded_at) < @to_at::timestamptz
    AND m.kind NOT IN ('authorization', 'release')
GROUP BY m.account, m.currency, m.kind;

-- Sums the settlements between two times by account and currency of the balance: the fees, the nets, and the nets that are in a payout.
-- A net that is not stated is the amount less the fee. Locks nothing.
-- name: MonthSettlements :many
SELECT n.account, n.currency, coalesce(sum(n.fee), 0)::bigint AS fee, coalesce(sum(n.net), 0)::bigint AS net,
    coalesce(sum(n.net) FILTER (WHERE n.payout_id <> ''), 0)::bigint AS paid_out
FROM (
    SELECT s.account, s.payout_id, s.fee, coalesce(nullif(s.balance_currency, ''), s.currency) AS currency,
        entry_net(s.kind, s.amount, s.currency, s.fee, s.net, s.balance_currency) AS net
    FROM settlements s
    WHERE coalesce(s.at, s.recorded_at) >= @from_at::timestamptz AND coalesce(s.at, s.recorded_at) < @to_at::timestamptz
) n
GROUP BY n.account, n.currency;

-- Sums, by account, currency of the balance and kind, the entries between two times that belong to no recorded payment. A net that is not
-- stated is the amount less the fee. Locks nothing.
-- name: MonthEntries :many
SELECT e.account, coalesce(nullif(e.balance_currency, ''), e.currency)::text AS balance_currency, e.kind, count(*) AS entries,
    coalesce(sum(entry_net(e.kind, e.amount, e.currency, e.fee, e.net, e.balance_currency)), 0)::bigint AS net,
    coalesce(sum(entry_net(e.kind, e.amount, e.currency, e.fee, e.net, e.balance_currency)) FILTER (WHERE e.payout_id <> ''), 0)::bigint AS paid_out
FROM account_entries e
WHERE coalesce(e.at, e.recorded_at) >= @from_at::timestamptz AND coalesce(e.at, e.recorded_at) < @to_at::timestamptz AND coalesce(nullif(e.balance_currency, ''), e.currency) <> ''
    AND NOT EXISTS (SELECT FROM settlements s WHERE s.account = e.account AND s.entry_id = e.entry_id)
GROUP BY e.account, coalesce(nullif(e.balance_currency, ''), e.currency), e.kind;
