-- +goose Up
-- Who began a refund decides who may send it and what a provider's own refund is told from. It was read off user_id, where any caller could be
-- called the same.
ALTER TABLE refunds
    ADD COLUMN origin text NOT NULL DEFAULT 'request'
        CONSTRAINT refunds_origin_known CHECK (origin IN ('request', 'policy', 'provider')),
    ADD COLUMN former_provider_refund_id text NOT NULL DEFAULT '',
    ALTER COLUMN user_id DROP NOT NULL,
    ALTER COLUMN client_request_id DROP NOT NULL,
    ALTER COLUMN request_hash DROP NOT NULL,
    DISABLE TRIGGER refunds_guard;
UPDATE refunds SET
    origin = CASE user_id WHEN 'provider' THEN 'provider' ELSE 'policy' END,
    former_provider_refund_id = CASE WHEN user_id = 'provider' AND provider_refund_id = '' THEN client_request_id ELSE '' END,
    user_id = NULL, client_request_id = NULL, request_hash = NULL
WHERE user_id = 'provider' AND request_hash = decode(repeat('00', 32), 'hex')
    OR user_id = 'paylatch' AND client_request_id = 'auto-late-success' AND request_hash = decode(repeat('00', 32), 'hex');
ALTER TABLE refunds
    ADD CONSTRAINT refunds_request_is_whole
        CHECK (num_nonnulls(user_id, client_request_id, request_hash) = CASE origin WHEN 'request' THEN 3 ELSE 0 END),
    ENABLE TRIGGER refunds_guard;
CREATE UNIQUE INDEX refunds_one_by_policy ON refunds (order_id, attempt_id) WHERE origin = 'policy';

COMMENT ON COLUMN refunds.origin IS
    'Who began it: a request of user_id, the account''s policy for late money, or somebody in the provider''s own dashboard.';
COMMENT ON COLUMN refunds.user_id IS 'Who asked for it; NULL where that was no request.';
COMMENT ON COLUMN refunds.former_provider_refund_id IS
    'Of a refund that was taken for one made in the dashboard and is another one of ours: the provider''s id, which that one has now.';

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION refunds_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.status <> 'pending' AND NEW.status <> OLD.status THEN
        RAISE EXCEPTION 'refund % is final', OLD.refund_id
            USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'refunds_final_is_final';
    END IF;
    IF (NEW.order_id, NEW.refund_id, NEW.attempt_id, NEW.origin, NEW.user_id, NEW.client_request_id, NEW.amount, NEW.currency, NEW.account)
        IS DISTINCT FROM (OLD.order_id, OLD.refund_id, OLD.attempt_id, OLD.origin, OLD.user_id, OLD.client_request_id, OLD.amount, OLD.currency, OLD.account) THEN
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
