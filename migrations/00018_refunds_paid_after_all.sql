-- +goose Up
COMMENT ON COLUMN refunds.reversed IS
    'Of a refund that succeeded: the provider took the money back. Of one that failed: the provider paid it back all the same.';
