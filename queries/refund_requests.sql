-- Inserts an open refund request. Inserts nothing if the same person has an open request for the same attempt and amount.
-- name: RefundRequestInsert :execrows
INSERT INTO refund_requests (refund_request_id, order_id, attempt_id, amount, currency, reason, requested_by, created_at)
VALUES (@refund_request_id, @order_id, @attempt_id, @amount, @currency, @reason, @requested_by, now())
ON CONFLICT (attempt_id, requested_by, amount) WHERE status = 'open' DO NOTHING;

-- Finds the open refund request of one person, attempt and amount. Locks nothing.
-- name: RefundRequestSame :one
SELECT refund_request_id FROM refund_requests WHERE attempt_id = @attempt_id AND requested_by = @requested_by AND amount = @amount AND status = 'open';

-- Reads one refund request, with the customer. Locks nothing.
-- name: RefundRequestRead :one
SELECT sqlc.embed(r), o.user_id FROM refund_requests r JOIN orders o ON o.order_id = r.order_id WHERE r.refund_request_id = @refund_request_id;

-- Adds the amounts of the open refund requests of one attempt. Locks nothing.
-- name: RefundRequestsOpen :one
SELECT coalesce(sum(amount), 0)::bigint AS amount FROM refund_requests WHERE attempt_id = @attempt_id AND status = 'open';

-- Lists refund requests before an id, newest first, with the customer of each. Locks nothing.
-- name: RefundRequestsList :many
SELECT sqlc.embed(r), o.user_id FROM refund_requests r JOIN orders o ON o.order_id = r.order_id
WHERE r.refund_request_id < @before_id AND (@status::text = '' OR r.status = @status::text)
ORDER BY r.refund_request_id DESC LIMIT sqlc.arg(most)::int;

-- Decides an open refund request. Returns no row if it is decided. Locks the row, as the last row of its transaction.
-- name: RefundRequestDecide :execrows
UPDATE refund_requests SET status = @status, decided_by = @decided_by, decided_at = now(), decision_reason = @decision_reason, refund_id = sqlc.narg(refund_id)
WHERE refund_request_id = @refund_request_id AND status = 'open';
