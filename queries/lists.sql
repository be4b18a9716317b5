-- Lists orders between two points, newest first; an empty text stands for any. An order's account is the account of any of its
-- attempts. Its status follows its live attempt, as in payment.Order, and its last change includes its attempts' changes. Locks
-- nothing.
-- name: OrdersList :many
SELECT sqlc.embed(o)
FROM orders o
WHERE (o.created_at, o.order_id COLLATE "C") < (@before_at::timestamptz, @before_id::text)
    AND (o.created_at, o.order_id COLLATE "C") >= (@until_at::timestamptz, @until_id::text)
    AND o.created_at >= @created_from::timestamptz AND o.created_at < @created_to::timestamptz
    AND (o.updated_at >= @updated_from::timestamptz
        OR coalesce((SELECT true FROM payment_attempts a WHERE a.order_id = o.order_id AND a.updated_at >= @updated_from::timestamptz LIMIT 1), false))
    AND o.updated_at < @updated_to::timestamptz
    AND (@updated_to::timestamptz > now()
        OR (SELECT true FROM payment_attempts a WHERE a.order_id = o.order_id AND a.updated_at >= @updated_to::timestamptz LIMIT 1) IS NULL)
    AND (@user_id::text = '' OR o.user_id COLLATE "C" = @user_id::text)
    AND (@account::text = '' OR coalesce((SELECT true FROM payment_attempts a WHERE a.order_id = o.order_id AND a.account = @account::text LIMIT 1), false))
    AND (@currency::text = '' OR o.currency = @currency::text)
    AND o.amount BETWEEN @amount_min::bigint AND @amount_max::bigint
    AND (@status::text = ''
        OR @status::text = 'paid' AND (o.accepted_attempt_id IS NOT NULL
            OR (SELECT l.status = 'succeeded' FROM payment_attempts l WHERE l.order_id = o.order_id AND l.live))
        OR @status::text = 'cancelled' AND o.accepted_attempt_id IS NULL AND o.cancel_requested_at IS NOT NULL
            AND (SELECT true FROM payment_attempts l WHERE l.order_id = o.order_id AND l.live) IS NULL
        OR @status::text = 'open' AND o.accepted_attempt_id IS NULL
            AND coalesce((SELECT l.status = 'pending' FROM payment_attempts l WHERE l.order_id = o.order_id AND l.live), o.cancel_requested_at IS NULL))
ORDER BY o.created_at DESC, o.order_id COLLATE "C" DESC LIMIT @most::int;

-- Lists attempts between two points, newest first; an empty text stands for any. A user's attempts are found by the user's
-- orders. Locks nothing.
-- name: AttemptsList :many
SELECT sqlc.embed(a), now()::timestamptz AS read_at
FROM payment_attempts a JOIN orders o ON o.order_id = a.order_id
WHERE (a.created_at, a.attempt_id) < (@before_at::timestamptz, @before_id::uuid)
    AND (a.created_at, a.attempt_id) >= (@until_at::timestamptz, @until_id::uuid)
    AND a.created_at >= @created_from::timestamptz AND a.created_at < @created_to::timestamptz
    AND a.updated_at >= @updated_from::timestamptz AND a.updated_at < @updated_to::timestamptz
    AND (@user_id::text = '' OR o.user_id COLLATE "C" = @user_id::text)
    AND (@account::text = '' OR a.account = @account::text)
    AND (@currency::text = '' OR a.currency = @currency::text)
    AND a.amount BETWEEN @amount_min::bigint AND @amount_max::bigint
    AND (@status::text = '' OR a.status::text = @status::text)
    AND (@stage::text = '' OR CASE a.stage WHEN 'processing' THEN 'requested' ELSE a.stage::text END = @stage::text)
ORDER BY a.created_at DESC, a.attempt_id DESC LIMIT @most::int;

-- Lists refunds between two points, newest first; an empty text stands for any. A user's refunds are found by the user's orders.
-- Locks nothing.
-- name: RefundsList :many
SELECT sqlc.embed(r), now()::timestamptz AS read_at
FROM refunds r JOIN orders o ON o.order_id = r.order_id
WHERE (r.created_at, r.refund_id) < (@before_at::timestamptz, @before_id::uuid)
    AND (r.created_at, r.refund_id) >= (@until_at::timestamptz, @until_id::uuid)
    AND r.created_at >= @created_from::timestamptz AND r.created_at < @created_to::timestamptz
    AND r.updated_at >= @updated_from::timestamptz AND r.updated_at < @updated_to::timestamptz
    AND (@user_id::text = '' OR o.user_id COLLATE "C" = @user_id::text)
    AND (@account::text = '' OR r.account = @account::text)
    AND (@currency::text = '' OR r.currency = @currency::text)
    AND r.amount BETWEEN @amount_min::bigint AND @amount_max::bigint
    AND (@status::text = '' OR r.status::text = @status::text)
