-- +goose Up
-- A provider may send a message about a stored payment method after its customer was erased. A digest of the method's token stays, so
-- that the message does not record the method again.
COMMENT ON COLUMN saved_methods.token IS
    'The provider''s. Once the customer is erased: erased- and the SHA-256 of the former token, and the row has no details.';

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION erase_methods(ids text[], fresh text) RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    UPDATE saved_methods m SET token = 'erased-' || encode(sha256(convert_to(m.token, 'UTF8')), 'hex'), user_id = fresh, type = '', display = '', expires = '',
        removed_at = NULL, changed_at = NULL, restored_at = NULL
        WHERE m.order_id = ANY (ids) AND m.token NOT LIKE 'erased-%' AND NOT EXISTS (
            SELECT FROM saved_methods e WHERE e.account = m.account AND e.token = 'erased-' || encode(sha256(convert_to(m.token, 'UTF8')), 'hex'));
    DELETE FROM saved_methods WHERE order_id = ANY (ids) AND token NOT LIKE 'erased-%';
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION erase_orders(person text, fresh text, behind text, most integer) RETURNS jsonb LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE found text[]; ids text[];
BEGIN
    found := orders_of(person, behind, most);
    PERFORM FROM orders WHERE order_id = ANY (found) ORDER BY order_id FOR NO KEY UPDATE;
    ids := ARRAY(SELECT f.id FROM unnest(found) AS f (id)
        WHERE NOT EXISTS (SELECT FROM payment_attempts a WHERE a.order_id = f.id AND a.status = 'pending'));
    INSERT INTO lifted_guards VALUES ('erasing');
    UPDATE orders SET user_id = fresh, client_request_id = order_id WHERE order_id = ANY (ids) AND user_id = person;
    UPDATE payment_attempts SET user_id = fresh, saved_payment_method = NULL WHERE order_id = ANY (ids) AND user_id = person;
    PERFORM erase_methods(ids, fresh);
    UPDATE provider_events SET news = (news::jsonb - 'method')::json WHERE kind IN ('method_updated', 'method_removed')
        AND attempt_id = ANY (ARRAY(SELECT attempt_id FROM payment_attempts WHERE order_id = ANY (ids) AND user_id = fresh));
    UPDATE refunds SET user_id = fresh WHERE order_id = ANY (ids) AND user_id = person;
    UPDATE outbox SET payload = (payload::jsonb || jsonb_build_object('user_id', fresh)
        || CASE WHEN payload::jsonb ? 'saved_payment_method' THEN '{"saved_payment_method": null}' ELSE '{}' END::jsonb)::json
        WHERE order_id = ANY (ids) AND payload->>'user_id' = person;
    UPDATE search_orders SET words = ARRAY(SELECT CASE WHEN w LIKE '@%' THEN '@' || fresh ELSE w END FROM unnest(words) AS w) WHERE order_id = ANY (ids);
    DELETE FROM lifted_guards;
    RETURN jsonb_build_object('last', found[cardinality(found)], 'seen', cardinality(found), 'orders', cardinality(ids));
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
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
    INSERT INTO lifted_guards VALUES ('erasing');
    UPDATE payment_attempts SET saved_payment_method = NULL WHERE order_id = ANY (ids) AND user_id = fresh AND saved_payment_method IS NOT NULL;
    UPDATE outbox SET payload = (payload::jsonb || '{"saved_payment_method": null}')::json
        WHERE order_id = ANY (ids) AND jsonb_typeof(payload::jsonb -> 'saved_payment_method') = 'object';
    UPDATE attempt_log SET actor = 'customer:' || fresh WHERE order_id = ANY (ids) AND actor = 'customer:' || person;
    DELETE FROM lifted_guards;
    PERFORM erase_methods(ids, fresh);
    UPDATE provider_events SET news = (news::jsonb - 'method')::json
        WHERE attempt_id = ANY (attempts) AND kind IN ('method_updated', 'method_removed') AND news::jsonb ? 'method';
    UPDATE search_orders SET words = ARRAY(SELECT w FROM unnest(words) AS w WHERE w LIKE '@%' OR w LIKE '=%') WHERE order_id = ANY (ids) AND everything;
    UPDATE search_payments SET last_four = '' WHERE attempt_id = ANY (attempts) AND last_four <> '';
    DELETE FROM sealed_details WHERE order_id = ANY (ids) AND (everything OR attempt_id = '00000000-0000-0000-0000-000000000000');
    RETURN jsonb_build_object('last', ids[cardinality(ids)], 'seen', cardinality(ids), 'events', events);
END $$;
-- +goose StatementEnd
