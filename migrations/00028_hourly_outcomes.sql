-- +goose Up
CREATE TABLE hourly_outcomes (
    hour     timestamptz NOT NULL CONSTRAINT outcomes_whole_hours CHECK (extract(epoch FROM hour)::bigint % 3600 = 0),
    subject  text NOT NULL CONSTRAINT outcomes_subject_known CHECK (subject IN ('attempt', 'refund', 'discrepancy')),
    account  text NOT NULL,
    currency text NOT NULL,
    status   text NOT NULL CONSTRAINT outcomes_status_known CHECK (status IN ('succeeded', 'failed', 'opened')),
    code     text NOT NULL,
    count    bigint NOT NULL CONSTRAINT outcomes_count_something CHECK (count > 0),
    amount   bigint NOT NULL,
    CONSTRAINT hourly_outcomes_pkey PRIMARY KEY (hour, subject, account, currency, status, code)
) WITH (fillfactor = 50);

COMMENT ON TABLE hourly_outcomes IS
    'How many attempts and refunds ended in an hour, and how many discrepancies opened. Each of the merchant''s events is '
    'counted once.';
COMMENT ON COLUMN hourly_outcomes.account IS 'Empty for refunds, whose events have no account.';
COMMENT ON COLUMN hourly_outcomes.code IS 'Why it failed, or the kind of a discrepancy; empty for a success.';
COMMENT ON COLUMN hourly_outcomes.amount IS
    'In the minor unit of currency: the captured amount of succeeded attempts, the due amount of the others.';

CREATE TABLE hourly_progress (
    one      boolean PRIMARY KEY DEFAULT true CONSTRAINT hourly_progress_is_one CHECK (one),
    position bigint NOT NULL CONSTRAINT hourly_progress_counts CHECK (position >= 0)
);

COMMENT ON TABLE hourly_progress IS
    'hourly_outcomes has the events up to this position of the outbox. The counting transaction has its lock and moves it.';

INSERT INTO hourly_progress (position) VALUES (0);
