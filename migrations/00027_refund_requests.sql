-- +goose Up
CREATE TABLE refund_requests (
    refund_request_id uuid CONSTRAINT refund_requests_pkey PRIMARY KEY,
    order_id          text NOT NULL,
    attempt_id        uuid NOT NULL,
    amount            bigint NOT NULL CONSTRAINT refund_requests_amount_positive CHECK (amount > 0),
    currency          text NOT NULL,
    reason            text NOT NULL CONSTRAINT refund_requests_have_a_reason CHECK (reason <> ''),
    requested_by      text NOT NULL,
    created_at        timestamptz NOT NULL,
    status            text NOT NULL DEFAULT 'open' CONSTRAINT refund_requests_status_known CHECK (status IN ('open', 'approved', 'declined')),
    decided_by        text NOT NULL DEFAULT '',
    decided_at        timestamptz,
    decision_reason   text NOT NULL DEFAULT '',
    refund_id         uuid,
    CONSTRAINT refund_requests_have_an_attempt FOREIGN KEY (order_id, attempt_id) REFERENCES payment_attempts,
    CONSTRAINT refund_requests_have_their_refund FOREIGN KEY (order_id, refund_id) REFERENCES refunds,
    CONSTRAINT refund_requests_decided_by_one CHECK ((status = 'open') = (decided_by = '') AND (status = 'open') = (decided_at IS NULL)),
    CONSTRAINT refund_requests_approved_with_refund CHECK ((status = 'approved') = (refund_id IS NOT NULL)),
    CONSTRAINT refund_requests_need_two CHECK (status <> 'approved' OR decided_by <> requested_by)
);

COMMENT ON TABLE refund_requests IS 'Refunds that staff requested. The approval and its refund are written in one transaction.';
COMMENT ON COLUMN refund_requests.decided_by IS 'The admin who approved or declined it, or requested_by if it was withdrawn.';

CREATE UNIQUE INDEX refund_requests_open_once ON refund_requests (attempt_id, requested_by, amount) WHERE status = 'open';
CREATE UNIQUE INDEX refund_requests_one_per_refund ON refund_requests (order_id, refund_id) WHERE refund_id IS NOT NULL;

CREATE TABLE notices (
    name            text CONSTRAINT notices_pkey PRIMARY KEY,
    position        bigint NOT NULL CONSTRAINT notices_position_counts CHECK (position >= 0),
    created_at      timestamptz NOT NULL,
    fence           bigint NOT NULL DEFAULT 0,
    lease_until     timestamptz,
    last_success_at timestamptz,
    last_failure_at timestamptz,
    last_failure    text NOT NULL DEFAULT ''
);

COMMENT ON TABLE notices IS 'The progress of each notice of the configuration. A notice sends the cases that came after its row.';
COMMENT ON COLUMN notices.position IS 'The cases of the outbox up to here are sent, or are not of the notice''s kinds.';
COMMENT ON COLUMN notices.fence IS 'Rises with each lease. A write with an older fence touches no row.';
COMMENT ON COLUMN notices.last_success_at IS
    'When the mail server last accepted a mail. The next mail goes out a minute later at the earliest.';

CREATE TABLE noticed_requests (
    notice            text NOT NULL CONSTRAINT noticed_by_a_notice REFERENCES notices (name),
    refund_request_id uuid NOT NULL CONSTRAINT noticed_refund_requests REFERENCES refund_requests (refund_request_id),
    CONSTRAINT noticed_requests_once PRIMARY KEY (notice, refund_request_id)
);

COMMENT ON TABLE noticed_requests IS 'The refund requests that a notice has sent. They have no position in the outbox.';
