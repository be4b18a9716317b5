WITH e AS (INSERT INTO provider_events (event_id, account, provider_event_id, id_derived, event_type, kind, digest, news, refs, order_id, attempt_id,
    verdict, occurred_at, received_at)
SELECT gen_random_uuid(), 'bench', named.id, false, 'charge.succeeded', 'succeeded', sha256(i::text::bytea),
    json_build_object('id', named.id, 'type', 'charge.succeeded', 'kind', 'succeeded', 'refs', md5(i::text)),
    ARRAY['ch_' || md5('old' || i)], 'old-' || i, gen_random_uuid(), 'applied',
    now() - interval '7 days', now() - interval '7 days'
FROM generate_series(current_setting('bench.first')::int, current_setting('bench.last')::int) i
CROSS JOIN LATERAL (SELECT CASE current_setting('bench.ids')
    WHEN 'ordered' THEN 'evt_0' || lpad(to_hex(i), 12, '0') || left(md5('old' || i), 19) ELSE 'evt_' || md5('old' || i) END AS id) named RETURNING event_id)
INSERT INTO event_bytes SELECT event_id, now(), decode(repeat(md5(event_id::text), 20), 'hex') FROM e;
