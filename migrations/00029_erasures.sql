-- +goose NO TRANSACTION
-- +goose Up
-- An index is built without a transaction, so that pays go on. So each statement of this file may be run again.
CREATE TABLE IF NOT EXISTS erasures (
    pseudonym text NOT NULL CONSTRAINT erasures_pkey PRIMARY KEY CONSTRAINT erasures_pseudonym_form CHECK (pseudonym ~ '^erased-[0-9a-f]{24}$'),
    mark      bytea NOT NULL CONSTRAINT erasures_one_per_person UNIQUE,
    begun_at  timestamptz NOT NULL,
    ended_at  timestamptz
);

COMMENT ON TABLE erasures IS 'Customers whose name was removed from their payments. Only the tables'' owner writes it.';
COMMENT ON COLUMN erasures.pseudonym IS 'The user_id of the customer''s orders from then on: random, one for each customer.';
COMMENT ON COLUMN erasures.mark IS
    'HMAC of the former user_id under a key of the configuration. A second erasure finds the pseudonym by it; without the key '
    'it reveals no name.';
COMMENT ON COLUMN erasures.ended_at IS 'NULL while the erasure is under way or was interrupted.';

CREATE TABLE IF NOT EXISTS erased_requests (
    digest bytea NOT NULL CONSTRAINT erased_requests_pkey PRIMARY KEY CONSTRAINT erased_requests_digest CHECK (octet_length(digest) = 32)
);

COMMENT ON TABLE erased_requests IS
    'SHA-256 of user_id, a line feed and client_request_id of each order whose customer was erased, so that the request that '
    'created the order creates no second one.';

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION orders_guard() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF current_setting('paylatch.erasing', true) = 'on' AND NEW.user_id LIKE 'erased-%'
        AND pg_has_role(current_user, (SELECT relowner FROM pg_class WHERE oid = TG_RELID), 'USAGE')
        AND (NEW.order_id, NEW.amount, NEW.currency, NEW.created_by) IS NOT DISTINCT FROM (OLD.order_id, OLD.amount, OLD.currency, OLD.created_by) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'what order % is for never changes', OLD.order_id
        USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'orders_terms_fixed';
END $$;

CREATE OR REPLACE FUNCTION payment_attempts_guard() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF OLD.status <> 'pending' AND NEW.status <> OLD.status THEN
        RAISE EXCEPTION 'attempt % is final', OLD.attempt_id
            USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'attempts_final_is_final';
    END IF;
    IF NEW.version < OLD.version THEN
        RAISE EXCEPTION 'attempt % only moves forward', OLD.attempt_id
            USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'attempts_only_forward';
    END IF;
    IF current_setting('paylatch.erasing', true) = 'on' AND NEW.user_id LIKE 'erased-%' AND OLD.status <> 'pending'
        AND pg_has_role(current_user, (SELECT relowner FROM pg_class WHERE oid = TG_RELID), 'USAGE')
        AND (NEW.order_id, NEW.attempt_id, NEW.client_request_id, NEW.amount, NEW.currency, NEW.account, NEW.origin)
            IS NOT DISTINCT FROM (OLD.order_id, OLD.attempt_id, OLD.client_request_id, OLD.amount, OLD.currency, OLD.account, OLD.origin) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'what attempt % is for never changes', OLD.attempt_id
        USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'attempts_terms_fixed';
END $$;

CREATE OR REPLACE FUNCTION refunds_guard() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF OLD.status <> 'pending' AND NEW.status <> OLD.status THEN
        RAISE EXCEPTION 'refund % is final', OLD.refund_id
            USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'refunds_final_is_final';
    END IF;
    IF NEW.version < OLD.version THEN
        RAISE EXCEPTION 'refund % only moves forward', OLD.refund_id
            USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'refunds_only_forward';
    END IF;
    IF current_setting('paylatch.erasing', true) = 'on' AND NEW.user_id LIKE 'erased-%'
        AND pg_has_role(current_user, (SELECT relowner FROM pg_class WHERE oid = TG_RELID), 'USAGE')
        AND (NEW.order_id, NEW.refund_id, NEW.attempt_id, NEW.origin, NEW.client_request_id, NEW.amount, NEW.currency, NEW.account)
            IS NOT DISTINCT FROM (OLD.order_id, OLD.refund_id, OLD.attempt_id, OLD.origin, OLD.client_request_id, OLD.amount, OLD.currency, OLD.account) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'what refund % is for never changes', OLD.refund_id
        USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'refunds_terms_fixed';
END $$;

