-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS account_entries (
    account          text NOT NULL,
    entry_id         text NOT NULL CONSTRAINT account_entries_named CHECK (entry_id <> ''),
    kind             text NOT NULL CONSTRAINT account_entries_kind_known CHECK (kind IN (
        'authorization', 'release', 'capture', 'capture_reversal', 'refund', 'refund_reversal', 'chargeback', 'chargeback_reversal',
        'fee', 'reserve', 'transfer', 'adjustment')),
    payment          text NOT NULL,
    amount           bigint NOT NULL,
    currency         text NOT NULL,
    fee              bigint,
    net              bigint,
    balance_currency text NOT NULL,
    payout_id        text NOT NULL,
    at               timestamptz,
    recorded_at      timestamptz NOT NULL,
    CONSTRAINT account_entries_once PRIMARY KEY (account, entry_id),
    CONSTRAINT account_entries_balance CHECK (balance_currency <> '' OR fee IS NULL AND net IS NULL)
);

COMMENT ON TABLE account_entries IS
    'Entries of the providers'' books that belong to no payment recorded here: payments of other systems, lost payments, fees of the account, '
    'reserves, transfers. An entry whose payment is recorded later is also a row of settlements, which then counts instead.';
COMMENT ON COLUMN account_entries.currency IS 'Empty, with the amount 0, where no amount of a movement is stated.';
COMMENT ON COLUMN account_entries.payout_id IS 'Empty before the payout. It is filled once; nothing else changes.';

DROP TRIGGER IF EXISTS account_entries_guard ON account_entries;
CREATE TRIGGER account_entries_guard BEFORE UPDATE ON account_entries FOR EACH ROW EXECUTE FUNCTION settlements_guard();

CREATE INDEX IF NOT EXISTS account_entries_by_time ON account_entries (coalesce(at, recorded_at), settlement_id(account, entry_id));
CREATE INDEX IF NOT EXISTS account_entries_by_payout ON account_entries (account, payout_id) WHERE payout_id <> '';

-- The journal of a month reads the movements by this time. It is never after the row was written.
DROP INDEX CONCURRENTLY IF EXISTS movements_by_day;
CREATE INDEX CONCURRENTLY movements_by_day ON money_movements USING brin (least(at, recorded_at) timestamptz_minmax_multi_ops)
    WITH (pages_per_range = 32, autosummarize = on);
