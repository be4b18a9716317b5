-- Waits for other transactions that change the merchants of accounts, and keeps new ones waiting until this one ends.
-- name: MerchantsLock :exec
SELECT pg_advisory_xact_lock(hashtextextended('paylatch merchants ' || current_schema(), 0));

-- Reads the merchants of all accounts, the latest first. Locks nothing.
-- name: MerchantsRead :many
SELECT account, number, kind, live, ids, credentials, since FROM account_merchants ORDER BY since DESC, number DESC;

-- Inserts a merchant, or replaces its data.
-- name: MerchantSave :exec
INSERT INTO account_merchants (account, number, kind, live, ids, credentials, since)
VALUES (@account, @number, @kind, @live, @ids, @credentials, @since)
ON CONFLICT (account, number) DO UPDATE SET ids = EXCLUDED.ids, credentials = EXCLUDED.credentials, since = EXCLUDED.since;

-- Finds the attempts of an account with an open operation that were begun with another merchant than the given one: their number, and
-- the first of them. Locks nothing.
-- name: AttemptsOfOtherMerchant :one
SELECT count(*) AS attempts, coalesce(min(n.attempt_id), '')::text AS first
FROM (
    SELECT DISTINCT a.attempt_id::text AS attempt_id
    FROM operations o JOIN payment_attempts a ON a.order_id = o.order_id AND a.attempt_id = o.attempt_id
    WHERE o.account = @account AND o.open AND a.merchant <> @number::smallint
) n;
