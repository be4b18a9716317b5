-- +goose Up
CREATE TABLE discrepancies (
    discrepancy_id      uuid PRIMARY KEY,
    kind                text NOT NULL CONSTRAINT discrepancies_kind_known CHECK (kind IN (
        'payment_reversed', 'refund_reversed', 'disputed', 'late_success', 'double_success', 'paid_after_cancel',
        'amount_mismatch', 'currency_mismatch', 'refund_exceeds', 'event_changed', 'unmatched_event', 'needs_review',
        'unreadable_event', 'unknown_at_provider', 'unknown_here')),
    about               text NOT NULL DEFAULT '',
    about_id            text NOT NULL DEFAULT '',
    order_id            text,
    attempt_id          uuid,
    account             text NOT NULL DEFAULT '',
    provider_event_id   text,
    amount              bigint,
    currency            text,
    text                text NOT NULL,
    opened_at           timestamptz NOT NULL,
    proposed_at         timestamptz,
    proposed_by         text NOT NULL DEFAULT '',
    proposed_payment_id text NOT NULL DEFAULT '',
    proposed_reason     text NOT NULL DEFAULT '',
    resolved_at         timestamptz,
    resolved_by         text NOT NULL DEFAULT '',
    resolution          text NOT NULL DEFAULT '' CONSTRAINT discrepancies_resolution_known
        CHECK (resolution IN ('', 'paid', 'not_paid', 'refunded_elsewhere', 'accepted')),
    reason              text NOT NULL DEFAULT '',
    provider_payment_id text NOT NULL DEFAULT '',
    CONSTRAINT discrepancies_resolved_how CHECK ((resolved_at IS NULL) = (resolution = '')),
    CONSTRAINT discrepancies_proposed_by_a_person CHECK ((proposed_at IS NULL) = (proposed_by = ''))
);

COMMENT ON TABLE discrepancies IS
    'Cases for a person. A cause opens one case, and another cause another one. None closes by itself.';
COMMENT ON COLUMN discrepancies.about IS 'The code of the cause, within the kind.';
COMMENT ON COLUMN discrepancies.about_id IS
    'Distinguishes causes of one kind: another amount, refund or operation; for a named dispute its stage and name.';
COMMENT ON COLUMN discrepancies.proposed_by IS
    'The person who called it paid, with a payment or refund, where the provider can''t be asked: a second person must agree.';
COMMENT ON COLUMN discrepancies.provider_payment_id IS
    'The payment that a person found at the provider, if the resolution is paid.';

CREATE UNIQUE INDEX discrepancies_once ON discrepancies (kind, about, about_id,
    coalesce(attempt_id, '00000000-0000-0000-0000-000000000000'), account, coalesce(provider_event_id, ''));
CREATE UNIQUE INDEX discrepancies_one_open_dispute ON discrepancies
    (attempt_id, (CASE about WHEN 'dispute' THEN substr(about_id, strpos(about_id, ' ')) ELSE '' END))
    WHERE kind = 'disputed' AND resolved_at IS NULL;
CREATE INDEX discrepancies_open ON discrepancies (opened_at) WHERE resolved_at IS NULL;
CREATE INDEX discrepancies_by_attempt ON discrepancies (attempt_id);
CREATE INDEX discrepancies_by_time ON discrepancies (opened_at, discrepancy_id);
