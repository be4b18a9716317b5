-- +goose Up
CREATE TABLE streams (
    name            text CONSTRAINT streams_pkey PRIMARY KEY,
    position        bigint NOT NULL CONSTRAINT streams_position_counts CHECK (position >= 0),
    fence           bigint NOT NULL DEFAULT 0,
    lease_until     timestamptz,
    last_success_at timestamptz,
    last_failure_at timestamptz,
    last_failure    text NOT NULL DEFAULT ''
);

COMMENT ON TABLE streams IS 'The progress of publishing the merchant''s events to each broker of the configuration.';
COMMENT ON COLUMN streams.position IS
    'The broker has acknowledged the events up to here, except for events that were deleted before; the log counts these.';
COMMENT ON COLUMN streams.fence IS 'Rises with each lease. A write with an older fence touches no row.';
COMMENT ON COLUMN streams.last_success_at IS 'When the broker last acknowledged, or was connected to again after a failure.';
COMMENT ON COLUMN streams.last_failure IS 'Why it fails; empty after a success.';
