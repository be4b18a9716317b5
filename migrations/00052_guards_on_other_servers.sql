-- +goose Up
-- The functions that may change protected rows say so by a row of this table. A setting would not reach a schema's tables on another
-- server: there the triggers run in another session. The name of a part of a table ends with the part's number there.
CREATE TABLE lifted_guards (
    guard text NOT NULL CONSTRAINT lifted_guards_known CHECK (guard IN ('erasing', 'purging')),
    xid xid8 NOT NULL,
    PRIMARY KEY (guard, xid)
);

COMMENT ON TABLE lifted_guards IS
    'The guards that the current transaction has lifted. A row counts only in the transaction xid that wrote it, which deletes it again. '
    'Only the tables'' owner writes it.';

-- +goose StatementBegin
-- The server of the tables fills in the transaction. Another server would know another one.
CREATE FUNCTION lifted_guards_stamp() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    NEW.xid := pg_current_xact_id();
    RETURN NEW;
END $$;
-- +goose StatementEnd

CREATE TRIGGER lifted_guards_stamp BEFORE INSERT ON lifted_guards FOR EACH ROW EXECUTE FUNCTION lifted_guards_stamp();

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION orders_guard() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE live boolean := true; lifted boolean := false;
BEGIN
    IF pg_has_role(current_user, (SELECT relowner FROM pg_class WHERE oid = TG_RELID), 'USAGE') THEN
        EXECUTE format('SELECT EXISTS (SELECT FROM %I.lifted_guards WHERE guard = ''erasing'' AND xid = pg_current_xact_id_if_assigned())', TG_TABLE_SCHEMA)
            INTO lifted;
    END IF;
    IF lifted AND NEW.user_id LIKE 'erased-%'
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
-- +goose StatementEnd

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION payment_attempts_guard() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE lifted boolean := false;
BEGIN
    IF OLD.status <> 'pending' AND NEW.status <> OLD.status THEN
        RAISE EXCEPTION 'attempt % is final', OLD.attempt_id
            USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'attempts_final_is_final';
    END IF;
    IF NEW.version < OLD.version THEN
        RAISE EXCEPTION 'attempt % only moves forward', OLD.attempt_id
            USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'attempts_only_forward';
    END IF;
    IF pg_has_role(current_user, (SELECT relowner FROM pg_class WHERE oid = TG_RELID), 'USAGE') THEN
        EXECUTE format('SELECT EXISTS (SELECT FROM %I.lifted_guards WHERE guard = ''erasing'' AND xid = pg_current_xact_id_if_assigned())', TG_TABLE_SCHEMA)
            INTO lifted;
    END IF;
    IF lifted AND NEW.user_id LIKE 'erased-%' AND OLD.status <> 'pending'
        AND (NEW.order_id, NEW.attempt_id, NEW.client_request_id, NEW.amount, NEW.currency, NEW.account, NEW.origin)
            IS NOT DISTINCT FROM (OLD.order_id, OLD.attempt_id, OLD.client_request_id, OLD.amount, OLD.currency, OLD.account, OLD.origin) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'what attempt % is for never changes', OLD.attempt_id
        USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'attempts_terms_fixed';
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION refunds_guard() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE lifted boolean := false;
BEGIN
    IF OLD.status <> 'pending' AND NEW.status <> OLD.status THEN
        RAISE EXCEPTION 'refund % is final', OLD.refund_id
            USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'refunds_final_is_final';
    END IF;
    IF NEW.version < OLD.version THEN
        RAISE EXCEPTION 'refund % only moves forward', OLD.refund_id
            USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'refunds_only_forward';
    END IF;
    IF pg_has_role(current_user, (SELECT relowner FROM pg_class WHERE oid = TG_RELID), 'USAGE') THEN
        EXECUTE format('SELECT EXISTS (SELECT FROM %I.lifted_guards WHERE guard = ''erasing'' AND xid = pg_current_xact_id_if_assigned())', TG_TABLE_SCHEMA)
            INTO lifted;
    END IF;
    IF lifted AND NEW.user_id LIKE 'erased-%'
        AND (NEW.order_id, NEW.refund_id, NEW.attempt_id, NEW.origin, NEW.client_request_id, NEW.amount, NEW.currency, NEW.account)
            IS NOT DISTINCT FROM (OLD.order_id, OLD.refund_id, OLD.attempt_id, OLD.origin, OLD.client_request_id, OLD.amount, OLD.currency, OLD.account) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'what refund % is for never changes', OLD.refund_id
        USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'refunds_terms_fixed';
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
-- An event keeps its place, its id and its subject; its content loses the customer's name.
CREATE OR REPLACE FUNCTION outbox_guard() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE name text := regexp_replace(TG_TABLE_NAME, '_[0-9]{6,}$', ''); lifted boolean := false;
BEGIN
    IF pg_has_role(current_user, (SELECT relowner FROM pg_class WHERE oid = TG_RELID), 'USAGE') THEN
        EXECUTE format('SELECT EXISTS (SELECT FROM %I.lifted_guards WHERE guard = ''erasing'' AND xid = pg_current_xact_id_if_assigned())', TG_TABLE_SCHEMA)
            INTO lifted;
    END IF;
    IF name = 'outbox' AND lifted
        AND to_jsonb(NEW) - 'payload' = to_jsonb(OLD) - 'payload' THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'what % says never changes', name
        USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'outbox_never_changes';
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
-- Two exceptions, for functions of this file that the tables' owner runs: erase_details, and the purges by age.
CREATE OR REPLACE FUNCTION append_only() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    name text := regexp_replace(TG_TABLE_NAME, '_[0-9]{6,}$', '');
    guard text := CASE WHEN name = 'attempt_log' AND TG_OP = 'UPDATE' THEN 'erasing' WHEN name IN ('attempt_log', 'staff_audit') AND TG_OP = 'DELETE' THEN 'purging' END;
    lifted boolean := false;
