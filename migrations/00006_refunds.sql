-- +goose Up
CREATE TYPE refund_status AS ENUM ('pending', 'succeeded', 'failed');

CREATE TABLE refunds (
    order_id              text NOT NULL,
    refund_id             uuid NOT NULL,
    attempt_id            uuid NOT NULL,
    origin                text NOT NULL DEFAULT 'request' CONSTRAINT refunds_origin_known CHECK (origin IN ('request', 'policy', 'provider')),
    user_id               text,
    client_request_id     text,
    request_hash          bytea,
    account               text NOT NULL,
    provider_refund_id    text NOT NULL DEFAULT '',
    status                refund_status NOT NULL,
    amount                bigint NOT NULL CONSTRAINT refunds_amount_positive CHECK (amount > 0),
    currency              text NOT NULL,
    reason                text NOT NULL DEFAULT '',
    failure_code          text NOT NULL DEFAULT '',
    failure_message       text NOT NULL DEFAULT '',
    failure_provider_code text NOT NULL DEFAULT '',
    version               integer NOT NULL DEFAULT 1 CONSTRAINT refunds_version_counts CHECK (version >= 1),
    created_at            timestamptz NOT NULL,
    updated_at            timestamptz NOT NULL,
    finalized_at          timestamptz,
    PRIMARY KEY (order_id, refund_id),
    CONSTRAINT refunds_have_an_attempt FOREIGN KEY (order_id, attempt_id) REFERENCES payment_attempts,
    CONSTRAINT refunds_one_per_request UNIQUE (attempt_id, user_id, client_request_id),
    CONSTRAINT refunds_final_time CHECK ((finalized_at IS NOT NULL) = (status <> 'pending')),
    CONSTRAINT refunds_request_is_whole
        CHECK (num_nonnulls(user_id, client_request_id, request_hash) = CASE origin WHEN 'request' THEN 3 ELSE 0 END)
);

COMMENT ON COLUMN refunds.origin IS
    'A request of user_id, the account''s policy for late money, or the provider''s own dashboard.';
COMMENT ON COLUMN refunds.user_id IS
    'The user of the request, as client_request_id and request_hash; NULL for a refund without a request.';

CREATE UNIQUE INDEX refunds_one_by_policy ON refunds (attempt_id) WHERE origin = 'policy';
CREATE UNIQUE INDEX refunds_one_per_provider_id ON refunds (order_id, account, provider_refund_id) WHERE provider_refund_id <> '';
CREATE INDEX refunds_by_id ON refunds (refund_id);
CREATE INDEX refunds_by_time ON refunds (created_at, refund_id);
CREATE INDEX refunds_by_request ON refunds (client_request_id COLLATE "C");
CREATE INDEX refunds_by_provider_id ON refunds (provider_refund_id COLLATE "C") WHERE provider_refund_id <> '';

-- +goose StatementBegin
CREATE FUNCTION refunds_guard() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF OLD.status <> 'pending' AND NEW.status <> OLD.status THEN
        RAISE EXCEPTION 'refund % is final', OLD.refund_id
            USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'refunds_final_is_final';
    END IF;
    IF NEW.version < OLD.version THEN
        RAISE EXCEPTION 'refund % only moves forward', OLD.refund_id
            USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'refunds_only_forward';
    END IF;
    RAISE EXCEPTION 'what refund % is for never changes', OLD.refund_id
        USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'refunds_terms_fixed';
END $$;
-- +goose StatementEnd

CREATE TRIGGER refunds_guard BEFORE UPDATE ON refunds FOR EACH ROW WHEN (
    OLD.status <> 'pending' AND NEW.status <> OLD.status
    OR NEW.version < OLD.version
    OR (NEW.order_id, NEW.refund_id, NEW.attempt_id, NEW.origin, NEW.user_id, NEW.client_request_id, NEW.amount, NEW.currency, NEW.account)
        IS DISTINCT FROM (OLD.order_id, OLD.refund_id, OLD.attempt_id, OLD.origin, OLD.user_id, OLD.client_request_id, OLD.amount, OLD.currency, OLD.account)
) EXECUTE FUNCTION refunds_guard();
