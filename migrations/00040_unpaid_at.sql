-- +goose Up
ALTER TABLE operations ADD COLUMN unpaid_at timestamptz;

COMMENT ON COLUMN operations.unpaid_at IS
    'Of a charge that only makes a page: from when on nobody can pay it unless its response came. NULL where money may be taken without it, or later.';
