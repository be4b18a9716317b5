\set i :base + random(0, :span)
SELECT * FROM idempotency_keys WHERE user_id = 'up-' || :i::bigint::text AND endpoint = 'POST /v1/orders/p-' || lpad(:i::bigint::text, 8, '0') || '/pay' AND key = 'bench-pay-' || :i::bigint::text;
