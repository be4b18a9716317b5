-- +goose Up
CREATE TABLE dispute_moves (
    order_id    text NOT NULL,
    attempt_id  uuid NOT NULL,
    account     text NOT NULL,
    dispute     text NOT NULL CONSTRAINT dispute_moves_have_a_dispute CHECK (dispute <> ''),
    number      integer NOT NULL CONSTRAINT dispute_moves_number_counts CHECK (number >= 1),
    kind        text NOT NULL CONSTRAINT dispute_moves_kind_known CHECK (kind IN ('chargeback', 'chargeback_reversal')),
    entry       text NOT NULL DEFAULT '',
    amount      bigint CONSTRAINT dispute_moves_amount_not_negative CHECK (amount >= 0),
    currency    text,
    whole       boolean NOT NULL DEFAULT false,
    at          timestamptz,
    recorded_at timestamptz NOT NULL,
    CONSTRAINT dispute_moves_one_per_number PRIMARY KEY (account, dispute, number),
    CONSTRAINT dispute_moves_have_an_attempt FOREIGN KEY (order_id, attempt_id) REFERENCES payment_attempts,
    CONSTRAINT dispute_moves_amount_has_a_currency CHECK ((amount IS NULL) = (currency IS NULL))
);

COMMENT ON TABLE dispute_moves IS
    'Append-only: what reports stated that a dispute took and returned, and when. The rounds of a dispute follow from all of them, in whatever order they came; '
    'what they add up to are rows of money_movements.';
COMMENT ON COLUMN dispute_moves.dispute IS 'The provider''s id of the dispute, or of the payment where it has none for disputes.';
COMMENT ON COLUMN dispute_moves.number IS 'Counts those of one dispute, from 1. It is given under the lock of the attempt.';
COMMENT ON COLUMN dispute_moves.entry IS 'The provider''s id of the entry, such as a balance transaction; empty where it names none.';
COMMENT ON COLUMN dispute_moves.amount IS 'NULL, as the currency, where the provider does not state it: all that is out.';
COMMENT ON COLUMN dispute_moves.whole IS 'The amount is that of the dispute, and need not be what moved.';
COMMENT ON COLUMN dispute_moves.at IS 'The provider''s clock, NULL if it gave no time.';

CREATE INDEX dispute_moves_by_attempt ON dispute_moves (attempt_id);

CREATE TRIGGER dispute_moves_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON dispute_moves
    FOR EACH STATEMENT EXECUTE FUNCTION append_only();

ALTER TABLE money_movements ADD COLUMN dispute text NOT NULL DEFAULT '';
COMMENT ON COLUMN money_movements.dispute IS 'Of what a dispute took or returned, the provider''s id of it; empty for others, and for what was recorded before there were rounds.';
