-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS payouts (
    payout_id          uuid CONSTRAINT payouts_pkey PRIMARY KEY,
    account            text NOT NULL,
    provider_payout_id text NOT NULL CONSTRAINT payouts_named CHECK (provider_payout_id <> ''),
    amount             bigint,
    currency           text,
    status             text CONSTRAINT payouts_status_known CHECK (status IN ('pending', 'in_transit', 'paid', 'failed', 'canceled')),
    arrives_on         date,
    version            integer NOT NULL DEFAULT 1 CONSTRAINT payouts_version_positive CHECK (version > 0),
    created_at         timestamptz NOT NULL,
    updated_at         timestamptz NOT NULL,
    CONSTRAINT payouts_once UNIQUE (account, provider_payout_id),
    CONSTRAINT payouts_money CHECK ((amount IS NULL) = (currency IS NULL))
);

COMMENT ON TABLE payouts IS
    'Transfers of an account''s balance to the merchant''s bank. A row is made when an entry of the books first names the payout, or when the provider first '
    'lists it.';
COMMENT ON COLUMN payouts.amount IS 'NULL while the provider has not stated it; so are currency, status and arrives_on. Negative where the provider took money.';
COMMENT ON COLUMN payouts.version IS 'Rises by one with each change of amount, currency, status or arrives_on.';

CREATE INDEX IF NOT EXISTS payouts_by_time ON payouts (created_at, payout_id);

-- The id of a settlement, which the table does not store. Go computes it, too: payment.Settlement.ID.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION settlement_id(account text, entry_id text) RETURNS uuid LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT encode(set_byte(set_byte(h, 6, (get_byte(h, 6) & 15) | 128), 8, (get_byte(h, 8) & 63) | 128), 'hex')::uuid
    FROM (SELECT substring(sha256(convert_to(account || ' ' || entry_id, 'UTF8')) FROM 1 FOR 16) AS h) hashed
$$;
-- +goose StatementEnd

DROP INDEX CONCURRENTLY IF EXISTS settlements_by_time;
CREATE INDEX CONCURRENTLY settlements_by_time ON settlements (coalesce(at, recorded_at), settlement_id(account, entry_id));
DROP INDEX CONCURRENTLY IF EXISTS settlements_by_payout;
CREATE INDEX CONCURRENTLY settlements_by_payout ON settlements (account, payout_id, coalesce(at, recorded_at), settlement_id(account, entry_id))
    INCLUDE (balance_currency, net) WHERE payout_id <> '';
DROP INDEX CONCURRENTLY IF EXISTS reconciliations_by_time;
CREATE INDEX CONCURRENTLY reconciliations_by_time ON reconciliations (started_at, reconciliation_id);

INSERT INTO payouts (payout_id, account, provider_payout_id, created_at, updated_at)
SELECT gen_random_uuid(), account, payout_id, min(recorded_at), min(recorded_at) FROM settlements WHERE payout_id <> '' GROUP BY account, payout_id
ON CONFLICT (account, provider_payout_id) DO NOTHING;