BEGIN
    IF guard IS NOT NULL AND pg_has_role(current_user, (SELECT relowner FROM pg_class WHERE oid = TG_RELID), 'USAGE') THEN
        EXECUTE format('SELECT EXISTS (SELECT FROM %I.lifted_guards l WHERE l.guard = $1 AND l.xid = pg_current_xact_id_if_assigned())', TG_TABLE_SCHEMA)
            INTO lifted USING guard;
    END IF;
    IF lifted THEN
        RETURN NULL;
    END IF;
    RAISE EXCEPTION '% is append-only', name
        USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = name || '_append_only';
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION erase_requests(person text, behind text, most integer) RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE ids text[] := orders_of(person, behind, most);
BEGIN
    WITH gone AS (
        SELECT sha256(convert_to(user_id || E'\n' || client_request_id, 'UTF8')) AS digest FROM orders WHERE order_id = ANY (ids) AND user_id = person
    )
    INSERT INTO erased_requests SELECT digest FROM gone ON CONFLICT DO NOTHING;
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
    DELETE FROM saved_methods WHERE order_id = ANY (ids) AND user_id = person;
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
    UPDATE attempt_log SET actor = 'customer:' || fresh WHERE order_id = ANY (ids) AND actor = 'customer:' || person;
    DELETE FROM lifted_guards;
    UPDATE search_orders SET words = ARRAY(SELECT w FROM unnest(words) AS w WHERE w LIKE '@%' OR w LIKE '=%') WHERE order_id = ANY (ids) AND everything;
    UPDATE search_payments SET last_four = '' WHERE attempt_id = ANY (attempts) AND last_four <> '';
    DELETE FROM sealed_details WHERE order_id = ANY (ids) AND (everything OR attempt_id = '00000000-0000-0000-0000-000000000000');
    RETURN jsonb_build_object('last', ids[cardinality(ids)], 'seen', cardinality(ids), 'events', events);
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION purge_audit(keep interval, entry uuid, most integer) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE before timestamptz := now() - greatest(keep, interval '30 days'); gone staff_audit; held bigint; first bigint; oldest timestamptz;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('paylatch audit ' || (SELECT n.nspname FROM pg_class r JOIN pg_namespace n ON n.oid = r.relnamespace WHERE r.oid = 'staff_audit'::regclass), 0));
    SELECT position, at INTO first, oldest FROM staff_audit ORDER BY position LIMIT 1;
    IF oldest IS NULL OR oldest >= before - interval '1 day' THEN
        RETURN 0;
    END IF;
    SELECT min(e.position) INTO held FROM (SELECT position, at FROM staff_audit ORDER BY position LIMIT most) e WHERE e.at >= before;
    SELECT * INTO gone FROM staff_audit WHERE position = coalesce(held - 1, (SELECT max(e.position) FROM (SELECT position FROM staff_audit ORDER BY position LIMIT most) e));
    IF gone.position IS NULL OR gone.position < first THEN
        RETURN 0;
    END IF;
    INSERT INTO staff_audit (entry_id, deed_id, actor, roles, action, target_type, target, outcome, detail)
    VALUES (entry, entry, 'paylatch', '{}', 'audit.purge', 'audit', gone.position || ':' || encode(gone.hash, 'hex'), 'done',
        jsonb_build_object('entries', gone.position - first + 1, 'before', before));
    INSERT INTO lifted_guards VALUES ('purging');
    DELETE FROM staff_audit WHERE position <= gone.position;
    DELETE FROM lifted_guards;
    RETURN gone.position - first + 1;
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION purge_attempt_log(keep interval, entry uuid, most integer) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE before timestamptz := now() - greatest(keep, interval '30 days'); gone bigint; old boolean;
BEGIN
    IF NOT pg_try_advisory_xact_lock(hashtextextended('paylatch purge of the log ' || (SELECT n.nspname FROM pg_class r JOIN pg_namespace n ON n.oid = r.relnamespace WHERE r.oid = 'attempt_log'::regclass), 0)) THEN
        RETURN 0;
    END IF;
    SELECT EXISTS (SELECT FROM attempt_log WHERE at < before - interval '1 day' AND until < before - interval '1 day') INTO old;
    IF NOT old THEN
        RETURN 0;
    END IF;
    INSERT INTO lifted_guards VALUES ('purging');
    DELETE FROM attempt_log WHERE ctid = ANY (ARRAY(SELECT ctid FROM attempt_log WHERE at < before AND until < before LIMIT most));
    GET DIAGNOSTICS gone = ROW_COUNT;
    DELETE FROM lifted_guards;
    IF gone > 0 THEN
        INSERT INTO staff_audit (entry_id, deed_id, actor, roles, action, target_type, outcome, detail)
        VALUES (entry, entry, 'paylatch', '{}', 'log.purge', 'log', 'done', jsonb_build_object('entries', gone, 'before', before));
    END IF;
    RETURN gone;
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
-- The error of another server comes without the constraint's name, so that the message has it, too.
CREATE OR REPLACE FUNCTION must_touch(guard text, touched bigint, expected bigint) RETURNS void
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF touched IS DISTINCT FROM expected THEN
        RAISE EXCEPTION '% rows instead of %: %', touched, expected, guard
            USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = guard;
    END IF;
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
-- These functions run with the owner's rights, so no table or function of the caller may stand in for one of ours.
DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION purge_audit(interval, uuid, integer) SET search_path = pg_catalog, %I, pg_temp', current_schema());
    EXECUTE format('ALTER FUNCTION purge_attempt_log(interval, uuid, integer) SET search_path = pg_catalog, %I, pg_temp', current_schema());
END $$;
-- +goose StatementEnd