-- An event keeps its place, its id and its subject; its content loses the customer's name.
CREATE OR REPLACE FUNCTION outbox_guard() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF TG_TABLE_NAME = 'outbox' AND current_setting('paylatch.erasing', true) = 'on'
        AND pg_has_role(current_user, (SELECT relowner FROM pg_class WHERE oid = TG_RELID), 'USAGE')
        AND to_jsonb(NEW) - 'payload' = to_jsonb(OLD) - 'payload' THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'what % says never changes', TG_TABLE_NAME
        USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'outbox_never_changes';
END $$;

-- Two exceptions, for functions of this file that the tables' owner runs: erase_orders, and the purges by age.
CREATE OR REPLACE FUNCTION append_only() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF (TG_TABLE_NAME = 'attempt_log' AND TG_OP = 'UPDATE' AND current_setting('paylatch.erasing', true) = 'on'
        OR TG_TABLE_NAME IN ('attempt_log', 'staff_audit') AND TG_OP = 'DELETE' AND current_setting('paylatch.purging', true) = 'on')
        AND pg_has_role(current_user, (SELECT relowner FROM pg_class WHERE oid = TG_RELID), 'USAGE') THEN
        RETURN NULL;
    END IF;
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME
        USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = TG_TABLE_NAME || '_append_only';
END $$;

CREATE OR REPLACE FUNCTION erasure_begin(marks bytea[], fresh text) RETURNS text LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE found text;
BEGIN
    UPDATE erasures SET ended_at = NULL WHERE mark = ANY (marks) RETURNING pseudonym INTO found;
    IF found IS NULL THEN
        INSERT INTO erasures (pseudonym, mark, begun_at) VALUES (fresh, marks[1], now());
        found := fresh;
    END IF;
    RETURN found;
END $$;

CREATE OR REPLACE FUNCTION erasure_end(ended text) RETURNS void LANGUAGE sql SET search_path FROM CURRENT AS $$
    UPDATE erasures SET ended_at = now() WHERE pseudonym = ended
$$;

-- OFFSET 0 makes the planner find the orders by the user and sort them then. Otherwise it would read everybody's orders in the
-- order of their ids.
CREATE OR REPLACE FUNCTION orders_of(person text, behind text, most integer) RETURNS text[] LANGUAGE sql STABLE SET search_path FROM CURRENT AS $$
    SELECT ARRAY(SELECT o.order_id FROM (SELECT order_id FROM orders WHERE user_id COLLATE "C" = person OFFSET 0) o
        WHERE o.order_id COLLATE "C" > behind ORDER BY o.order_id COLLATE "C" LIMIT most)
$$;

CREATE OR REPLACE FUNCTION erase_requests(person text, behind text, most integer) RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE ids text[] := orders_of(person, behind, most);
BEGIN
    INSERT INTO erased_requests SELECT sha256(convert_to(user_id || E'\n' || client_request_id, 'UTF8')) FROM orders
        WHERE order_id = ANY (ids) AND user_id = person
    ON CONFLICT DO NOTHING;
END $$;

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
    UPDATE refunds SET user_id = fresh WHERE order_id = ANY (ids) AND user_id = person;
    UPDATE outbox SET payload = (payload::jsonb || jsonb_build_object('user_id', fresh)
        || CASE WHEN payload::jsonb ? 'saved_payment_method' THEN '{"saved_payment_method": null}' ELSE '{}' END::jsonb)::json
        WHERE order_id = ANY (ids) AND payload->>'user_id' = person;
    UPDATE search_orders SET words = ARRAY(SELECT CASE WHEN w LIKE '@%' THEN '@' || fresh ELSE w END FROM unnest(words) AS w) WHERE order_id = ANY (ids);
    PERFORM set_config('paylatch.erasing', '', true);
    RETURN jsonb_build_object('last', found[cardinality(found)], 'seen', cardinality(found), 'orders', cardinality(ids));
END $$;

