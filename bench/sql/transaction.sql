\set n :n + 1
\set i :base + :n * :clients + :client_id
BEGIN;
SELECT a.order_id, a.attempt_id FROM attempt_references r JOIN payment_attempts a ON a.order_id = r.order_id AND a.attempt_id = r.attempt_id
WHERE r.account = 'bench' AND r.reference = 'ch_' || md5(:i::bigint::text)
FOR NO KEY UPDATE OF a \gset
WITH e AS (INSERT INTO provider_events (event_id, account, provider_event_id, id_derived, event_type, kind, digest, news, refs, order_id, attempt_id, verdict, secret_index,
    occurred_at, received_at)
VALUES (gen_random_uuid(), 'bench', 'evt_' || md5('e' || :i::bigint::text), false, 'charge.succeeded', 'succeeded', sha256(:i::bigint::text::bytea),
    '{"id":"evt_0123456789abcdef0123456789abcdef","id_source":"native","type":"charge.succeeded","kind":"succeeded","references":["01900000-0000-7000-8000-000000000001","ch_0123456789abcdef0123456789abcdef"],"provider_payment_id":"ch_0123456789abcdef0123456789abcdef","money":{"minor":1999,"currency":"EUR"},"occurred_at":"2026-01-01T00:00:00Z"}', ARRAY[:attempt_id::uuid::text, 'ch_' || md5(:i::bigint::text)], :order_id::text, :attempt_id::uuid, 'applied', 0,
    now(), now())
ON CONFLICT DO NOTHING RETURNING event_id)
INSERT INTO event_bytes SELECT event_id, now(), convert_to('{"user-agent":"bench","webhook-id":"evt_0123456789abcdef0123456789abcdef","content-type":"application/json","webhook-signature":"v1,eQf8t1qaNHXS9B+Tf8ylTNiz6sY1cekDWraRrQxvb60=","webhook-timestamp":"1767225600"}', 'UTF8') || '\x7b226964223a226576745f3031323334353637383961626364656630313233343536373839616263646566222c2274797065223a226368617267652e737563636565646564222c2263726561746564223a22323032362d30312d30315430303a30303a30305a222c2264617461223a7b226368617267655f6964223a2263685f3031323334353637383961626364656630313233343536373839616263646566222c22726566756e645f6964223a6e756c6c2c227265666572656e6365223a2230313930303030302d303030302d373030302d383030302d303030303030303030303031222c22616d6f756e74223a313939392c2263757272656e6379223a22455552222c226661696c7572655f636f6465223a6e756c6c7d7d'::bytea FROM e;
UPDATE payment_attempts SET status = 'succeeded', stage = 'final', amount_captured = amount, movements = 1, version = version + 1,
    updated_at = now(), finalized_at = now()
WHERE order_id = :order_id::text AND attempt_id = :attempt_id::uuid AND status = 'pending';
INSERT INTO attempt_transitions (order_id, attempt_id, version, from_stage, to_stage, cause, cause_id, detail, at)
VALUES (:order_id::text, :attempt_id::uuid, 3, 'processing', 'succeeded', 'webhook', 'evt_' || md5('e' || :i::bigint::text), '{"news":"succeeded","provider_payment_id":"ch_0123456789abcdef0123456789abcdef","authorized":1999,"captured":1999}', now());
INSERT INTO money_movements (order_id, attempt_id, number, account, kind, source, payment, provider_id, amount, currency, cause, cause_id, recorded_at)
VALUES (:order_id::text, :attempt_id::uuid, 1, 'bench', 'capture', 'total', '', '', 1999, 'EUR', 'webhook', 'evt_' || md5('e' || :i::bigint::text), now());
INSERT INTO outbox (batch, nth, message_id, order_id, attempt_id, subject, type, version, payload, created_at)
VALUES (nextval('outbox_batches_batch_seq'), 1, gen_random_uuid(), :order_id::text, :attempt_id::uuid, :attempt_id::text, 'payment_attempt.succeeded', 3, '{"payment_attempt_id":"01900000-0000-7000-8000-000000000001","order_id":"o-00000001","user_id":"u-1","account":"bench","provider_payment_id":"ch_0123456789abcdef0123456789abcdef","status":"succeeded","stage":"final","amount":1999,"currency":"EUR","amount_captured":1999,"amount_refunded":0,"amount_disputed":0,"capture":"automatic","origin":"paylatch","failure": null,"version":3,"created_at":"2026-01-01T00:00:00.000000Z","updated_at":"2026-01-01T00:00:00.000000Z"}', now()),
    (nextval('outbox_batches_batch_seq'), 1, gen_random_uuid(), :order_id::text, NULL, :order_id::text, 'order.paid', 2, '{"order_id":"o-00000001","user_id":"u-1","status":"paid","amount":1999,"currency":"EUR","payment_attempt_id":"01900000-0000-7000-8000-000000000001","updated_at":"2026-01-01T00:00:00.000000Z"}', now());
COMMIT;
