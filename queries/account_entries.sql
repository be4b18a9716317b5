-- Inserts new entries that belong to no recorded payment, in the order of (account, id), and adds missing payouts,
-- fees and nets to stored ones.
-- name: AccountEntriesSave :exec
INSERT INTO account_entries AS s (account, entry_id, kind, payment, amount, currency, fee, net, balance_currency, payout_id, at, recorded_at)
SELECT n.account, n.entry_id, n.kind, n.payment, n.amount, n.currency, n.fee, n.net, n.balance_currency, n.payout_id, n.at, @recorded_at
FROM (
    SELECT unnest(@accounts::text[]) AS account, unnest(@entry_ids::text[]) AS entry_id, unnest(@kinds::text[]) AS kind,
        unnest(@payments::text[]) AS payment, unnest(@amounts::bigint[]) AS amount, unnest(@currencies::text[]) AS currency,
        NULLIF(unnest(@fees::text[]), '')::bigint AS fee, NULLIF(unnest(@nets::text[]), '')::bigint AS net,
        unnest(@balance_currencies::text[]) AS balance_currency, unnest(@payout_ids::text[]) AS payout_id,
        NULLIF(unnest(@ats::timestamptz[]), '0001-01-01 00:00:00Z') AS at
) n
ORDER BY n.account, n.entry_id
ON CONFLICT (account, entry_id) DO UPDATE SET payout_id = coalesce(nullif(s.payout_id, ''), EXCLUDED.payout_id),
    fee = CASE WHEN s.balance_currency IN ('', EXCLUDED.balance_currency) THEN coalesce(s.fee, EXCLUDED.fee) ELSE s.fee END,
    net = CASE WHEN s.balance_currency IN ('', EXCLUDED.balance_currency) THEN coalesce(s.net, EXCLUDED.net) ELSE s.net END,
    balance_currency = coalesce(nullif(s.balance_currency, ''), EXCLUDED.balance_currency)
WHERE s.payout_id = '' AND EXCLUDED.payout_id <> ''
    OR s.balance_currency IN ('', EXCLUDED.balance_currency) AND (s.fee IS NULL AND EXCLUDED.fee IS NOT NULL OR s.net IS NULL AND EXCLUDED.net IS NOT NULL)
RETURNING 1;

-- Finds which of some entries of an account are stored, with a recorded payment or without one, and their amounts. Locks nothing.
-- name: EntriesKept :many
SELECT s.entry_id, s.amount, s.currency FROM settlements s WHERE s.account = @account AND s.entry_id = ANY (@entry_ids::text[])
UNION ALL
SELECT e.entry_id, e.amount, e.currency FROM account_entries e WHERE e.account = @account AND e.entry_id = ANY (@entry_ids::text[])
    AND NOT EXISTS (SELECT FROM settlements s WHERE s.account = e.account AND s.entry_id = e.entry_id);
