-- +goose Up
-- In no log, no base backup and no replica. A crash of the server empties the table: a charge whose call was cut is not sent again then but
-- looked up, unless its client comes again, which brings the token.
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
COMMENT ON COLUMN sealed_tokens.sealed IS
    'What the attempt is paid with, encrypted: token, kind and whose it is, for as long as the call may have to be made again.';
