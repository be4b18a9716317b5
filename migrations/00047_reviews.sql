-- +goose Up
CREATE TABLE saved_methods (
    account     text NOT NULL,
    token       text NOT NULL CONSTRAINT saved_methods_have_a_token CHECK (token <> ''),
    user_id     text NOT NULL,
    order_id    text NOT NULL,
    attempt_id  uuid,
    type        text NOT NULL,
    display     text NOT NULL,
    expires     text NOT NULL,
    removed_at  timestamptz,
    changed_at  timestamptz,
    restored_at timestamptz,
    version     integer NOT NULL CONSTRAINT saved_methods_version_positive CHECK (version > 0),
    updated_at  timestamptz NOT NULL,
    CONSTRAINT saved_methods_once PRIMARY KEY (account, token)
);

COMMENT ON TABLE saved_methods IS
    'The payment methods that providers have stored, as their events have changed them. A row is made when an attempt stores the method, or with the first '
    'event about it.';
COMMENT ON COLUMN saved_methods.user_id IS 'Of the attempt that stored the method, as order_id is; both empty for a method that was stored elsewhere.';
COMMENT ON COLUMN saved_methods.removed_at IS 'By the provider''s clock, as the next two. From then on the method can''t be charged.';
COMMENT ON COLUMN saved_methods.changed_at IS 'When an event last changed type, display or expires; NULL while they are as the attempt stored them.';
COMMENT ON COLUMN saved_methods.restored_at IS 'When a removed method could be charged again.';
COMMENT ON COLUMN saved_methods.version IS 'Rises by one with each change.';

CREATE INDEX saved_methods_by_order ON saved_methods (order_id) WHERE order_id <> '';

INSERT INTO saved_methods (account, token, user_id, order_id, attempt_id, type, display, expires, version, updated_at)
SELECT DISTINCT ON (account, saved_payment_method->>'token') account, saved_payment_method->>'token', user_id, order_id, attempt_id,
    coalesce(saved_payment_method->>'type', ''), coalesce(saved_payment_method->>'display', ''), coalesce(saved_payment_method->>'expires', ''), 1, updated_at
FROM payment_attempts WHERE saved_payment_method->>'token' <> ''
ORDER BY account, saved_payment_method->>'token', created_at, attempt_id;

ALTER TABLE payment_attempts ADD COLUMN review json;

COMMENT ON COLUMN payment_attempts.review IS
    'Where the provider''s own review of the payment stands, with its id there and the provider''s clock, and whether order.paid waits for it; NULL without a review.';

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION erase_orders(person text, fresh text, behind text, most integer) RETURNS jsonb LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE found text[]; ids text[];
BEGIN
    found := orders_of(person, behind, most);
    PERFORM FROM orders WHERE order_id = ANY (found) ORDER BY order_id FOR NO KEY UPDATE;
    ids := ARRAY(SELECT f.id FROM unnest(found) AS f (id)
        WHERE NOT EXISTS (SELECT FROM payment_attempts a WHERE a.order_id = f.id AND a.status = 'pending'));
    PERFORM set_config('paylatch.erasing', 'on', true);
    UPDATE orders SET user_id = fresh, client_request_id = order_id WHERE order_id = ANY (ids) AND user_id = person;
    UPDATE payment_attempts SET user_id = fresh, saved_payment_method = NULL WHERE order_id = ANY (ids) AND user_id = person;
    DELETE FROM saved_methods WHERE order_id = ANY (ids) AND user_id = person;
    UPDATE provider_events SET news = (news::jsonb - 'method')::json WHERE kind IN ('method_updated', 'method_removed')
        AND attempt_id = ANY (ARRAY(SELECT attempt_id FROM payment_attempts WHERE order_id = ANY (ids) AND user_id = fresh));
    UPDATE refunds SET user_id = fresh WHERE order_id = ANY (ids) AND user_id = person;
    UPDATE outbox SET payload = (payload::jsonb || jsonb_build_object('user_id', fresh)
        || CASE WHEN payload::jsonb ? 'saved_payment_method' THEN '{"saved_payment_method": null}' ELSE '{}' END::jsonb)::json
        WHERE order_id = ANY (ids) AND payload->>'user_id' = person;
    UPDATE search_orders SET words = ARRAY(SELECT CASE WHEN w LIKE '@%' THEN '@' || fresh ELSE w END FROM unnest(words) AS w) WHERE order_id = ANY (ids);
    PERFORM set_config('paylatch.erasing', '', true);
    RETURN jsonb_build_object('last', found[cardinality(found)], 'seen', cardinality(found), 'orders', cardinality(ids));
END $$;
-- +goose StatementEnd
