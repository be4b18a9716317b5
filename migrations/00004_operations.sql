-- +goose Up
CREATE TABLE operations (
    order_id       text NOT NULL,
    attempt_id     uuid NOT NULL,
    kind           text NOT NULL CONSTRAINT operations_kind_known
        CHECK (kind IN ('charge', 'complete', 'capture', 'cancel', 'refund', 'check')),
    number         integer NOT NULL CONSTRAINT operations_number_counts CHECK (number >= 0),
    account        text NOT NULL,
    refund_id      uuid,
    slot           text NOT NULL GENERATED ALWAYS AS (
        CASE WHEN kind IN ('charge', 'complete', 'capture') THEN 'take' ELSE coalesce(refund_id::text, kind) END) STORED,
    amount         bigint NOT NULL DEFAULT 0,
    origin         text NOT NULL CONSTRAINT operations_origin_known
        CHECK (origin IN ('request', 'policy', 'order_cancel', 'expiry', 'person', 'reconciler')),
    origin_id      text NOT NULL DEFAULT '',
    state          text NOT NULL CONSTRAINT operations_state_known
        CHECK (state IN ('wanted', 'sent', 'unknown', 'accepted', 'done', 'refused', 'not_sent', 'withdrawn')),
    open           boolean NOT NULL GENERATED ALWAYS AS (state IN ('wanted', 'sent', 'unknown', 'accepted')) STORED,
    sends          integer NOT NULL DEFAULT 0 CONSTRAINT operations_sends_count CHECK (sends >= 0),
    fence          bigint NOT NULL DEFAULT 0 CONSTRAINT operations_fence_counts CHECK (fence >= sends),
    lease_until    timestamptz,
    tries          integer NOT NULL DEFAULT 0 CONSTRAINT operations_tries_count CHECK (tries >= 0),
    next_at        timestamptz,
    first_sent_at  timestamptz,
    provider_ref   text NOT NULL DEFAULT '',
    result         text NOT NULL DEFAULT '',
    created_at     timestamptz NOT NULL,
    CONSTRAINT operations_one_per_number PRIMARY KEY (attempt_id, kind, number),
    CONSTRAINT operations_refund_has_one CHECK (kind <> 'refund' OR refund_id IS NOT NULL),
    CONSTRAINT operations_open_is_due CHECK ((next_at IS NOT NULL) = (state IN ('wanted', 'sent', 'unknown', 'accepted'))),
    CONSTRAINT operations_closed_is_free CHECK (lease_until IS NULL OR state IN ('wanted', 'sent', 'unknown', 'accepted'))
) WITH (fillfactor = 70);

COMMENT ON TABLE operations IS
    'The wanted calls to providers with their whole life. Each is on disk in state sent before its first byte. It is written '
    'under the lock of its attempt, except when the due list closes an operation that trails a final attempt. An accepted '
    'charge whose next_at stays changes no index.';
COMMENT ON COLUMN operations.number IS
    'Counts within (attempt, kind), from 0, and is never reused: part of the provider''s idempotency key.';
COMMENT ON COLUMN operations.refund_id IS 'The refund of a refund operation or of a refund''s check; else NULL.';
COMMENT ON COLUMN operations.slot IS
    'Decides which operations may be open at once: one take, one cancel, one check, and one of each refund.';
COMMENT ON COLUMN operations.amount IS 'The amount to capture or refund; 0: everything.';
COMMENT ON COLUMN operations.sends IS 'Counts the permits to send; 0: no byte was sent.';
COMMENT ON COLUMN operations.fence IS 'The fencing token: counts the takes. The conclusions of an earlier runner are void.';
COMMENT ON COLUMN operations.tries IS 'Counts call results, failures included.';
COMMENT ON COLUMN operations.first_sent_at IS 'The start of the resend window.';
COMMENT ON COLUMN operations.provider_ref IS 'The provider''s id of this call; a later refusal names it.';

CREATE UNIQUE INDEX operations_one_open ON operations (attempt_id, slot) WHERE open;
-- By account, so that thousands of checks of one slow provider do not delay the other accounts' operations.
CREATE INDEX operations_due ON operations (account, next_at) WHERE open;

-- +goose StatementBegin
CREATE FUNCTION operations_guard() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF TG_OP <> 'UPDATE' THEN
        RAISE EXCEPTION 'operations stay' USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'operations_stay';
    END IF;
    RAISE EXCEPTION 'operation % of attempt % only moves forward', OLD.kind, OLD.attempt_id
        USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'operations_only_forward';
END $$;

CREATE FUNCTION attempts_are_watched() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF EXISTS (SELECT FROM payment_attempts a WHERE a.order_id = NEW.order_id AND a.attempt_id = NEW.attempt_id AND a.status = 'pending')
        AND NOT EXISTS (SELECT FROM operations o WHERE o.attempt_id = NEW.attempt_id AND o.open AND o.refund_id IS NULL) THEN
        RAISE EXCEPTION 'nothing will look at attempt %', NEW.attempt_id
            USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'attempts_are_watched';
    END IF;
    RETURN NULL;
END $$;
-- +goose StatementEnd

COMMENT ON FUNCTION attempts_are_watched IS
    'A pending attempt has an open operation besides refunds when its transaction ends, so that it is looked at again.';

CREATE TRIGGER operations_only_forward BEFORE UPDATE ON operations FOR EACH ROW WHEN (
    NOT OLD.open AND OLD.state <> NEW.state OR NEW.fence < OLD.fence
    OR (NEW.order_id, NEW.attempt_id, NEW.kind, NEW.number, NEW.account, NEW.refund_id, NEW.amount, NEW.origin)
        IS DISTINCT FROM (OLD.order_id, OLD.attempt_id, OLD.kind, OLD.number, OLD.account, OLD.refund_id, OLD.amount, OLD.origin)
) EXECUTE FUNCTION operations_guard();
CREATE TRIGGER operations_stay BEFORE DELETE ON operations FOR EACH ROW EXECUTE FUNCTION operations_guard();
CREATE TRIGGER operations_all_stay BEFORE TRUNCATE ON operations FOR EACH STATEMENT EXECUTE FUNCTION operations_guard();

CREATE CONSTRAINT TRIGGER attempts_are_watched AFTER INSERT ON payment_attempts
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.status = 'pending') EXECUTE FUNCTION attempts_are_watched();
CREATE CONSTRAINT TRIGGER attempts_are_watched AFTER UPDATE ON operations
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (OLD.open AND NOT NEW.open) EXECUTE FUNCTION attempts_are_watched();
