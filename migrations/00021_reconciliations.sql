-- +goose Up
CREATE TABLE reconciliations (
    reconciliation_id uuid CONSTRAINT reconciliations_pkey PRIMARY KEY,
    account           text NOT NULL,
    from_at           timestamptz NOT NULL,
    to_at             timestamptz NOT NULL,
    source            text NOT NULL CONSTRAINT reconciliations_source_known CHECK (source IN ('books', 'file', 'person')),
    started_by        text NOT NULL,
    started_at        timestamptz NOT NULL,
    touched_at        timestamptz NOT NULL,
    finished_at       timestamptz,
    counts            json NOT NULL DEFAULT '{}',
    failure           text NOT NULL DEFAULT '',
    reason            text NOT NULL DEFAULT '',
    CONSTRAINT reconciliations_span CHECK (from_at < to_at),
    CONSTRAINT reconciliations_by_hand_why CHECK ((source = 'person') = (reason <> ''))
);

COMMENT ON TABLE reconciliations IS 'Runs that compare a span of a provider''s books with the recorded movements.';
COMMENT ON COLUMN reconciliations.started_by IS 'daily for the service''s own run, else the person.';
COMMENT ON COLUMN reconciliations.touched_at IS
    'When the run last made progress. A run without an end that made no progress for long was killed.';
COMMENT ON COLUMN reconciliations.source IS 'person: a person has compared by hand.';
COMMENT ON COLUMN reconciliations.finished_at IS 'Only set once the run has compared its whole span in both directions.';
COMMENT ON COLUMN reconciliations.failure IS 'Why the run has no end; for a finished run, the entries that could not be read.';
COMMENT ON COLUMN reconciliations.counts IS 'The results of the entries so far.';

CREATE INDEX reconciliations_newest ON reconciliations (account, started_at);

CREATE TABLE settlements (
    account          text NOT NULL,
    entry_id         text NOT NULL,
    order_id         text NOT NULL,
    attempt_id       uuid NOT NULL,
    kind             text NOT NULL CONSTRAINT settlements_kind_known CHECK (kind IN (
        'authorization', 'release', 'capture', 'capture_reversal', 'refund', 'refund_reversal', 'chargeback', 'chargeback_reversal')),
    movement_id      text NOT NULL,
    payment          text NOT NULL,
    amount           bigint NOT NULL,
    currency         text NOT NULL,
    fee              bigint,
    net              bigint,
    balance_currency text NOT NULL,
    payout_id        text NOT NULL,
    at               timestamptz,
    recorded_at      timestamptz NOT NULL,
    CONSTRAINT settlements_once PRIMARY KEY (account, entry_id),
    CONSTRAINT settlements_have_an_attempt FOREIGN KEY (order_id, attempt_id) REFERENCES payment_attempts,
    CONSTRAINT settlements_balance CHECK (balance_currency <> '' OR fee IS NULL AND net IS NULL)
);

COMMENT ON TABLE settlements IS
    'Entries of the providers'' books for payments that are recorded here: their costs, and their payouts.';
COMMENT ON COLUMN settlements.movement_id IS
    'The provider''s id of the movement; empty if the entry is about all movements of that kind of the payment.';
COMMENT ON COLUMN settlements.net IS 'The amount added to the account''s balance, in balance_currency; negative if it was taken.';
COMMENT ON COLUMN settlements.payout_id IS 'Empty before the payout. It is filled once; nothing else changes.';

CREATE INDEX settlements_by_attempt ON settlements (attempt_id, kind);

-- +goose StatementBegin
CREATE FUNCTION settlements_guard() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF OLD.payout_id <> '' OR to_jsonb(NEW) - 'payout_id' IS DISTINCT FROM to_jsonb(OLD) - 'payout_id' THEN
        RAISE EXCEPTION 'of settlement % only an empty payout is filled', OLD.entry_id
            USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'settlements_fixed';
    END IF;
    RETURN NEW;
END $$;
-- +goose StatementEnd

CREATE TRIGGER settlements_guard BEFORE UPDATE ON settlements FOR EACH ROW EXECUTE FUNCTION settlements_guard();
