-- +goose Up
CREATE TABLE discrepancies (
    discrepancy_id    uuid PRIMARY KEY,
    kind              text NOT NULL CONSTRAINT discrepancies_kind_known CHECK (kind IN (
        'payment_reversed', 'refund_reversed', 'disputed', 'late_success', 'double_success', 'paid_after_cancel',
        'amount_mismatch', 'currency_mismatch', 'refund_exceeds', 'event_changed', 'unmatched_event', 'needs_review')),
    order_id          text,
    attempt_id        uuid,
    account           text NOT NULL DEFAULT '',
    provider_event_id text,
    amount            bigint,
    currency          text,
    text              text NOT NULL,
    resolved_at       timestamptz,
    resolved_by       text NOT NULL DEFAULT '',
    resolution        text NOT NULL DEFAULT '',
    reason            text NOT NULL DEFAULT '',
    opened_at         timestamptz NOT NULL,
    CONSTRAINT discrepancies_once UNIQUE NULLS NOT DISTINCT (kind, attempt_id, account, provider_event_id)
);

COMMENT ON TABLE discrepancies IS 'What a person must look at: never opened twice for the same cause, never closed by itself.';

CREATE INDEX discrepancies_open ON discrepancies (opened_at) WHERE resolved_at IS NULL;
CREATE INDEX discrepancies_by_attempt ON discrepancies (attempt_id);
