WITH e AS (INSERT INTO provider_events (event_id, account, provider_event_id, id_derived, event_type, kind, digest, news, refs, verdict, tries, next_try_at,
    secret_index, occurred_at, received_at)
SELECT gen_random_uuid(), one.account, 'evt_' || md5('loaded' || i), one.id_derived, one.event_type, one.kind, sha256(i::text::bytea),
    replace(replace(replace(one.news::text, one.refs[1], r.first), one.refs[2], r.second), one.provider_event_id, 'evt_' || md5('loaded' || i))::json,
    ARRAY[r.first, r.second], 'unmatched', tried.times, received.at + least(power(10, tried.times), 600) * interval '1 second',
    one.secret_index, received.at, received.at
FROM generate_series(current_setting('bench.first')::int, current_setting('bench.last')::int) i
CROSS JOIN (SELECT * FROM provider_events WHERE verdict = 'unmatched' LIMIT 1) one
CROSS JOIN LATERAL (SELECT CASE WHEN one.refs[1] LIKE 'ch_%' THEN 'ch_' || md5('loaded' || i) ELSE 'theirs-loaded-' || i END,
    CASE WHEN one.refs[2] LIKE 'ch_%' THEN 'ch_' || md5('loaded' || i) ELSE 'theirs-loaded-' || i END) r(first, second)
CROSS JOIN LATERAL (SELECT 599.0 * i / current_setting('bench.last')::int AS seconds) age
CROSS JOIN LATERAL (SELECT now() - age.seconds * interval '1 second') received(at)
CROSS JOIN LATERAL (SELECT floor(log(10.0, greatest(age.seconds, 0.1)))::int + 1) tried(times) RETURNING event_id)
INSERT INTO event_bytes SELECT event_id, now(), (SELECT sealed FROM event_bytes LIMIT 1) FROM e;
