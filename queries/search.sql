-- Finds orders, attempts, refunds and events behind a point by any of their ids: ids that equal a text have rank 0, ids that
-- begin with a prefix rank 1, newest first within a rank. For each text or prefix, a branch reads at most 1,000 entries of one
-- index: of a prefix the last ones in order, of a user the 250 orders after the point. The other branches leave out the orders
-- whose id or user equals a text. An idempotency key finds the requests under that key. Locks nothing.
-- name: SearchIDs :many
WITH v AS (
    SELECT DISTINCT t.q FROM (SELECT unnest(@texts::text[]) AS q) t
), w AS (
    SELECT DISTINCT t.q FROM (SELECT unnest(@beginnings::text[]) AS q) t
), o AS (
    SELECT x.order_id, x.created_at, x.matched, x.rank FROM v, LATERAL (
        SELECT order_id, created_at, 'order_id' AS matched, 0 AS rank FROM orders WHERE order_id COLLATE "C" = v.q LIMIT 1) x
    UNION ALL
    SELECT x.order_id, x.created_at, x.matched, x.rank FROM w, LATERAL (
        SELECT order_id, created_at, 'order_id' AS matched, 1 AS rank FROM orders
        WHERE order_id COLLATE "C" > w.q AND order_id COLLATE "C" < w.q || @past::text AND user_id <> ALL (@exact::text[])
        ORDER BY order_id COLLATE "C" DESC LIMIT 1000) x
    UNION ALL
    SELECT x.order_id, x.created_at, x.matched, x.rank FROM v, LATERAL (
        SELECT order_id, created_at, 'user_id' AS matched, 0 AS rank FROM orders
        WHERE user_id COLLATE "C" = v.q AND created_at <= @exact_before::timestamptz ORDER BY created_at DESC LIMIT 250) x
    UNION ALL
    SELECT x.order_id, x.created_at, x.matched, x.rank FROM w, LATERAL (
        SELECT order_id, created_at, 'user_id' AS matched, 1 AS rank FROM orders
        WHERE user_id COLLATE "C" > w.q AND user_id COLLATE "C" < w.q || @past::text AND order_id <> ALL (@exact::text[])
        ORDER BY user_id COLLATE "C" DESC LIMIT 1000) x
), named AS (
    SELECT x.account, x.reference, x.attempt_id, x.rank FROM v, LATERAL (
        SELECT account, reference, attempt_id, 0 AS rank FROM attempt_references
        WHERE reference COLLATE "C" = v.q AND reference <> attempt_id::text LIMIT 1000) x
    UNION ALL
    SELECT x.account, x.reference, x.attempt_id, x.rank FROM w, LATERAL (
        SELECT account, reference, attempt_id, 1 AS rank FROM attempt_references
        WHERE reference COLLATE "C" > w.q AND reference COLLATE "C" < w.q || @past::text AND reference <> attempt_id::text
        ORDER BY reference COLLATE "C" DESC LIMIT 1000) x
), logged AS (
    SELECT x.order_id, x.attempt_id, x.key, x.rank FROM v, LATERAL (
        SELECT order_id, attempt_id, key, 0 AS rank FROM attempt_log
        WHERE key COLLATE "C" = v.q AND key <> '' AND kind IN ('press', 'reuse', 'refused') LIMIT 1000) x
    UNION ALL
    SELECT x.order_id, x.attempt_id, x.key, x.rank FROM w, LATERAL (
        SELECT order_id, attempt_id, key, 1 AS rank FROM attempt_log
        WHERE key COLLATE "C" > w.q AND key COLLATE "C" < w.q || @past::text AND key <> '' AND kind IN ('press', 'reuse', 'refused')
        ORDER BY key COLLATE "C" DESC LIMIT 1000) x
), disputed AS (
    (SELECT order_id, attempt_id, 'dispute_id' AS matched, CASE WHEN @first_id::uuid = @last_id::uuid THEN 0 ELSE 1 END AS rank FROM disputes
        WHERE dispute_id BETWEEN @first_id::uuid AND @last_id::uuid ORDER BY dispute_id DESC LIMIT 1000)
    UNION ALL
    SELECT x.order_id, x.attempt_id, x.matched, x.rank FROM v, LATERAL (
        SELECT order_id, attempt_id, 'provider_dispute_id' AS matched, 0 AS rank FROM disputes WHERE provider_dispute_id COLLATE "C" = v.q LIMIT 1000) x
    UNION ALL
    SELECT x.order_id, x.attempt_id, x.matched, x.rank FROM w, LATERAL (
        SELECT order_id, attempt_id, 'provider_dispute_id' AS matched, 1 AS rank FROM disputes
        WHERE provider_dispute_id COLLATE "C" > w.q AND provider_dispute_id COLLATE "C" < w.q || @past::text
        ORDER BY provider_dispute_id COLLATE "C" DESC LIMIT 1000) x
), a AS (
    SELECT x.order_id, x.attempt_id, x.created_at, o.matched, o.rank, '' AS key
    FROM o, LATERAL (SELECT p.order_id, p.attempt_id, p.created_at FROM payment_attempts p WHERE p.order_id = o.order_id ORDER BY p.created_at DESC LIMIT 100) x
    UNION ALL
    (SELECT order_id, attempt_id, created_at, 'payment_attempt_id', CASE WHEN @first_id::uuid = @last_id::uuid THEN 0 ELSE 1 END, '' FROM payment_attempts
        WHERE attempt_id BETWEEN @first_id::uuid AND @last_id::uuid ORDER BY attempt_id DESC LIMIT 1000)
    UNION ALL
    SELECT x.order_id, x.attempt_id, x.created_at, x.matched, x.rank, '' FROM v, LATERAL (
        SELECT order_id, attempt_id, created_at, 'client_request_id' AS matched, 0 AS rank FROM payment_attempts
        WHERE client_request_id COLLATE "C" = v.q LIMIT 1000) x
    UNION ALL
    SELECT x.order_id, x.attempt_id, x.created_at, x.matched, x.rank, '' FROM w, LATERAL (
        SELECT order_id, attempt_id, created_at, 'client_request_id' AS matched, 1 AS rank FROM payment_attempts
        WHERE client_request_id COLLATE "C" > w.q AND client_request_id COLLATE "C" < w.q || @past::text
        ORDER BY client_request_id COLLATE "C" DESC LIMIT 1000) x
    UNION ALL
    SELECT x.order_id, x.attempt_id, x.created_at,
        CASE WHEN named.reference = x.provider_payment_id THEN 'provider_payment_id' ELSE 'reference' END, named.rank, ''
    FROM named, LATERAL (SELECT p.order_id, p.attempt_id, p.created_at, p.provider_payment_id FROM payment_attempts p WHERE p.attempt_id = named.attempt_id LIMIT 1) x
    UNION ALL
    SELECT x.order_id, x.attempt_id, x.created_at, 'idempotency_key', logged.rank, logged.key
    FROM logged, LATERAL (SELECT p.order_id, p.attempt_id, p.created_at FROM payment_attempts p
        WHERE p.order_id = logged.order_id AND p.attempt_id = logged.attempt_id LIMIT 1) x
    UNION ALL
    SELECT x.order_id, x.attempt_id, x.created_at, disputed.matched, disputed.rank, ''
    FROM disputed, LATERAL (SELECT p.order_id, p.attempt_id, p.created_at FROM payment_attempts p
        WHERE p.order_id = disputed.order_id AND p.attempt_id = disputed.attempt_id LIMIT 1) x
), r AS (
    (SELECT order_id, refund_id, attempt_id, created_at, 'refund_id' AS matched, CASE WHEN @first_id::uuid = @last_id::uuid THEN 0 ELSE 1 END AS rank FROM refunds
        WHERE refund_id BETWEEN @first_id::uuid AND @last_id::uuid ORDER BY refund_id DESC LIMIT 1000)
    UNION ALL
    SELECT x.order_id, x.refund_id, x.attempt_id, x.created_at, x.matched, x.rank FROM v, LATERAL (
        SELECT order_id, refund_id, attempt_id, created_at, 'provider_refund_id' AS matched, 0 AS rank FROM refunds
        WHERE provider_refund_id COLLATE "C" = v.q AND provider_refund_id <> '' LIMIT 1000) x
    UNION ALL
    SELECT x.order_id, x.refund_id, x.attempt_id, x.created_at, x.matched, x.rank FROM w, LATERAL (
        SELECT order_id, refund_id, attempt_id, created_at, 'provider_refund_id' AS matched, 1 AS rank FROM refunds
        WHERE provider_refund_id COLLATE "C" > w.q AND provider_refund_id COLLATE "C" < w.q || @past::text AND provider_refund_id <> ''
        ORDER BY provider_refund_id COLLATE "C" DESC LIMIT 1000) x
    UNION ALL
    SELECT x.order_id, x.refund_id, x.attempt_id, x.created_at, x.matched, x.rank FROM v, LATERAL (
        SELECT order_id, refund_id, attempt_id, created_at, 'client_request_id' AS matched, 0 AS rank FROM refunds WHERE client_request_id COLLATE "C" = v.q LIMIT 1000) x
    UNION ALL
    SELECT x.order_id, x.refund_id, x.attempt_id, x.created_at, x.matched, x.rank FROM w, LATERAL (
        SELECT order_id, refund_id, attempt_id, created_at, 'client_request_id' AS matched, 1 AS rank FROM refunds
        WHERE client_request_id COLLATE "C" > w.q AND client_request_id COLLATE "C" < w.q || @past::text
        ORDER BY client_request_id COLLATE "C" DESC LIMIT 1000) x
), e AS (
    (SELECT event_id, order_id, attempt_id, received_at, 'event_id' AS matched, CASE WHEN @first_id::uuid = @last_id::uuid THEN 0 ELSE 1 END AS rank FROM provider_events
        WHERE event_id BETWEEN @first_id::uuid AND @last_id::uuid ORDER BY event_id DESC LIMIT 1000)
    UNION ALL
    SELECT x.event_id, x.order_id, x.attempt_id, x.received_at, x.matched, x.rank FROM v, LATERAL (
        SELECT event_id, order_id, attempt_id, received_at, 'provider_event_id' AS matched, 0 AS rank FROM provider_events
        WHERE provider_event_id COLLATE "C" = v.q LIMIT 1000) x
    UNION ALL
    SELECT x.event_id, x.order_id, x.attempt_id, x.received_at, x.matched, x.rank FROM w, LATERAL (
        SELECT event_id, order_id, attempt_id, received_at, 'provider_event_id' AS matched, 1 AS rank FROM provider_events
        WHERE provider_event_id COLLATE "C" > w.q AND provider_event_id COLLATE "C" < w.q || @past::text
        ORDER BY provider_event_id COLLATE "C" DESC LIMIT 1000) x
    UNION ALL
    SELECT x.event_id, x.order_id, x.attempt_id, x.received_at, x.matched, x.rank FROM v, LATERAL (
        SELECT event_id, order_id, attempt_id, received_at, 'reference' AS matched, 0 AS rank FROM provider_events
        WHERE refs @> ARRAY[v.q] AND verdict IN ('unmatched', 'deferred', 'foreign') LIMIT 1000) x
), hits AS (
    SELECT 'order' AS type, o.order_id AS id, o.order_id AS of_order, NULL::uuid AS of_attempt, o.matched, o.rank, o.created_at AS at, '' AS key FROM o
    UNION ALL
    SELECT 'order', x.order_id, x.order_id, NULL, 'idempotency_key', logged.rank, x.created_at, logged.key
    FROM logged, LATERAL (SELECT l.order_id, l.created_at FROM orders l WHERE l.order_id = logged.order_id AND logged.attempt_id IS NULL LIMIT 1) x
    UNION ALL
    SELECT 'attempt', a.attempt_id::text, a.order_id, a.attempt_id, a.matched, a.rank, a.created_at, a.key FROM a
    UNION ALL
    SELECT 'refund', r.refund_id::text, r.order_id, r.attempt_id, r.matched, r.rank, r.created_at, '' FROM r
    UNION ALL
    SELECT 'event', e.event_id::text, e.order_id, e.attempt_id, e.matched, e.rank, e.received_at, '' FROM e
), once AS (
    SELECT DISTINCT ON (h.type, h.id) h.type, h.id, h.of_order, h.of_attempt, h.matched, h.rank, h.at, h.key FROM hits h ORDER BY h.type, h.id, h.rank, h.matched, h.key
)
SELECT h.type::text AS type, h.id::text AS id, coalesce(h.of_order, '')::text AS order_id, h.of_attempt AS attempt_id, h.matched::text AS matched,
    h.rank::int AS rank, h.at::timestamptz AS at, h.key::text AS key
