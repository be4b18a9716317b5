-- +goose Up
ALTER TABLE payment_attempts ADD COLUMN hold_told_at timestamptz;

COMMENT ON COLUMN payment_attempts.hold_told_at IS
    'Of a failed attempt: when the provider last told of a hold that may still be there. NULL once it was given up, or a person has settled it. '
    'Until then the order takes no other payment.';

UPDATE payment_attempts a SET hold_told_at = d.opened_at
FROM discrepancies d
WHERE d.attempt_id = a.attempt_id AND d.kind = 'needs_review' AND d.about = 'hold' AND d.resolved_at IS NULL AND a.status = 'failed';
