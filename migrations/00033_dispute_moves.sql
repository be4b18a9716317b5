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
    'Append-only: the reported moves of a dispute''s money. The rounds of a dispute follow from all of them, in any order of '
    'arrival; their sums are rows of money_movements.';
COMMENT ON COLUMN dispute_moves.dispute IS
    'The provider''s id of the dispute, or of the payment if the provider has no dispute ids.';
COMMENT ON COLUMN dispute_moves.number IS 'Counts the moves of one dispute, from 1. It is given under the lock of the attempt.';
COMMENT ON COLUMN dispute_moves.entry IS
    'The provider''s id of the entry, such as a balance transaction; empty if it names none.';
COMMENT ON COLUMN dispute_moves.amount IS 'NULL, like the currency, if the provider does not state it: all money that is out.';
COMMENT ON COLUMN dispute_moves.whole IS 'The amount is the dispute''s; the moved amount may differ.';
COMMENT ON COLUMN dispute_moves.at IS 'The provider''s time, NULL if it gave none.';

CREATE INDEX dispute_moves_by_attempt ON dispute_moves (attempt_id);

CREATE TRIGGER dispute_moves_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON dispute_moves
    FOR EACH STATEMENT EXECUTE FUNCTION append_only();

ALTER TABLE money_movements ADD COLUMN dispute text NOT NULL DEFAULT '';
COMMENT ON COLUMN money_movements.dispute IS
    'The provider''s id of the dispute that took or returned the money; empty for other movements, and for movements from '
    'before there were rounds.';
