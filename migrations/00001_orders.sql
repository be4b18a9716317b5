-- +goose Up
CREATE TABLE orders (
    order_id            text PRIMARY KEY CONSTRAINT orders_id_length CHECK (length(order_id) BETWEEN 1 AND 128),
    user_id             text NOT NULL CONSTRAINT orders_have_a_user CHECK (user_id <> ''),
    client_request_id   text NOT NULL,
    request_hash        bytea NOT NULL,
    created_by          text NOT NULL DEFAULT 'customer' CONSTRAINT orders_created_by CHECK (created_by IN ('service', 'customer')),
    amount              bigint NOT NULL CONSTRAINT orders_amount_positive CHECK (amount BETWEEN 1 AND 1000000000000),
    currency            text NOT NULL CONSTRAINT orders_currency_iso CHECK (currency ~ '^[A-Z]{3}$'),
    description         text NOT NULL DEFAULT '',
    metadata            jsonb NOT NULL DEFAULT '{}',
    detailed            boolean NOT NULL DEFAULT false,
    cancel_requested_at timestamptz,
    accepted_attempt_id uuid,
    created_at          timestamptz NOT NULL,
    updated_at          timestamptz NOT NULL,
    CONSTRAINT orders_one_per_request UNIQUE (user_id, client_request_id)
);

COMMENT ON COLUMN orders.created_by IS
    'The role that set the price. If a customer set it, the shop must check the amount before it delivers.';
COMMENT ON COLUMN orders.detailed IS
    'The order came with lines or a customer. sealed_details has them until the order can''t be paid any more.';
COMMENT ON COLUMN orders.cancel_requested_at IS
    'A request, not a status, and never erased. With a succeeded attempt the order is paid all the same; without a live '
    'attempt it is cancelled.';
COMMENT ON COLUMN orders.accepted_attempt_id IS 'The failed attempt whose late money a person has accepted: it pays the order.';

-- Searches by prefix compare bytes, whatever the database's collation. Only a query that names this collation uses these indexes,
-- here and below, so no plan of a pay or a webhook depends on them.
CREATE INDEX orders_by_text ON orders (order_id COLLATE "C");
CREATE INDEX orders_by_user ON orders (user_id COLLATE "C", created_at);
CREATE INDEX orders_by_time ON orders (created_at, order_id COLLATE "C");

-- +goose StatementBegin
CREATE FUNCTION orders_guard() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'what order % is for never changes', OLD.order_id
        USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'orders_terms_fixed';
END $$;
-- +goose StatementEnd

-- A guard's function only refuses. The condition of its trigger decides whether it must, and costs next to nothing.
CREATE TRIGGER orders_guard BEFORE UPDATE ON orders FOR EACH ROW WHEN (
    (NEW.order_id, NEW.user_id, NEW.amount, NEW.currency, NEW.created_by)
        IS DISTINCT FROM (OLD.order_id, OLD.user_id, OLD.amount, OLD.currency, OLD.created_by)
) EXECUTE FUNCTION orders_guard();
