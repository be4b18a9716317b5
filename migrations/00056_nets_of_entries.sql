-- +goose Up
-- Each statement may be run again.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION settlements_guard() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT (OLD.payout_id IN ('', NEW.payout_id) AND OLD.balance_currency IN ('', NEW.balance_currency)
            AND (OLD.fee IS NULL OR coalesce(OLD.fee = NEW.fee, false)) AND (OLD.net IS NULL OR coalesce(OLD.net = NEW.net, false)))
        OR to_jsonb(NEW) - '{payout_id,fee,net,balance_currency}'::text[] IS DISTINCT FROM to_jsonb(OLD) - '{payout_id,fee,net,balance_currency}'::text[] THEN
        RAISE EXCEPTION 'of settlement % only an empty payout, fee or net is filled', OLD.entry_id
            USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'settlements_fixed';
    END IF;
    RETURN NEW;
END $$;
-- +goose StatementEnd

-- The change of the balance by an entry: the stated net, or else the amount with its sign, less the fee. Without a net, a fee in another
-- currency than the amount's leaves it unknown. It has no SET clause, so that PostgreSQL can inline it.
CREATE OR REPLACE FUNCTION entry_net(kind text, amount bigint, currency text, fee bigint, net bigint, balance_currency text) RETURNS bigint LANGUAGE sql IMMUTABLE
    RETURN CASE WHEN net IS NOT NULL OR balance_currency NOT IN ('', currency) THEN net
        WHEN kind IN ('capture', 'refund_reversal', 'chargeback_reversal') THEN amount - coalesce(fee, 0)
        WHEN kind IN ('refund', 'chargeback', 'capture_reversal') THEN -amount - coalesce(fee, 0)
        ELSE -fee END;

ALTER TABLE account_entries DROP CONSTRAINT IF EXISTS account_entries_kind_known;
ALTER TABLE account_entries ADD CONSTRAINT account_entries_kind_known CHECK (kind IN (
    'authorization', 'release', 'capture', 'capture_reversal', 'refund', 'refund_reversal', 'chargeback', 'chargeback_reversal',
    'fee', 'reserve', 'transfer', 'adjustment', 'payout_return')) NOT VALID;
ALTER TABLE account_entries VALIDATE CONSTRAINT account_entries_kind_known;

COMMENT ON COLUMN settlements.net IS 'The amount added to the account''s balance, in balance_currency; negative if it was taken; NULL if it is not stated.';
COMMENT ON COLUMN settlements.payout_id IS 'Empty before the payout. It is filled once, as are fee and net; nothing else changes.';
COMMENT ON COLUMN account_entries.payout_id IS 'Empty before the payout. It is filled once, as are fee and net; nothing else changes.';