ORDER BY r.created_at DESC, r.refund_id DESC LIMIT @most::int;

-- Lists disputes between two points, newest first; an empty text stands for any. Without bounds, disputes without an amount are
-- listed too. Locks nothing.
-- name: DisputesList :many
SELECT d.* FROM disputes d JOIN orders o ON o.order_id = d.order_id
WHERE (d.opened_at, d.dispute_id) < (@before_at::timestamptz, @before_id::uuid)
    AND (d.opened_at, d.dispute_id) >= (@until_at::timestamptz, @until_id::uuid)
    AND d.opened_at >= @created_from::timestamptz AND d.opened_at < @created_to::timestamptz
    AND d.updated_at >= @updated_from::timestamptz AND d.updated_at < @updated_to::timestamptz
    AND (@user_id::text = '' OR o.user_id COLLATE "C" = @user_id::text)
    AND (@account::text = '' OR d.account = @account::text)
    AND (@currency::text = '' OR d.currency = @currency::text)
    AND (@any_amount::boolean OR d.amount BETWEEN @amount_min::bigint AND @amount_max::bigint)
    AND (@status::text = '' OR d.status = @status::text)
ORDER BY d.opened_at DESC, d.dispute_id DESC LIMIT @most::int;

-- Finds where a list stops: the last of @skipped + 1 orders behind a point, newest first. Reads only an index, and locks nothing.
-- name: OrdersReach :one
SELECT created_at, order_id FROM orders
WHERE (created_at, order_id COLLATE "C") < (@before_at::timestamptz, @before_id::text)
    AND created_at >= @created_from::timestamptz AND created_at < @created_to::timestamptz
ORDER BY created_at DESC, order_id COLLATE "C" DESC OFFSET @skipped::int LIMIT 1;

-- Finds where a list stops: the last of @skipped + 1 orders of a user behind a point, newest first. Locks nothing.
-- name: OrdersOfUserReach :one
SELECT created_at, order_id FROM orders
WHERE user_id COLLATE "C" = @user_id::text AND (created_at, order_id COLLATE "C") < (@before_at::timestamptz, @before_id::text)
    AND created_at >= @created_from::timestamptz AND created_at < @created_to::timestamptz
ORDER BY created_at DESC, order_id COLLATE "C" DESC OFFSET @skipped::int LIMIT 1;

-- Finds where a list stops: the last of @skipped + 1 attempts behind a point, newest first. Reads only an index, and locks
-- nothing.
-- name: AttemptsReach :one
SELECT created_at, attempt_id FROM payment_attempts
WHERE (created_at, attempt_id) < (@before_at::timestamptz, @before_id::uuid)
    AND created_at >= @created_from::timestamptz AND created_at < @created_to::timestamptz
ORDER BY created_at DESC, attempt_id DESC OFFSET @skipped::int LIMIT 1;

-- Finds where a list stops: the last of @skipped + 1 refunds behind a point, newest first. Reads only an index, and locks
-- nothing.
-- name: RefundsReach :one
SELECT created_at, refund_id FROM refunds
WHERE (created_at, refund_id) < (@before_at::timestamptz, @before_id::uuid)
    AND created_at >= @created_from::timestamptz AND created_at < @created_to::timestamptz
ORDER BY created_at DESC, refund_id DESC OFFSET @skipped::int LIMIT 1;

-- Finds where a list stops: the last of @skipped + 1 disputes behind a point, newest first. Reads only an index, and locks
-- nothing.
-- name: DisputesReach :one
SELECT opened_at, dispute_id FROM disputes
WHERE (opened_at, dispute_id) < (@before_at::timestamptz, @before_id::uuid)
    AND opened_at >= @created_from::timestamptz AND opened_at < @created_to::timestamptz
ORDER BY opened_at DESC, dispute_id DESC OFFSET @skipped::int LIMIT 1;

-- Lists open disputes behind a point by their deadlines, disputes without a deadline last; an empty text stands for any. Locks
-- nothing.
-- name: DisputesDue :many
SELECT * FROM disputes
WHERE closed_at IS NULL AND (coalesce(due_by, '9999-01-01 00:00:00+00'), dispute_id) > (@after_due::timestamptz, @after_id::uuid)
    AND (@account::text = '' OR account = @account::text)
    AND (@status::text = '' OR status = @status::text)
ORDER BY coalesce(due_by, '9999-01-01 00:00:00+00'), dispute_id LIMIT @most::int;

-- Counts the open disputes of each account, and finds the first deadline of the disputes that wait for an answer. A deadline that
-- passed more than a week ago is left out. Reads only open disputes, and locks nothing.
-- name: DisputesWaiting :many
SELECT account, count(*) AS open,
    coalesce(extract(epoch FROM min(due_by) FILTER (WHERE status IN ('warning', 'open') AND due_by > now() - interval '7 days') - now()), 'Infinity')::float8
        AS due_seconds
FROM disputes WHERE closed_at IS NULL GROUP BY account;
