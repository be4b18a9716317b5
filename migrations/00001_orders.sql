-- +goose Up
CREATE TABLE orders (
    order_id            text PRIMARY KEY CHECK (length(order_id) BETWEEN 1 AND 128),
    user_id             text NOT NULL CHECK (user_id <> ''),
    client_request_id   text NOT NULL,
    request_hash        bytea NOT NULL,
    amount              bigint NOT NULL CONSTRAINT orders_amount_positive CHECK (amount BETWEEN 1 AND 1000000000000),
    currency            text NOT NULL CONSTRAINT orders_currency_iso CHECK (currency ~ '^[A-Z]{3}$'),
    description         text NOT NULL DEFAULT '',
    metadata            jsonb NOT NULL DEFAULT '{}',
    cancel_requested_at timestamptz,
    created_at          timestamptz NOT NULL,
    updated_at          timestamptz NOT NULL,
    CONSTRAINT orders_one_per_request UNIQUE (user_id, client_request_id)
);

COMMENT ON COLUMN orders.cancel_requested_at IS
    'A wish, not a status: an order is paid by a succeeded attempt, cancelled by this wish and no live attempt.';

-- +goose StatementBegin
CREATE FUNCTION orders_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (NEW.order_id, NEW.user_id, NEW.amount, NEW.currency) IS DISTINCT FROM (OLD.order_id, OLD.user_id, OLD.amount, OLD.currency) THEN
        RAISE EXCEPTION 'what order % is for never changes', OLD.order_id
            USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'orders_terms_fixed';
    END IF;
    RETURN NEW;
END $$;
-- +goose StatementEnd

CREATE TRIGGER orders_guard BEFORE UPDATE ON orders FOR EACH ROW EXECUTE FUNCTION orders_guard();
