\set n :n + 1
\set i :base + :n * :clients + :client_id
BEGIN;
INSERT INTO idempotency_keys (user_id, endpoint, key, request_hash, answered, status, subject, lease_until, created_at, expires_at)
VALUES ('up-' || :i::bigint::text, 'POST /v1/orders/p-' || lpad(:i::bigint::text, 8, '0') || '/pay', 'bench-pay-' || :i::bigint::text, sha256(:i::bigint::text::bytea), true, 201,
    '01900000-0000-7000-8000-000000000001', now() + interval '30 seconds', now(), now() + interval '30 days')
ON CONFLICT DO NOTHING;
SELECT order_id, user_id, amount, currency FROM orders WHERE order_id = 'p-' || lpad(:i::bigint::text, 8, '0') FOR NO KEY UPDATE \gset
SELECT count(*) AS attempts FROM (SELECT FROM payment_attempts WHERE order_id = :order_id::text FOR NO KEY UPDATE) a \gset
INSERT INTO payment_attempts (order_id, attempt_id, user_id, client_request_id, request_hash, account, status, stage, amount, currency,
    created_at, updated_at)
VALUES (:order_id::text, gen_random_uuid(), :user_id::text, 'bench-pay-' || :i::bigint::text, sha256(:i::bigint::text::bytea), 'stub', 'pending', 'requested',
    :amount::bigint, :currency::text, now(), now())
RETURNING attempt_id \gset
INSERT INTO operations (order_id, attempt_id, kind, number, account, origin, state, sends, fence, lease_until, next_at, first_sent_at, created_at)
VALUES (:order_id::text, :attempt_id::uuid, 'charge', 0, 'stub', 'request', 'sent', 1, 1, now() + interval '30 seconds', now() + interval '30 seconds', now(), now());
INSERT INTO sealed_requests (attempt_id, kind, number, sealed, created_at) VALUES (:attempt_id::uuid, 'charge', 0, decode(repeat('5a', 40), 'hex'), now());
INSERT INTO attempt_references (account, reference, order_id, attempt_id) VALUES ('stub', :attempt_id::uuid::text, :order_id::text, :attempt_id::uuid);
INSERT INTO attempt_transitions (order_id, attempt_id, version, from_stage, to_stage, cause, cause_id, detail, at)
VALUES (:order_id::text, :attempt_id::uuid, 1, '', 'requested', 'pay', 'bench-pay-' || :i::bigint::text, '{}', now());
COMMIT;
BEGIN;
SELECT version FROM payment_attempts WHERE attempt_id = :attempt_id::uuid FOR NO KEY UPDATE \gset
UPDATE payment_attempts SET status = 'succeeded', stage = 'final', amount_captured = amount, movements = 1, version = version + 1,
    updated_at = now(), finalized_at = now(), provider_payment_id = 'ch_' || md5('pay' || :i::bigint::text)
WHERE order_id = :order_id::text AND attempt_id = :attempt_id::uuid AND version = :version::int;
UPDATE operations SET state = 'done', lease_until = NULL, next_at = NULL
WHERE attempt_id = :attempt_id::uuid AND kind = 'charge' AND number = 0 AND state = 'sent' AND fence = 1;
DELETE FROM sealed_requests WHERE attempt_id = :attempt_id::uuid;
INSERT INTO money_movements (order_id, attempt_id, number, account, kind, source, payment, provider_id, amount, currency, cause, cause_id, recorded_at)
VALUES (:order_id::text, :attempt_id::uuid, 1, 'stub', 'capture', 'total', '', '', 1999, 'EUR', 'call', 'bench-pay-' || :i::bigint::text, now());
INSERT INTO attempt_transitions (order_id, attempt_id, version, from_stage, to_stage, cause, cause_id, detail, at)
VALUES (:order_id::text, :attempt_id::uuid, 2, 'requested', 'succeeded', 'call', 'bench-pay-' || :i::bigint::text, '{"news":"succeeded","provider_payment_id":"ch_0123456789abcdef0123456789abcdef","authorized":1999,"captured":1999}', now());
INSERT INTO attempt_references (account, reference, order_id, attempt_id) VALUES ('stub', 'ch_' || md5('pay' || :i::bigint::text), :order_id::text, :attempt_id::uuid)
ON CONFLICT DO NOTHING;
INSERT INTO outbox (batch, nth, message_id, order_id, attempt_id, subject, type, version, payload, created_at)
VALUES (nextval('outbox_batches_batch_seq'), 1, gen_random_uuid(), :order_id::text, :attempt_id::uuid, :attempt_id::text, 'payment_attempt.succeeded', 2, '{"payment_attempt_id":"01900000-0000-7000-8000-000000000001","order_id":"o-00000001","user_id":"u-1","account":"bench","provider_payment_id":"ch_0123456789abcdef0123456789abcdef","status":"succeeded","stage":"final","amount":1999,"currency":"EUR","amount_captured":1999,"amount_refunded":0,"amount_disputed":0,"capture":"automatic","origin":"paylatch","failure": null,"version":3,"created_at":"2026-01-01T00:00:00.000000Z","updated_at":"2026-01-01T00:00:00.000000Z"}', now()),
    (nextval('outbox_batches_batch_seq'), 1, gen_random_uuid(), :order_id::text, NULL, :order_id::text, 'order.paid', 2, '{"order_id":"o-00000001","user_id":"u-1","status":"paid","amount":1999,"currency":"EUR","payment_attempt_id":"01900000-0000-7000-8000-000000000001","updated_at":"2026-01-01T00:00:00.000000Z"}', now());
COMMIT;