FROM once h
WHERE h.rank > @before_rank::int OR h.rank = @before_rank::int AND (h.at, h.id COLLATE "C") < (@before_at::timestamptz, @before_id::text)
ORDER BY h.rank, h.at DESC, h.id COLLATE "C" DESC LIMIT @most::int;

-- Reads at most twenty ids of orders and users that equal these names in any case. The limit stands outside: inside, the planner
-- would read all orders until the limit is reached. Locks nothing.
-- name: SearchSpellings :many
WITH s AS MATERIALIZED (
    SELECT n.order_id FROM search_orders n WHERE n.words && @names::text[]
)
SELECT s.order_id, coalesce((SELECT o.user_id FROM orders o WHERE o.order_id = s.order_id), '')::text AS user_id FROM s LIMIT 20;

-- Finds orders with all of some words among a number of orders behind a point, newest first, which is enough for frequent words.
-- Orders with one of the names are left out. Locks nothing.
-- name: SearchWordsNewest :many
SELECT s.order_id, s.created_at FROM (
    SELECT n.order_id, n.created_at, n.words FROM search_orders n
    WHERE (n.created_at, n.order_id COLLATE "C") < (@before_at::timestamptz, @before_id::text)
    ORDER BY n.created_at DESC, n.order_id COLLATE "C" DESC LIMIT @among::int
) s
WHERE s.words @> @words::text[] AND NOT s.words && @names::text[]
ORDER BY s.created_at DESC, s.order_id COLLATE "C" DESC LIMIT @most::int;

