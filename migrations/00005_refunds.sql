-- +goose Up
CREATE TYPE refund_status AS ENUM ('pending', 'succeeded', 'failed');

CREATE TABLE refunds (
    order_id              text NOT NULL,
    refund_id             uuid NOT NULL,
    attempt_id            uuid NOT NULL,
    user_id               text NOT NULL,
    client_request_id     text NOT NULL,
    request_hash          bytea NOT NULL,
    account               text NOT NULL,
    provider_refund_id    text NOT NULL DEFAULT '',
    status                refund_status NOT NULL,
    amount                bigint NOT NULL CONSTRAINT refunds_amount_positive CHECK (amount > 0),
    currency              text NOT NULL,
    reason                text NOT NULL DEFAULT '',
    failure_code          text NOT NULL DEFAULT '',
    failure_message       text NOT NULL DEFAULT '',
    failure_provider_code text NOT NULL DEFAULT '',
    reversed              boolean NOT NULL DEFAULT false,
    version               integer NOT NULL DEFAULT 1 CHECK (version >= 1),
    fence                 bigint NOT NULL DEFAULT 1 CHECK (fence >= 1),
    lease_until           timestamptz,
    checks                integer NOT NULL DEFAULT 0,
    next_check_at         timestamptz,
    created_at            timestamptz NOT NULL,
    updated_at            timestamptz NOT NULL,
    finalized_at          timestamptz,
    PRIMARY KEY (order_id, refund_id),
    FOREIGN KEY (order_id, attempt_id) REFERENCES payment_attempts,
    CONSTRAINT refunds_one_per_request UNIQUE (order_id, attempt_id, user_id, client_request_id),
    CONSTRAINT refunds_final_time CHECK ((finalized_at IS NOT NULL) = (status <> 'pending')),
    CONSTRAINT refunds_pending_is_watched CHECK (status <> 'pending' OR next_check_at IS NOT NULL)
);

COMMENT ON COLUMN refunds.user_id IS 'Who asked for it; provider for one made in the provider''s own dashboard.';
COMMENT ON COLUMN refunds.reversed IS 'It succeeded, and the provider took the money back afterwards.';

CREATE INDEX refunds_by_id ON refunds (refund_id);
CREATE INDEX refunds_by_attempt ON refunds (attempt_id);
CREATE UNIQUE INDEX refunds_one_per_provider_id ON refunds (order_id, account, provider_refund_id) WHERE provider_refund_id <> '';
CREATE INDEX refunds_due ON refunds (next_check_at) WHERE next_check_at IS NOT NULL;

-- +goose StatementBegin
CREATE FUNCTION refunds_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.status <> 'pending' AND NEW.status <> OLD.status THEN
        RAISE EXCEPTION 'refund % is final', OLD.refund_id
            USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'refunds_final_is_final';
    END IF;
    IF (NEW.order_id, NEW.refund_id, NEW.attempt_id, NEW.user_id, NEW.client_request_id, NEW.amount, NEW.currency, NEW.account)
        IS DISTINCT FROM (OLD.order_id, OLD.refund_id, OLD.attempt_id, OLD.user_id, OLD.client_request_id, OLD.amount, OLD.currency, OLD.account) THEN
        RAISE EXCEPTION 'what refund % is for never changes', OLD.refund_id
            USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'refunds_terms_fixed';
    END IF;
    IF NEW.version < OLD.version OR NEW.fence < OLD.fence THEN
        RAISE EXCEPTION 'refund % only moves forward', OLD.refund_id
            USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'refunds_only_forward';
    END IF;
    RETURN NEW;
END $$;
-- +goose StatementEnd

CREATE TRIGGER refunds_guard BEFORE UPDATE ON refunds FOR EACH ROW EXECUTE FUNCTION refunds_guard();
