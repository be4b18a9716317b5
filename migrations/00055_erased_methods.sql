-- +goose Up
-- A provider may tell of a stored payment method after its customer was erased. erase_details removes it by the pseudonym.
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
    DELETE FROM saved_methods WHERE order_id = ANY (ids);
    UPDATE provider_events SET news = (news::jsonb - 'method')::json
        WHERE attempt_id = ANY (attempts) AND kind IN ('method_updated', 'method_removed') AND news::jsonb ? 'method';
    UPDATE search_orders SET words = ARRAY(SELECT w FROM unnest(words) AS w WHERE w LIKE '@%' OR w LIKE '=%') WHERE order_id = ANY (ids) AND everything;
    UPDATE search_payments SET last_four = '' WHERE attempt_id = ANY (attempts) AND last_four <> '';
    DELETE FROM sealed_details WHERE order_id = ANY (ids) AND (everything OR attempt_id = '00000000-0000-0000-0000-000000000000');
    RETURN jsonb_build_object('last', ids[cardinality(ids)], 'seen', cardinality(ids), 'events', events);
END $$;
-- +goose StatementEnd