-- Like SearchWordsNewest, but among all orders and in no order, with the limit outside as in SearchSpellings. Locks nothing.
-- name: SearchWordsFew :many
WITH s AS MATERIALIZED (
    SELECT n.order_id, n.created_at FROM search_orders n WHERE n.words @> @words::text[] AND NOT n.words && @names::text[]
)
SELECT s.order_id, s.created_at FROM s LIMIT @most::int;

-- Like SearchWordsNewest, but among all orders: it reads every order with the words. Locks nothing.
-- name: SearchWords :many
WITH s AS MATERIALIZED (
    SELECT n.order_id, n.created_at FROM search_orders n WHERE n.words @> @words::text[] AND NOT n.words && @names::text[]
)
SELECT s.order_id, s.created_at FROM s
WHERE (s.created_at, s.order_id COLLATE "C") < (@before_at::timestamptz, @before_id::text)
ORDER BY s.created_at DESC, s.order_id COLLATE "C" DESC LIMIT @most::int;

-- Finds attempts behind a point by the last four digits of the card, newest first. Attempts of the named orders are left out.
-- Locks nothing.
-- name: SearchCards :many
SELECT s.attempt_id, s.order_id, s.created_at FROM search_payments s
WHERE s.last_four = @last_four::text AND s.last_four <> '' AND s.order_id <> ALL (@texts::text[])
    AND (s.created_at < @before_at::timestamptz OR s.created_at = @before_at::timestamptz AND s.attempt_id::text COLLATE "C" < @before_id::text)
    AND s.created_at >= @created_from::timestamptz AND s.created_at < @created_to::timestamptz
