-- Finds orders, attempts, refunds and events by any of their ids, exactly and by
-- prefix, newest first. Each branch reads at most 1,000 entries of one index, those
-- that sort last for a prefix; locks nothing.
-- name: SupportSearch :many
WITH o AS (
    (SELECT order_id, created_at, 'order_id' AS matched, 0 AS rank FROM orders WHERE order_id COLLATE "C" = @q::text)
    UNION ALL
    (SELECT order_id, created_at, 'order_id', 1 FROM orders
        WHERE order_id COLLATE "C" >= @q::text AND order_id COLLATE "C" < @past::text ORDER BY order_id COLLATE "C" DESC LIMIT 1000)
    UNION ALL
    (SELECT order_id, created_at, 'user_id', 2 FROM orders
        WHERE user_id COLLATE "C" = @q::text AND created_at <= @before_at::timestamptz ORDER BY created_at DESC LIMIT 1000)
    UNION ALL
    (SELECT order_id, created_at, 'user_id', 3 FROM orders
        WHERE user_id COLLATE "C" >= @q::text AND user_id COLLATE "C" < @past::text ORDER BY user_id COLLATE "C" DESC LIMIT 1000)
), named AS (
    (SELECT account, reference, attempt_id, 4 AS rank FROM attempt_references
        WHERE reference COLLATE "C" = @q::text AND reference <> attempt_id::text LIMIT 1000)
    UNION ALL
    (SELECT account, reference, attempt_id, 5 FROM attempt_references
        WHERE reference COLLATE "C" >= @q::text AND reference COLLATE "C" < @past::text AND reference <> attempt_id::text
        ORDER BY reference COLLATE "C" DESC LIMIT 1000)
), a AS (
    SELECT x.order_id, x.attempt_id, x.status, x.created_at, o.matched, o.rank
    FROM o, LATERAL (SELECT p.order_id, p.attempt_id, p.status, p.created_at FROM payment_attempts p WHERE p.order_id = o.order_id ORDER BY p.created_at DESC LIMIT 100) x
    UNION ALL
    (SELECT order_id, attempt_id, status, created_at, 'payment_attempt_id', 0 FROM payment_attempts
        WHERE attempt_id BETWEEN @first_id::uuid AND @last_id::uuid ORDER BY attempt_id DESC LIMIT 1000)
    UNION ALL
    (SELECT order_id, attempt_id, status, created_at, 'client_request_id', 6 FROM payment_attempts
        WHERE client_request_id COLLATE "C" = @q::text LIMIT 1000)
    UNION ALL
    (SELECT order_id, attempt_id, status, created_at, 'client_request_id', 7 FROM payment_attempts
        WHERE client_request_id COLLATE "C" >= @q::text AND client_request_id COLLATE "C" < @past::text ORDER BY client_request_id COLLATE "C" DESC LIMIT 1000)
    UNION ALL
    SELECT x.order_id, x.attempt_id, x.status, x.created_at,
        CASE WHEN named.reference = x.provider_payment_id THEN 'provider_payment_id' ELSE 'reference' END, named.rank
    FROM named, LATERAL (SELECT p.order_id, p.attempt_id, p.status, p.created_at, p.provider_payment_id FROM payment_attempts p WHERE p.attempt_id = named.attempt_id LIMIT 1) x
), r AS (
    (SELECT order_id, refund_id, attempt_id, status, created_at, 'refund_id' AS matched, 0 AS rank FROM refunds
        WHERE refund_id BETWEEN @first_id::uuid AND @last_id::uuid ORDER BY refund_id DESC LIMIT 1000)
    UNION ALL
    (SELECT order_id, refund_id, attempt_id, status, created_at, 'provider_refund_id', 1 FROM refunds WHERE provider_refund_id COLLATE "C" = @q::text AND provider_refund_id <> '' LIMIT 1000)
    UNION ALL
    (SELECT order_id, refund_id, attempt_id, status, created_at, 'provider_refund_id', 2 FROM refunds
        WHERE provider_refund_id COLLATE "C" >= @q::text AND provider_refund_id COLLATE "C" < @past::text AND provider_refund_id <> ''
        ORDER BY provider_refund_id COLLATE "C" DESC LIMIT 1000)
    UNION ALL
    (SELECT order_id, refund_id, attempt_id, status, created_at, 'client_request_id', 3 FROM refunds WHERE client_request_id COLLATE "C" = @q::text LIMIT 1000)
    UNION ALL
    (SELECT order_id, refund_id, attempt_id, status, created_at, 'client_request_id', 4 FROM refunds
        WHERE client_request_id COLLATE "C" >= @q::text AND client_request_id COLLATE "C" < @past::text ORDER BY client_request_id COLLATE "C" DESC LIMIT 1000)
), e AS (
    (SELECT event_id, order_id, attempt_id, verdict, received_at, 'event_id' AS matched, 0 AS rank FROM provider_events
        WHERE event_id BETWEEN @first_id::uuid AND @last_id::uuid ORDER BY event_id DESC LIMIT 1000)
    UNION ALL
    (SELECT event_id, order_id, attempt_id, verdict, received_at, 'provider_event_id', 1 FROM provider_events
        WHERE provider_event_id COLLATE "C" = @q::text LIMIT 1000)
    UNION ALL
    (SELECT event_id, order_id, attempt_id, verdict, received_at, 'provider_event_id', 2 FROM provider_events
        WHERE provider_event_id COLLATE "C" >= @q::text AND provider_event_id COLLATE "C" < @past::text ORDER BY provider_event_id COLLATE "C" DESC LIMIT 1000)
    UNION ALL
    (SELECT event_id, order_id, attempt_id, verdict, received_at, 'reference', 3 FROM provider_events
        WHERE refs @> ARRAY[@q::text] AND verdict IN ('unmatched', 'deferred', 'foreign') LIMIT 1000)
), hits AS (
    SELECT 'order' AS type, o.order_id AS id, o.order_id AS of_order, NULL::uuid AS of_attempt, NULL::text AS state, o.matched, o.rank, o.created_at AS at FROM o
    UNION ALL
    SELECT 'attempt', a.attempt_id::text, a.order_id, a.attempt_id, a.status::text, a.matched, a.rank, a.created_at FROM a
    UNION ALL
    SELECT 'refund', r.refund_id::text, r.order_id, r.attempt_id, r.status::text, r.matched, r.rank, r.created_at FROM r
    UNION ALL
    SELECT 'event', e.event_id::text, e.order_id, e.attempt_id, e.verdict, e.matched, e.rank, e.received_at FROM e
), once AS (
    SELECT DISTINCT ON (type, id) * FROM hits ORDER BY type, id, rank
)
SELECT h.type::text AS type, h.id::text AS id, coalesce(h.of_order, '')::text AS order_id, h.of_attempt AS attempt_id, h.matched::text AS matched, h.at::timestamptz AS at,
    coalesce(h.state, (
        SELECT CASE WHEN bool_or(p.status = 'succeeded') THEN 'paid'
            WHEN bool_or(p.status = 'pending') IS NOT TRUE
                AND EXISTS (SELECT FROM orders c WHERE c.order_id = h.of_order AND c.cancel_requested_at IS NOT NULL) THEN 'cancelled'
            ELSE 'open' END
        FROM payment_attempts p WHERE p.order_id = h.of_order))::text AS status
FROM (
    SELECT * FROM once WHERE (at, id) < (@before_at::timestamptz, @before_id::text)
    ORDER BY at DESC, id DESC LIMIT @most::int
) h
ORDER BY h.at DESC, h.id DESC;
