-- +goose Up
ALTER TABLE orders ADD COLUMN revision integer NOT NULL DEFAULT 1, ADD COLUMN original jsonb;

COMMENT ON COLUMN orders.revision IS
    'Rises with each change of this row. With the versions of the order''s attempts it makes the version that callers see.';
COMMENT ON COLUMN orders.original IS
    'The terms with which an amended order was created: amount, currency, description, metadata. A repeat of the request that '
    'created it gets them. NULL for an order that was never amended.';

-- +goose StatementBegin
-- Terms change only by an amendment, and only while no attempt of the order is pending or has succeeded. The amendment holds the
-- lock of the order, as each pay does, so this reads the attempts of all pays before it.
CREATE OR REPLACE FUNCTION orders_guard() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE live boolean := true;
BEGIN
    IF current_setting('paylatch.erasing', true) = 'on' AND NEW.user_id LIKE 'erased-%'
        AND pg_has_role(current_user, (SELECT relowner FROM pg_class WHERE oid = TG_RELID), 'USAGE')
        AND (NEW.order_id, NEW.amount, NEW.currency, NEW.created_by) IS NOT DISTINCT FROM (OLD.order_id, OLD.amount, OLD.currency, OLD.created_by) THEN
        RETURN NEW;
    END IF;
    IF NEW.revision > OLD.revision AND NEW.original IS NOT NULL AND OLD.cancel_requested_at IS NULL AND OLD.accepted_attempt_id IS NULL
        AND (NEW.order_id, NEW.user_id, NEW.created_by) IS NOT DISTINCT FROM (OLD.order_id, OLD.user_id, OLD.created_by) THEN
        EXECUTE format('SELECT EXISTS (SELECT FROM %I.payment_attempts WHERE order_id = $1 AND status <> ''failed'')', TG_TABLE_SCHEMA)
            INTO live USING OLD.order_id;
        IF NOT live THEN
            RETURN NEW;
        END IF;
    END IF;
    RAISE EXCEPTION 'what order % is for changes only by an amendment, before it is paid', OLD.order_id
        USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'orders_terms_fixed';
END $$;

CREATE OR REPLACE FUNCTION erase_details(person text, fresh text, everything boolean, behind text, most integer) RETURNS jsonb LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE ids text[]; attempts uuid[]; sent uuid[]; events bigint;
BEGIN
    ids := orders_of(fresh, behind, most);
    attempts := ARRAY(SELECT attempt_id FROM payment_attempts WHERE order_id = ANY (ids));
    sent := ARRAY(SELECT e.event_id FROM provider_events e
        WHERE e.attempt_id = ANY (attempts) AND e.next_try_at IS NULL AND e.verdict <> 'unreadable' FOR NO KEY UPDATE);
    DELETE FROM event_bytes WHERE event_id = ANY (sent);
    GET DIAGNOSTICS events = ROW_COUNT;
    UPDATE orders SET description = '', metadata = '{}', original = original || '{"description": "", "metadata": {}}'
        WHERE order_id = ANY (ids) AND everything AND (description <> '' OR metadata <> '{}' OR original IS NOT NULL);
    PERFORM set_config('paylatch.erasing', 'on', true);
    UPDATE attempt_log SET actor = 'customer:' || fresh WHERE order_id = ANY (ids) AND actor = 'customer:' || person;
    PERFORM set_config('paylatch.erasing', '', true);
    UPDATE search_orders SET words = ARRAY(SELECT w FROM unnest(words) AS w WHERE w LIKE '@%' OR w LIKE '=%') WHERE order_id = ANY (ids) AND everything;
    UPDATE search_payments SET last_four = '' WHERE attempt_id = ANY (attempts) AND last_four <> '';
    DELETE FROM sealed_details WHERE order_id = ANY (ids) AND (everything OR attempt_id = '00000000-0000-0000-0000-000000000000');
    RETURN jsonb_build_object('last', ids[cardinality(ids)], 'seen', cardinality(ids), 'events', events);
END $$;
-- +goose StatementEnd