ORDER BY s.created_at DESC, s.attempt_id DESC LIMIT @most::int;

-- Finds attempts behind a point with an amount in one of the ranges on one of the days, newest first. A range is for currencies
-- with one number of decimals: 2, unless the currency is listed. No currency stands for any. Reads a range of one index for each
-- day and range. Locks nothing.
-- name: SearchAmounts :many
SELECT x.attempt_id, x.order_id, x.created_at
FROM (SELECT unnest(@lows::bigint[]) AS low, unnest(@highs::bigint[]) AS high, unnest(@digits::int[]) AS digits) r, (SELECT unnest(@days::text[])::date AS day) d, LATERAL (
    SELECT s.attempt_id, s.order_id, s.created_at FROM search_payments s
    WHERE s.day = d.day AND s.amount BETWEEN r.low AND r.high
        AND r.digits = CASE WHEN s.currency = ANY (@without_digits::text[]) THEN 0 WHEN s.currency = ANY (@with_three::text[]) THEN 3 ELSE 2 END
        AND (cardinality(@currencies::text[]) = 0 OR s.currency = ANY (@currencies::text[]))
        AND (@last_four::text = '' OR s.last_four = @last_four::text)
        AND (s.created_at < @before_at::timestamptz OR s.created_at = @before_at::timestamptz AND s.attempt_id::text COLLATE "C" < @before_id::text)
        AND s.created_at >= @created_from::timestamptz AND s.created_at < @created_to::timestamptz
    ORDER BY s.created_at DESC, s.attempt_id DESC LIMIT @most::int
) x
ORDER BY x.created_at DESC, x.attempt_id DESC LIMIT @most::int;

