-- +goose Up
-- Of an order that a customer created the shop must check the amount before it delivers. Of one from before this column nobody knows
-- who created it, and nor is it known of one that does not say: each counts as a customer's.
ALTER TABLE orders ADD COLUMN created_by text NOT NULL DEFAULT 'customer'
    CONSTRAINT orders_created_by CHECK (created_by IN ('service', 'customer'));

COMMENT ON COLUMN orders.created_by IS 'The role of whoever created the order, and so set its price.';

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION orders_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (NEW.order_id, NEW.user_id, NEW.amount, NEW.currency, NEW.created_by)
        IS DISTINCT FROM (OLD.order_id, OLD.user_id, OLD.amount, OLD.currency, OLD.created_by) THEN
        RAISE EXCEPTION 'what order % is for never changes', OLD.order_id
            USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'orders_terms_fixed';
    END IF;
    RETURN NEW;
END $$;
-- +goose StatementEnd
