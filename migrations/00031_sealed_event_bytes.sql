-- +goose Up
-- The bytes of webhooks move from the inbox into a table of their own, encrypted with the key of their month, in partitions of a
-- month that are dropped as a whole. The bytes that are in the inbox now are dropped with their columns; the meaning of their
-- events stays. There is no release yet: an older program does not run beside this, and of an event that it could not read only
-- the id stays.
CREATE TABLE data_keys (
    key_id     uuid NOT NULL CONSTRAINT data_keys_pkey PRIMARY KEY,
    month      date NOT NULL CONSTRAINT data_keys_month_begins CHECK (extract(day FROM month) = 1),
    wrapped    bytea NOT NULL CONSTRAINT data_keys_wrapped CHECK (octet_length(wrapped) BETWEEN 60 AND 1000),
    created_at timestamptz NOT NULL DEFAULT now()
);

COMMENT ON TABLE data_keys IS
    'The keys of event_bytes, usually one for each month, encrypted with encryption_keys. Without its key a month can''t be '
    'read any more.';

CREATE TABLE event_bytes (
    event_id  uuid NOT NULL,
    sealed_at timestamptz NOT NULL,
    sealed    bytea NOT NULL,
    CONSTRAINT event_bytes_pkey PRIMARY KEY (event_id, sealed_at)
) PARTITION BY RANGE (sealed_at);

COMMENT ON TABLE event_bytes IS
    'Encrypted headers and bodies of webhooks. The program makes and drops a partition for each month (UTC).';
COMMENT ON COLUMN event_bytes.sealed_at IS
    'When it was encrypted: at its arrival, or later if it was still needed when its first month was dropped.';

-- For months whose partition was not made in time.
CREATE TABLE event_bytes_other PARTITION OF event_bytes DEFAULT;

ALTER TABLE provider_events ADD COLUMN taken text NOT NULL DEFAULT '';
ALTER TABLE provider_events DROP COLUMN body;
ALTER TABLE provider_events DROP COLUMN headers;

COMMENT ON COLUMN provider_events.taken IS 'How the event came, if not as a delivery with a valid signature; else empty.';

-- +goose StatementBegin
-- Makes the partitions of this month and the next, and returns how many were missing. Bytes that came before their partition are
-- moved into it, if they are few enough to be moved while the inbox waits; otherwise they stay until they are old. A locked
-- partition is made the next time.
CREATE OR REPLACE FUNCTION make_event_bytes() RETURNS integer LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT SET lock_timeout = '200ms' AS $$
DECLARE
    home text := (SELECT n.nspname FROM pg_class r JOIN pg_namespace n ON n.oid = r.relnamespace WHERE r.oid = 'event_bytes'::regclass);
    month timestamp; part text; begins timestamptz; ends timestamptz; waiting bigint; made integer := 0;
BEGIN
    FOR month IN SELECT date_trunc('month', now() AT TIME ZONE 'UTC') + make_interval(months => i) FROM generate_series(0, 1) i LOOP
        part := 'event_bytes_' || to_char(month, 'YYYY_MM');
        begins := month AT TIME ZONE 'UTC';
        ends := (month + interval '1 month') AT TIME ZONE 'UTC';
        CONTINUE WHEN to_regclass(format('%I.%I', home, part)) IS NOT NULL;
        SELECT count(*) INTO waiting FROM (SELECT FROM event_bytes_other LIMIT 10001) o;
        EXIT WHEN waiting > 10000;
        EXIT WHEN NOT pg_try_advisory_xact_lock(hashtextextended('paylatch event bytes ' || home, 0));
        EXECUTE format('CREATE TABLE %I.%I (LIKE %1$I.event_bytes INCLUDING ALL)', home, part);
        LOCK TABLE event_bytes_other IN ACCESS EXCLUSIVE MODE;
        EXECUTE format('INSERT INTO %1$I.%2$I SELECT * FROM %1$I.event_bytes_other WHERE sealed_at >= %3$L AND sealed_at < %4$L', home, part, begins, ends);
        DELETE FROM event_bytes_other WHERE sealed_at >= begins AND sealed_at < ends;
        EXECUTE format('ALTER TABLE %1$I.event_bytes ATTACH PARTITION %1$I.%2$I FOR VALUES FROM (%3$L) TO (%4$L)', home, part, begins, ends);
        made := made + 1;
    END LOOP;
    RETURN made;
EXCEPTION WHEN lock_not_available THEN
    RETURN 0;
END $$;