-- Finds attempts behind a point that were created between two times, newest first. Locks nothing.
-- name: SearchDays :many
SELECT p.attempt_id, p.order_id, p.created_at FROM payment_attempts p
WHERE p.created_at >= @created_from::timestamptz AND p.created_at < @created_to::timestamptz AND p.created_at <= @before_at::timestamptz
    AND (p.created_at < @before_at::timestamptz OR p.attempt_id::text COLLATE "C" < @before_id::text)
ORDER BY p.created_at DESC, p.attempt_id DESC LIMIT @most::int;

-- Finds orders that have all words of a variant, in no order; a variant's words are separated by spaces. The limit stands
-- outside, as in SearchWordsFew. Locks nothing.
-- name: SearchVariantsFew :many
WITH s AS MATERIALIZED (
    SELECT n.order_id FROM (SELECT unnest(@variants::text[]) AS w) v, LATERAL (
        SELECT x.order_id FROM search_orders x WHERE x.words @> string_to_array(v.w, ' ')) n
)
SELECT s.order_id FROM s LIMIT @most::int;

-- Finds, among some orders, the orders that have all words of a variant, by id. Locks nothing.
-- name: SearchVariantsAmong :many
SELECT n.order_id FROM (SELECT unnest(@order_ids::text[]) AS id) o, LATERAL (
    SELECT x.order_id, x.words FROM search_orders x WHERE x.order_id = o.id LIMIT 1) n
WHERE EXISTS (SELECT FROM (SELECT unnest(@variants::text[]) AS w) v WHERE n.words @> string_to_array(v.w, ' '));

