INSERT INTO orders (order_id, user_id, client_request_id, request_hash, amount, currency, created_at, updated_at)
SELECT 'o-' || lpad(i::text, 8, '0'), 'u-' || i, 'make-' || i, sha256(i::text::bytea), 1999, 'EUR', now(), now()
FROM generate_series(current_setting('bench.first')::int, current_setting('bench.last')::int) i;

INSERT INTO payment_attempts (order_id, attempt_id, user_id, client_request_id, request_hash, account, provider_payment_id,
    status, stage, amount, currency, version, created_at, updated_at)
SELECT 'o-' || lpad(i::text, 8, '0'), ('01900000-0000-7000-8000-' || lpad(to_hex(i), 12, '0'))::uuid, 'u-' || i, 'pay-' || i,
    sha256(i::text::bytea), current_setting('bench.account'), 'ch_' || md5(i::text), 'pending', 'processing', 1999, 'EUR', 2, now(), now()
FROM generate_series(current_setting('bench.first')::int, current_setting('bench.last')::int) i;

INSERT INTO attempt_references (account, reference, order_id, attempt_id)
SELECT current_setting('bench.account'), r.name, a.order_id, a.attempt_id
FROM (
    SELECT i, 'o-' || lpad(i::text, 8, '0') AS order_id, ('01900000-0000-7000-8000-' || lpad(to_hex(i), 12, '0'))::uuid AS attempt_id
    FROM generate_series(current_setting('bench.first')::int, current_setting('bench.last')::int) i
) a CROSS JOIN LATERAL (VALUES (a.attempt_id::text), ('ch_' || md5(a.i::text))) r(name);

INSERT INTO attempt_transitions (order_id, attempt_id, version, from_stage, to_stage, cause, detail, at)
SELECT 'o-' || lpad(i::text, 8, '0'), ('01900000-0000-7000-8000-' || lpad(to_hex(i), 12, '0'))::uuid, v.version, v.came, v.went, v.cause, '{}', now()
FROM generate_series(current_setting('bench.first')::int, current_setting('bench.last')::int) i
CROSS JOIN (VALUES (1, '', 'requested', 'pay'), (2, 'requested', 'processing', 'call')) v(version, came, went, cause);

INSERT INTO operations (order_id, attempt_id, kind, number, account, origin, state, sends, fence, next_at, first_sent_at, created_at)
SELECT 'o-' || lpad(i::text, 8, '0'), ('01900000-0000-7000-8000-' || lpad(to_hex(i), 12, '0'))::uuid, 'charge', 0, current_setting('bench.account'), 'request', 'accepted', 1, 1,
    now() + interval '1 day', now(), now()
FROM generate_series(current_setting('bench.first')::int, current_setting('bench.last')::int) i;