CREATE OR REPLACE FUNCTION erase_details(person text, fresh text, everything boolean, behind text, most integer) RETURNS jsonb LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE ids text[]; attempts uuid[]; events bigint;
BEGIN
    ids := orders_of(fresh, behind, most);
    attempts := ARRAY(SELECT attempt_id FROM payment_attempts WHERE order_id = ANY (ids));
    UPDATE provider_events SET body = NULL, headers = '{}'
        WHERE attempt_id = ANY (attempts) AND body IS NOT NULL AND next_try_at IS NULL AND verdict <> 'unreadable';
    GET DIAGNOSTICS events = ROW_COUNT;
    UPDATE orders SET description = '', metadata = '{}' WHERE order_id = ANY (ids) AND everything AND (description <> '' OR metadata <> '{}');
    PERFORM set_config('paylatch.erasing', 'on', true);
    UPDATE attempt_log SET actor = 'customer:' || fresh WHERE order_id = ANY (ids) AND actor = 'customer:' || person;
    PERFORM set_config('paylatch.erasing', '', true);
    UPDATE search_orders SET words = ARRAY(SELECT w FROM unnest(words) AS w WHERE w LIKE '@%' OR w LIKE '=%') WHERE order_id = ANY (ids) AND everything;
    UPDATE search_payments SET last_four = '' WHERE attempt_id = ANY (attempts) AND last_four <> '';
    DELETE FROM sealed_details WHERE order_id = ANY (ids) AND (everything OR attempt_id = '00000000-0000-0000-0000-000000000000');
    RETURN jsonb_build_object('last', ids[cardinality(ids)], 'seen', cardinality(ids), 'events', events);
END $$;

-- A command that is under way keeps its key: without it, its runner could not store the response.
CREATE OR REPLACE FUNCTION erase_keys(person text, most integer) RETURNS jsonb LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE gone bigint; running bigint;
BEGIN
    DELETE FROM idempotency_keys k USING (
        SELECT endpoint, key FROM idempotency_keys WHERE user_id = person AND (answered OR lease_until < now()) LIMIT most FOR UPDATE SKIP LOCKED) n
        WHERE k.user_id = person AND k.endpoint = n.endpoint AND k.key = n.key;
    GET DIAGNOSTICS gone = ROW_COUNT;
    DELETE FROM key_quotas WHERE user_id = person;
    SELECT count(*) INTO running FROM idempotency_keys WHERE user_id = person;
    RETURN jsonb_build_object('seen', gone, 'waiting', running);
END $$;

-- Entries are deleted once one is a day too old, so that an entry of a purge is purged no more than once a day. The entry of the
-- purge names the last entry that it deletes, where the chain then begins. It is appended first, so that the next entry always
-- has one to follow.
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
    PERFORM set_config('paylatch.purging', 'on', true);
    DELETE FROM staff_audit WHERE position <= gone.position;
    PERFORM set_config('paylatch.purging', '', true);
    RETURN gone.position - first + 1;
END $$;

CREATE OR REPLACE FUNCTION purge_attempt_log(keep interval, entry uuid, most integer) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE before timestamptz := now() - greatest(keep, interval '30 days'); gone bigint;
BEGIN
    IF NOT pg_try_advisory_xact_lock(hashtextextended('paylatch purge of the log ' || (SELECT n.nspname FROM pg_class r JOIN pg_namespace n ON n.oid = r.relnamespace WHERE r.oid = 'attempt_log'::regclass), 0))
        OR NOT EXISTS (SELECT FROM attempt_log WHERE at < before - interval '1 day' AND until < before - interval '1 day') THEN
        RETURN 0;
    END IF;
    PERFORM set_config('paylatch.purging', 'on', true);
    DELETE FROM attempt_log WHERE ctid = ANY (ARRAY(SELECT ctid FROM attempt_log WHERE at < before AND until < before LIMIT most));
    GET DIAGNOSTICS gone = ROW_COUNT;
    PERFORM set_config('paylatch.purging', '', true);
    IF gone > 0 THEN
        INSERT INTO staff_audit (entry_id, deed_id, actor, roles, action, target_type, outcome, detail)
        VALUES (entry, entry, 'paylatch', '{}', 'log.purge', 'log', 'done', jsonb_build_object('entries', gone, 'before', before));
    END IF;
    RETURN gone;
END $$;

-- These functions run with the owner's rights, so no table or function of the caller may stand in for one of ours.
DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION purge_audit(interval, uuid, integer) SET search_path = pg_catalog, %I, pg_temp', current_schema());
    EXECUTE format('ALTER FUNCTION purge_attempt_log(interval, uuid, integer) SET search_path = pg_catalog, %I, pg_temp', current_schema());
END $$;
-- +goose StatementEnd

REVOKE ALL ON FUNCTION purge_audit(interval, uuid, integer), purge_attempt_log(interval, uuid, integer) FROM PUBLIC;

DROP INDEX CONCURRENTLY IF EXISTS log_by_time;
CREATE INDEX CONCURRENTLY log_by_time ON attempt_log USING brin (at) WITH (pages_per_range = 32, autosummarize = on);
COMMENT ON INDEX log_by_time IS
    'Entries are appended in the order of their times, so a summary of each range of pages finds the old ones, and hardly '
    'costs an insert.';
