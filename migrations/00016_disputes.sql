-- +goose Up
CREATE TABLE disputes (
    order_id            text NOT NULL,
    dispute_id          uuid NOT NULL,
    attempt_id          uuid NOT NULL,
    account             text NOT NULL,
    provider_dispute_id text NOT NULL CONSTRAINT disputes_have_a_name CHECK (provider_dispute_id <> ''),
    status              text NOT NULL CONSTRAINT disputes_status_known
        CHECK (status IN ('warning', 'open', 'under_review', 'won', 'lost', 'accepted')),
    reason              text NOT NULL DEFAULT '',
    amount              bigint CONSTRAINT disputes_amount_not_negative CHECK (amount >= 0),
    currency            text,
    due_by              timestamptz,
    status_at           timestamptz,
    version             integer NOT NULL CONSTRAINT disputes_version_counts CHECK (version >= 1),
    opened_at           timestamptz NOT NULL,
    updated_at          timestamptz NOT NULL,
    closed_at           timestamptz,
    PRIMARY KEY (order_id, dispute_id),
    CONSTRAINT disputes_have_an_attempt FOREIGN KEY (order_id, attempt_id) REFERENCES payment_attempts,
    CONSTRAINT disputes_one_per_provider_id UNIQUE (account, provider_dispute_id),
    CONSTRAINT disputes_amount_has_a_currency CHECK ((amount IS NULL) = (currency IS NULL)),
    CONSTRAINT disputes_closed_time CHECK ((closed_at IS NOT NULL) = (status IN ('won', 'lost', 'accepted')))
);

COMMENT ON TABLE disputes IS 'Disputes under the provider''s id. A dispute moves no money; its chargebacks are money movements.';
COMMENT ON COLUMN disputes.amount IS 'The disputed amount; NULL, like the currency, if the provider does not state it.';
COMMENT ON COLUMN disputes.status_at IS 'The provider''s time of the last report that counted; NULL if none had a time.';
COMMENT ON COLUMN disputes.opened_at IS 'When the first report of the dispute was applied.';

CREATE INDEX disputes_by_id ON disputes (dispute_id);
CREATE INDEX disputes_by_attempt ON disputes (attempt_id);
CREATE INDEX disputes_by_time ON disputes (opened_at, dispute_id);
CREATE INDEX disputes_open ON disputes (coalesce(due_by, '9999-01-01 00:00:00+00'), dispute_id) WHERE closed_at IS NULL;
CREATE INDEX disputes_by_provider_id ON disputes (provider_dispute_id COLLATE "C");

-- +goose StatementBegin
CREATE FUNCTION disputes_guard() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NEW.version <= OLD.version OR NEW.status_at < OLD.status_at THEN
        RAISE EXCEPTION 'dispute % only moves forward', OLD.dispute_id
            USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'disputes_only_forward';
    END IF;
    RAISE EXCEPTION 'what dispute % is of never changes', OLD.dispute_id
        USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'disputes_terms_fixed';
END $$;
-- +goose StatementEnd

CREATE TRIGGER disputes_guard BEFORE UPDATE ON disputes FOR EACH ROW WHEN (
    NEW.version <= OLD.version OR NEW.status_at < OLD.status_at
    OR (NEW.order_id, NEW.dispute_id, NEW.attempt_id, NEW.account, NEW.provider_dispute_id, NEW.opened_at)
        IS DISTINCT FROM (OLD.order_id, OLD.dispute_id, OLD.attempt_id, OLD.account, OLD.provider_dispute_id, OLD.opened_at)
) EXECUTE FUNCTION disputes_guard();