-- The months that ended longer ago than the age to keep them, and a day, since clocks differ. Tables and the catalog are read
-- apart: if a schema is on another server, a statement that reads both would read that server's catalog.
CREATE OR REPLACE FUNCTION old_event_bytes(keep interval) RETURNS SETOF date LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
    months date[] := ARRAY(SELECT k.month FROM data_keys k);
    first timestamptz := (SELECT min(o.sealed_at) FROM event_bytes_other o);
BEGIN
    months := months || date_trunc('month', first AT TIME ZONE 'UTC')::date || ARRAY(SELECT to_date(right(c.relname, 7), 'YYYY_MM') FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent = 'event_bytes'::regclass AND c.relname ~ '^event_bytes_[0-9]{4}_[0-9]{2}$');
    RETURN QUERY SELECT DISTINCT o.month FROM unnest(months) AS o (month)
        WHERE (o.month::timestamp + interval '1 month') AT TIME ZONE 'UTC' < now() - greatest(keep, interval '0') - interval '1 day'
        ORDER BY 1;
END $$;

-- Drops an old month's key with all bytes under it, unless an event that waits, or that no version could read yet, still needs
-- one. Of bytes without a partition it drops a portion, so that the month may be listed once more. Returns whether the month is
-- gone. A locked month is dropped the next time.
CREATE OR REPLACE FUNCTION drop_event_bytes(old date, keep interval) RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT SET lock_timeout = '200ms' AS $$
DECLARE
    home text := (SELECT n.nspname FROM pg_class r JOIN pg_namespace n ON n.oid = r.relnamespace WHERE r.oid = 'event_bytes'::regclass);
    begins timestamptz := old::timestamp AT TIME ZONE 'UTC';
    ends timestamptz := (old::timestamp + interval '1 month') AT TIME ZONE 'UTC';
    needed boolean;
BEGIN
    IF old NOT IN (SELECT old_event_bytes(keep)) THEN
        RETURN false;
    ELSIF NOT pg_try_advisory_xact_lock(hashtextextended('paylatch event bytes ' || home, 0)) THEN
        RETURN false;
    END IF;
    SELECT EXISTS (SELECT FROM provider_events e JOIN event_bytes b ON b.event_id = e.event_id
            WHERE e.next_try_at IS NOT NULL AND b.sealed_at >= begins AND b.sealed_at < ends)
        OR EXISTS (SELECT FROM provider_events e JOIN event_bytes b ON b.event_id = e.event_id
            WHERE e.verdict = 'unreadable' AND b.sealed_at >= begins AND b.sealed_at < ends) INTO needed;
    IF needed THEN
        RETURN false;
    END IF;
    DELETE FROM data_keys WHERE month = old;
    DELETE FROM event_bytes_other WHERE ctid = ANY (ARRAY(SELECT o.ctid FROM event_bytes_other o WHERE o.sealed_at >= begins AND o.sealed_at < ends LIMIT 20000));
    EXECUTE format('DROP TABLE IF EXISTS %I.%I', home, 'event_bytes_' || to_char(old, 'YYYY_MM'));
    RETURN true;
EXCEPTION WHEN lock_not_available THEN
    RETURN false;
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
    UPDATE orders SET description = '', metadata = '{}' WHERE order_id = ANY (ids) AND everything AND (description <> '' OR metadata <> '{}');
    PERFORM set_config('paylatch.erasing', 'on', true);
    UPDATE attempt_log SET actor = 'customer:' || fresh WHERE order_id = ANY (ids) AND actor = 'customer:' || person;
    PERFORM set_config('paylatch.erasing', '', true);
    UPDATE search_orders SET words = ARRAY(SELECT w FROM unnest(words) AS w WHERE w LIKE '@%' OR w LIKE '=%') WHERE order_id = ANY (ids) AND everything;
    UPDATE search_payments SET last_four = '' WHERE attempt_id = ANY (attempts) AND last_four <> '';
    DELETE FROM sealed_details WHERE order_id = ANY (ids) AND (everything OR attempt_id = '00000000-0000-0000-0000-000000000000');
    RETURN jsonb_build_object('last', ids[cardinality(ids)], 'seen', cardinality(ids), 'events', events);
END $$;

-- These functions run with the owner's rights, so no table or function of the caller may stand in for one of ours.
DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION old_event_bytes(interval) SET search_path = pg_catalog, %I, pg_temp', current_schema());
    EXECUTE format('ALTER FUNCTION make_event_bytes() SET search_path = pg_catalog, %I, pg_temp', current_schema());
    EXECUTE format('ALTER FUNCTION drop_event_bytes(date, interval) SET search_path = pg_catalog, %I, pg_temp', current_schema());
END $$;
-- +goose StatementEnd

REVOKE ALL ON FUNCTION make_event_bytes(), old_event_bytes(interval), drop_event_bytes(date, interval) FROM PUBLIC;

SELECT make_event_bytes();
