-- +goose Up
CREATE TYPE attempt_status AS ENUM ('pending', 'succeeded', 'failed');
CREATE TYPE attempt_stage AS ENUM ('requested', 'outcome_unknown', 'processing', 'awaiting_customer', 'authorized', 'final');

-- An update that changes no indexed column stays in its page and writes no index (heap-only tuples): live stays the same when an
-- attempt succeeds, and the pages have room.
CREATE TABLE payment_attempts (
    order_id              text NOT NULL CONSTRAINT attempts_have_an_order REFERENCES orders,
    attempt_id            uuid NOT NULL,
    user_id               text NOT NULL,
    client_request_id     text NOT NULL,
    request_hash          bytea NOT NULL,
    account               text NOT NULL,
    origin                text NOT NULL DEFAULT 'paylatch' CONSTRAINT attempts_origin_known CHECK (origin IN ('paylatch', 'external', 'imported')),
    provider_payment_id   text NOT NULL DEFAULT '',
    status                attempt_status NOT NULL,
    stage                 attempt_stage NOT NULL,
    live                  boolean NOT NULL GENERATED ALWAYS AS (status <> 'failed') STORED,
    amount                bigint NOT NULL CONSTRAINT attempts_amount_positive CHECK (amount BETWEEN 1 AND 1000000000000),
    currency              text NOT NULL,
    capture_manual        boolean NOT NULL DEFAULT false,
    movements             integer NOT NULL DEFAULT 0 CONSTRAINT attempts_movements_count CHECK (movements >= 0),
    amount_authorized     bigint NOT NULL DEFAULT 0,
    amount_captured       bigint NOT NULL DEFAULT 0,
    amount_refunded       bigint NOT NULL DEFAULT 0,
    amount_disputed       bigint NOT NULL DEFAULT 0,
    foreign_money         boolean NOT NULL DEFAULT false,
    next_action           text NOT NULL DEFAULT '',
    failure_code          text NOT NULL DEFAULT '',
    failure_message       text NOT NULL DEFAULT '',
    failure_provider_code text NOT NULL DEFAULT '',
    saved_payment_method  json,
    version               integer NOT NULL DEFAULT 1 CONSTRAINT attempts_version_counts CHECK (version >= 1),
    created_at            timestamptz NOT NULL,
    updated_at            timestamptz NOT NULL,
    finalized_at          timestamptz,
    expires_at            timestamptz,
    PRIMARY KEY (order_id, attempt_id),
    CONSTRAINT attempts_final_stage CHECK ((stage = 'final') = (status <> 'pending')),
    CONSTRAINT attempts_final_time CHECK ((finalized_at IS NOT NULL) = (status <> 'pending')),
    CONSTRAINT attempts_external_expire CHECK ((expires_at IS NOT NULL) = (origin = 'external'))
) WITH (fillfactor = 45);

COMMENT ON COLUMN payment_attempts.origin IS 'How the payment began: by paylatch, elsewhere, or imported from the past.';
COMMENT ON COLUMN payment_attempts.expires_at IS
    'When a payment that began elsewhere is cancelled; without an adapter that can cancel it, it fails then.';
COMMENT ON COLUMN payment_attempts.next_action IS
    'The customer''s next step, as JSON; empty for none. The log has only its digest, because its bearer may be able to '
    'continue the payment.';
COMMENT ON COLUMN payment_attempts.movements IS 'The number of the last money movement; 0: there are none to read.';
COMMENT ON COLUMN payment_attempts.amount_authorized IS
    'Authorizations less releases. Each of these amounts is an exact sum of movements in currency. A reversal may be reported '
    'before its original, so an amount may be negative for a while.';
COMMENT ON COLUMN payment_attempts.amount_captured IS
    'Captures less their reversals; may be above 0 although the attempt failed.';
COMMENT ON COLUMN payment_attempts.amount_refunded IS 'Refunds less their reversals.';
COMMENT ON COLUMN payment_attempts.amount_disputed IS 'Chargebacks less their reversals.';
COMMENT ON COLUMN payment_attempts.foreign_money IS
    'The attempt holds money in another currency than its own: the order takes no other payment.';
COMMENT ON COLUMN payment_attempts.saved_payment_method IS
    'The payment method that the provider has stored, with the token that charges it again for the same customer.';

CREATE UNIQUE INDEX attempts_one_live_per_order ON payment_attempts (order_id) WHERE live;
CREATE UNIQUE INDEX attempts_one_per_request ON payment_attempts (client_request_id COLLATE "C", order_id, user_id);
COMMENT ON INDEX attempts_one_per_request IS 'Unique for ever, so that a purged idempotency key can''t cause a second charge.';
CREATE INDEX attempts_by_id ON payment_attempts (attempt_id);
CREATE INDEX attempts_by_time ON payment_attempts (created_at, attempt_id);
COMMENT ON INDEX attempts_by_time IS
    'For lists. It has only those of their filters that never change: status, stage and updated_at would make each update '
    'write the index.';

-- +goose StatementBegin
CREATE FUNCTION payment_attempts_guard() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF OLD.status <> 'pending' AND NEW.status <> OLD.status THEN
        RAISE EXCEPTION 'attempt % is final', OLD.attempt_id
            USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'attempts_final_is_final';
    END IF;
    IF NEW.version < OLD.version THEN
        RAISE EXCEPTION 'attempt % only moves forward', OLD.attempt_id
            USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'attempts_only_forward';
    END IF;
    RAISE EXCEPTION 'what attempt % is for never changes', OLD.attempt_id
        USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'attempts_terms_fixed';
END $$;
-- +goose StatementEnd

CREATE TRIGGER payment_attempts_guard BEFORE UPDATE ON payment_attempts FOR EACH ROW WHEN (
    OLD.status <> 'pending' AND NEW.status <> OLD.status
    OR NEW.version < OLD.version
    OR (NEW.order_id, NEW.attempt_id, NEW.user_id, NEW.client_request_id, NEW.amount, NEW.currency, NEW.account, NEW.origin)
        IS DISTINCT FROM (OLD.order_id, OLD.attempt_id, OLD.user_id, OLD.client_request_id, OLD.amount, OLD.currency, OLD.account, OLD.origin)
) EXECUTE FUNCTION payment_attempts_guard();

CREATE TABLE attempt_references (
    account    text NOT NULL,
    reference  text NOT NULL,
    order_id   text NOT NULL,
    attempt_id uuid NOT NULL,
    CONSTRAINT references_one_attempt PRIMARY KEY (account, reference),
    CONSTRAINT references_have_an_attempt FOREIGN KEY (order_id, attempt_id) REFERENCES payment_attempts
);

COMMENT ON TABLE attempt_references IS
    'Every id by which a provider may name an attempt: our id first, then the ids of its payment, session and charge.';

CREATE INDEX references_by_attempt ON attempt_references (attempt_id);
CREATE INDEX references_by_text ON attempt_references (reference COLLATE "C") WHERE reference <> attempt_id::text;
