-- Inserts new entries that belong to no recorded payment, in the order of (account, id), and adds missing payouts to stored ones.
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
ON CONFLICT (account, entry_id) DO UPDATE SET payout_id = EXCLUDED.payout_id WHERE s.payout_id = '' AND EXCLUDED.payout_id <> ''
RETURNING 1;
