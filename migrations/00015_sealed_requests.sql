-- +goose Up
-- In no write-ahead log, base backup or replica. A crash of the server empties the table. A charge with a lost response is then
-- looked up instead of sent again, unless its client repeats the request, which brings the content.
CREATE UNLOGGED TABLE sealed_requests (
    attempt_id uuid NOT NULL,
    kind       text NOT NULL CONSTRAINT sealed_requests_kind_carries CHECK (kind IN ('charge', 'complete')),
    number     integer NOT NULL,
    sealed     bytea NOT NULL,
    created_at timestamptz NOT NULL,
    CONSTRAINT sealed_requests_pkey PRIMARY KEY (attempt_id, kind, number)
) WITH (
    autovacuum_vacuum_threshold = 0, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_cost_delay = 0,
    toast.autovacuum_vacuum_threshold = 0, toast.autovacuum_vacuum_scale_factor = 0, toast.autovacuum_vacuum_cost_delay = 0
);
COMMENT ON TABLE sealed_requests IS
    'The encrypted content of a charge or complete for a resend, until the provider has answered, the attempt has ended or '
    'the resend window is over.';
COMMENT ON COLUMN sealed_requests.sealed IS
    'The content of the pay: payment token, customer, addresses, lines; or the data that the provider''s page returned.';