-- Like SearchAmounts, but among the attempts of some orders, by the orders' ids. The limits inside keep the planner from reading
-- all times and cards. Locks nothing.
-- name: SearchAmountsAmong :many
SELECT p.attempt_id, p.order_id, p.created_at FROM (SELECT unnest(@order_ids::text[]) AS id) o, LATERAL (
    SELECT x.order_id, x.attempt_id, x.amount, x.currency, x.created_at FROM payment_attempts x WHERE x.order_id = o.id LIMIT 1000) p
WHERE EXISTS (SELECT FROM (SELECT unnest(@lows::bigint[]) AS low, unnest(@highs::bigint[]) AS high, unnest(@digits::int[]) AS digits) r
        WHERE p.amount BETWEEN r.low AND r.high
            AND r.digits = CASE WHEN p.currency = ANY (@without_digits::text[]) THEN 0 WHEN p.currency = ANY (@with_three::text[]) THEN 3 ELSE 2 END)
    AND (cardinality(@currencies::text[]) = 0 OR p.currency = ANY (@currencies::text[]))
    AND (@last_four::text = '' OR (SELECT c.last_four FROM search_payments c WHERE c.attempt_id = p.attempt_id LIMIT 1) = @last_four::text)
    AND (p.created_at < @before_at::timestamptz OR p.created_at = @before_at::timestamptz AND p.attempt_id::text COLLATE "C" < @before_id::text)
    AND p.created_at >= @created_from::timestamptz AND p.created_at < @created_to::timestamptz
ORDER BY p.created_at DESC, p.attempt_id DESC LIMIT @most::int;

-- Reads the details of a page of hits, in the order of nth. The amount 0 stands for no amount. Locks nothing.
-- name: SearchDetails :many
SELECT n.nth::int AS nth, coalesce(r.amount, p.amount, CASE WHEN n.type = 'order' THEN o.amount END, 0)::bigint AS amount,
    coalesce(r.currency, p.currency, CASE WHEN n.type = 'order' THEN o.currency END, '')::text AS currency, coalesce(o.user_id, '')::text AS user_id,
    coalesce(CASE n.type WHEN 'event' THEN e.verdict WHEN 'refund' THEN r.status::text WHEN 'attempt' THEN p.status::text ELSE (
        SELECT CASE WHEN o.accepted_attempt_id IS NOT NULL OR bool_or(l.status = 'succeeded') THEN 'paid'
            WHEN bool_or(l.status = 'pending') IS NOT TRUE AND o.cancel_requested_at IS NOT NULL THEN 'cancelled' ELSE 'open' END
        FROM payment_attempts l WHERE l.order_id = n.order_id) END, '')::text AS status,
    coalesce(e.news, '{}')::json AS news
FROM (SELECT unnest(@nths::int[]) AS nth, unnest(@types::text[]) AS type, unnest(@ids::uuid[]) AS id, unnest(@order_ids::text[]) AS order_id, unnest(@attempt_ids::uuid[]) AS attempt_id) n
LEFT JOIN LATERAL (SELECT * FROM orders x WHERE x.order_id = n.order_id LIMIT 1) o ON true
LEFT JOIN LATERAL (SELECT * FROM payment_attempts x WHERE x.order_id = n.order_id AND x.attempt_id = n.attempt_id AND n.type = 'attempt' LIMIT 1) p ON true
LEFT JOIN LATERAL (SELECT * FROM refunds x WHERE x.refund_id = n.id AND n.type = 'refund' LIMIT 1) r ON true
LEFT JOIN LATERAL (SELECT x.verdict, x.news FROM provider_events x WHERE x.event_id = n.id AND n.type = 'event' LIMIT 1) e ON true
ORDER BY n.nth;

-- Takes the progress of a source of the search. Returns no row if another process has it.
-- name: SearchCursorTake :many
SELECT at, id FROM search_cursors WHERE source = @source FOR NO KEY UPDATE SKIP LOCKED;

-- Writes the progress of a source, in the row that SearchCursorTake has locked.
-- name: SearchCursorMove :exec
UPDATE search_cursors SET at = @at, id = @id WHERE source = @source;

