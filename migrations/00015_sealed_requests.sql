-- +goose Up
-- In no log, no base backup and no replica. A crash of the server empties the table: a charge whose call was cut is not sent again then but
-- looked up, unless its client comes again, which brings what it carried.
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
    'What a charge or a complete needs to be sent again, encrypted, until the provider has answered it, the attempt has ended or the resend window is over.';
COMMENT ON COLUMN sealed_requests.sealed IS
    'What the pay carries: what it is paid with, whose that is, addresses, lines; or what the provider''s page returned.';
