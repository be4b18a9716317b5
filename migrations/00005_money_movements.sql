-- +goose Up
CREATE TABLE money_movements (
    order_id    text NOT NULL,
    attempt_id  uuid NOT NULL,
    number      integer NOT NULL CONSTRAINT movements_number_counts CHECK (number >= 1),
    account     text NOT NULL,
    kind        text NOT NULL CONSTRAINT movements_kind_known CHECK (kind IN (
        'authorization', 'release', 'capture', 'capture_reversal', 'refund', 'refund_reversal', 'chargeback', 'chargeback_reversal')),
    source      text NOT NULL CONSTRAINT movements_source_known CHECK (source IN ('named', 'total', 'person')),
    payment     text NOT NULL DEFAULT '',
    provider_id text NOT NULL DEFAULT '',
    amount      bigint NOT NULL,
    currency    text NOT NULL,
    cause       text NOT NULL CONSTRAINT movements_cause_known CHECK (cause IN ('pay', 'call', 'webhook', 'check', 'person', 'report', 'import')),
    cause_id    text NOT NULL DEFAULT '',
    at          timestamptz,
    recorded_at timestamptz NOT NULL,
    CONSTRAINT movements_one_per_number PRIMARY KEY (attempt_id, number),
    CONSTRAINT movements_named_have_names CHECK ((source <> 'total') = (provider_id <> '')),
    CONSTRAINT movements_amount_moves CHECK (amount > 0 OR source = 'total' AND amount <> 0)
);

COMMENT ON TABLE money_movements IS
    'Append-only: the movements of an attempt''s money. The number is given under the lock of the attempt, whose amounts are '
    'sums of these rows.';
COMMENT ON COLUMN money_movements.source IS
    'named: it has the provider''s own id. total: the part of a provider''s total beyond the named movements; negative if a '
    'named movement turned out to be in it. person: a resolution.';
COMMENT ON COLUMN money_movements.payment IS 'The provider''s id of the payment; empty if the attempt has only one.';
COMMENT ON COLUMN money_movements.provider_id IS
    'The provider''s id of a named movement; the discrepancy''s id of a movement that a person recorded; else empty.';
COMMENT ON COLUMN money_movements.at IS 'The provider''s time of the movement, NULL if it gave none.';

CREATE UNIQUE INDEX movements_once ON money_movements (account, kind, provider_id) WHERE source <> 'total';
CREATE INDEX movements_by_time ON money_movements USING brin (recorded_at) WITH (pages_per_range = 32, autosummarize = on);
COMMENT ON INDEX movements_by_time IS
    'Rows are appended in the order of their times, so a summary of each range of pages finds the rows of a span, and hardly '
    'costs an insert.';

CREATE TRIGGER money_movements_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON money_movements
    FOR EACH STATEMENT EXECUTE FUNCTION append_only();
