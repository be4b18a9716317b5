-- +goose Up
CREATE TYPE attempt_status AS ENUM ('pending', 'succeeded', 'failed');
CREATE TYPE attempt_stage AS ENUM ('requested', 'outcome_unknown', 'processing', 'awaiting_customer', 'authorized', 'final');

CREATE TABLE payment_attempts (
    order_id              text NOT NULL REFERENCES orders,
    attempt_id            uuid NOT NULL,
    user_id               text NOT NULL,
    client_request_id     text NOT NULL,
    request_hash          bytea NOT NULL,
    account               text NOT NULL,
    provider_payment_id   text NOT NULL DEFAULT '',
    status                attempt_status NOT NULL,
    stage                 attempt_stage NOT NULL,
    amount                bigint NOT NULL CONSTRAINT attempts_amount_positive CHECK (amount BETWEEN 1 AND 1000000000000),
    currency              text NOT NULL,
    amount_authorized     bigint NOT NULL DEFAULT 0 CHECK (amount_authorized >= 0),
    amount_captured       bigint NOT NULL DEFAULT 0,
    amount_reversed       bigint NOT NULL DEFAULT 0 CHECK (amount_reversed >= 0),
    amount_refunded       bigint NOT NULL DEFAULT 0,
    capture_manual        boolean NOT NULL DEFAULT false,
    next_action_url       text NOT NULL DEFAULT '',
    return_url            text NOT NULL DEFAULT '',
    failure_code          text NOT NULL DEFAULT '',
    failure_message       text NOT NULL DEFAULT '',
    failure_provider_code text NOT NULL DEFAULT '',
    intent                text NOT NULL DEFAULT '' CONSTRAINT attempts_intent_known CHECK (intent IN ('', 'capture', 'cancel')),
    intent_amount         bigint NOT NULL DEFAULT 0,
    intent_number         integer NOT NULL DEFAULT 0,
    intent_at             timestamptz,
    sealed_token          bytea,
    version               integer NOT NULL DEFAULT 1 CHECK (version >= 1),
    fence                 bigint NOT NULL DEFAULT 1 CHECK (fence >= 1),
    lease_until           timestamptz,
    checks                integer NOT NULL DEFAULT 0,
    next_check_at         timestamptz,
    created_at            timestamptz NOT NULL,
    updated_at            timestamptz NOT NULL,
    finalized_at          timestamptz,
    PRIMARY KEY (order_id, attempt_id),
    CONSTRAINT attempts_one_per_request UNIQUE (order_id, user_id, client_request_id),
    CONSTRAINT attempts_final_stage CHECK ((stage = 'final') = (status <> 'pending')),
    CONSTRAINT attempts_final_time CHECK ((finalized_at IS NOT NULL) = (status <> 'pending')),
    CONSTRAINT attempts_final_keeps_no_token CHECK (status = 'pending' OR sealed_token IS NULL),
    CONSTRAINT attempts_pending_is_watched CHECK (status <> 'pending' OR next_check_at IS NOT NULL),
    CONSTRAINT attempts_refunded_held CHECK (amount_refunded BETWEEN 0 AND amount_captured)
);

COMMENT ON CONSTRAINT attempts_one_per_request ON payment_attempts IS
    'For ever: a purged idempotency key can never cause a second charge.';
COMMENT ON COLUMN payment_attempts.fence IS
    'Rises each time the attempt is taken over, which lease_until must allow; it licenses the calls that move money.';
COMMENT ON COLUMN payment_attempts.sealed_token IS
    'The payment method''s token, encrypted, for as long as the call may have to be made again; erased when final.';
COMMENT ON COLUMN payment_attempts.amount_captured IS
    'What the provider says that it took: a fact, which may be above 0 although the attempt failed.';

CREATE UNIQUE INDEX attempts_one_live_per_order ON payment_attempts (order_id) WHERE status IN ('pending', 'succeeded');
CREATE INDEX attempts_by_id ON payment_attempts (attempt_id);
CREATE INDEX attempts_due ON payment_attempts (next_check_at) WHERE next_check_at IS NOT NULL;

-- +goose StatementBegin
CREATE FUNCTION payment_attempts_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.status <> 'pending' AND NEW.status <> OLD.status THEN
        RAISE EXCEPTION 'attempt % is final', OLD.attempt_id
            USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'attempts_final_is_final';
    END IF;
    IF (NEW.order_id, NEW.attempt_id, NEW.user_id, NEW.client_request_id, NEW.amount, NEW.currency, NEW.account)
        IS DISTINCT FROM (OLD.order_id, OLD.attempt_id, OLD.user_id, OLD.client_request_id, OLD.amount, OLD.currency, OLD.account) THEN
        RAISE EXCEPTION 'what attempt % is for never changes', OLD.attempt_id
            USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'attempts_terms_fixed';
    END IF;
    IF NEW.version < OLD.version OR NEW.fence < OLD.fence THEN
        RAISE EXCEPTION 'attempt % only moves forward', OLD.attempt_id
            USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'attempts_only_forward';
    END IF;
    RETURN NEW;
END $$;
-- +goose StatementEnd

CREATE TRIGGER payment_attempts_guard BEFORE UPDATE ON payment_attempts
    FOR EACH ROW EXECUTE FUNCTION payment_attempts_guard();
