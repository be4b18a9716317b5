INSERT INTO orders (order_id, user_id, client_request_id, request_hash, amount, currency, created_at, updated_at)
SELECT 'p-' || lpad(i::text, 8, '0'), 'up-' || i, 'make-' || i, sha256(i::text::bytea), 1999, 'EUR', now(), now()
FROM generate_series(current_setting('bench.first')::int, current_setting('bench.last')::int) i;
