-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS noticed_endpoints (
    notice   text NOT NULL CONSTRAINT endpoints_noticed_by_a_notice REFERENCES notices (name),
    endpoint text NOT NULL CONSTRAINT noticed_endpoints_exist REFERENCES endpoints (name),
    at       timestamptz NOT NULL,
    CONSTRAINT noticed_endpoints_once PRIMARY KEY (notice, endpoint)
);

COMMENT ON TABLE noticed_endpoints IS
    'When a notice last sent that an endpoint fails. It is sent again once all dead letters are newer.';

DROP INDEX CONCURRENTLY IF EXISTS endpoint_retries_dead;
CREATE INDEX CONCURRENTLY endpoint_retries_dead ON endpoint_retries (endpoint, dead_at) WHERE state = 'dead';
