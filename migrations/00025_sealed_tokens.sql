-- +goose Up
-- A payment method's token was a column of its attempt, encrypted: each row version before the end, the log of writes and every backup kept it
-- long after it was erased. Here it is in no log, no base backup and no replica. A crash of the server empties the table; then an attempt whose
-- call was cut is not sent again but asked about, unless its client comes again, which brings the token.
CREATE UNLOGGED TABLE sealed_tokens (
    attempt_id uuid NOT NULL,
    sealed     bytea NOT NULL,
    created_at timestamptz NOT NULL,
    CONSTRAINT sealed_tokens_pkey PRIMARY KEY (attempt_id)
) WITH (
    autovacuum_vacuum_threshold = 0, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_cost_delay = 0,
    toast.autovacuum_vacuum_threshold = 0, toast.autovacuum_vacuum_scale_factor = 0, toast.autovacuum_vacuum_cost_delay = 0
);
COMMENT ON TABLE sealed_tokens IS
    'What a charge needs to be sent again, encrypted, until the provider has named the payment, the attempt has ended or the resend window is over.';

INSERT INTO sealed_tokens
SELECT attempt_id, sealed_token, created_at FROM payment_attempts
WHERE sealed_token IS NOT NULL AND provider_payment_id = '' AND created_at > now() - interval '10 minutes';
ALTER TABLE payment_attempts DROP COLUMN sealed_token;
