\set i :base + random(0, :span)
SELECT * FROM payment_attempts WHERE attempt_id = ('01900000-0000-7000-8000-' || lpad(to_hex(:i::bigint), 12, '0'))::uuid;