-- Sets the sources back to before an import.
-- name: SearchCursorsBack :exec
UPDATE search_cursors SET at = @at::timestamptz, id = '' WHERE source IN ('orders', 'attempts') AND at >= @at::timestamptz;

-- Reads orders behind a point for the search, oldest first, without the orders of the last seconds: an older order may be
-- committed later. Locks nothing.
-- name: SearchOrdersNext :many
SELECT order_id, user_id, description, metadata, created_at FROM orders
WHERE (created_at, order_id COLLATE "C") > (@after_at::timestamptz, @after_id::text) AND created_at < now() - make_interval(secs => @lag::float8)
ORDER BY created_at, order_id COLLATE "C" LIMIT @most::int;

-- Adds orders to the search. Orders in it stay as they are.
-- name: SearchOrdersAdd :exec
INSERT INTO search_orders (order_id, created_at, words)
SELECT unnest(@order_ids::text[]), unnest(@created_ats::timestamptz[]), string_to_array(unnest(@words::text[]), ' ')
ON CONFLICT DO NOTHING
RETURNING 1;

-- Adds the attempts behind a point to the search, in the way in which SearchOrdersNext reads orders, and returns the last one.
-- Attempts in it stay as they are.
-- name: SearchAttemptsAdd :many
WITH n AS (
    SELECT attempt_id, order_id, amount, currency, created_at FROM payment_attempts
    WHERE (created_at, attempt_id) > (@after_at::timestamptz, @after_id::uuid) AND created_at < now() - make_interval(secs => @lag::float8)
    ORDER BY created_at, attempt_id LIMIT @most::int
), added AS (
    INSERT INTO search_payments (attempt_id, order_id, day, amount, currency, created_at)
    SELECT attempt_id, order_id, (created_at AT TIME ZONE 'UTC')::date, amount, currency, created_at FROM n
    ON CONFLICT DO NOTHING
)
SELECT n.attempt_id, n.created_at, (SELECT count(*) FROM n)::int AS many FROM n ORDER BY n.created_at DESC, n.attempt_id DESC LIMIT 1;

-- Reads webhooks behind an id for the search, in the order of their ids and so of their time, with their bytes unless these are
-- large, and with the displayed name of the attempt's stored payment method. Locks nothing.
-- name: SearchEventsNext :many
SELECT b.event_id, e.received_at, e.attempt_id, (CASE WHEN octet_length(b.sealed) <= 66000 AND e.attempt_id IS NOT NULL THEN b.sealed END)::bytea AS sealed,
    coalesce((SELECT p.saved_payment_method ->> 'display' FROM payment_attempts p WHERE p.attempt_id = e.attempt_id LIMIT 1), '')::text AS stored
FROM event_bytes b JOIN provider_events e ON e.event_id = b.event_id
WHERE b.event_id > @after_id::uuid
    AND b.event_id < (lpad(to_hex(((extract(epoch FROM now()) - @lag::float8) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
ORDER BY b.event_id LIMIT @most::int;

-- Writes the last four digits of the cards of attempts. Attempts that are not in the search yet are added.
-- name: SearchCardsAdd :exec
INSERT INTO search_payments (attempt_id, order_id, day, amount, currency, created_at, last_four)
SELECT p.attempt_id, p.order_id, (p.created_at AT TIME ZONE 'UTC')::date, p.amount, p.currency, p.created_at, n.last_four
FROM (SELECT unnest(@attempt_ids::uuid[]) AS attempt_id, unnest(@last_fours::text[]) AS last_four) n, LATERAL (
    SELECT * FROM payment_attempts x WHERE x.attempt_id = n.attempt_id LIMIT 1) p
ORDER BY p.attempt_id
ON CONFLICT (attempt_id) DO UPDATE SET last_four = EXCLUDED.last_four WHERE search_payments.last_four <> EXCLUDED.last_four
RETURNING 1;
