-- +goose NO TRANSACTION
-- +goose Up
-- An index beside running work is built without a transaction, so each statement of this file may be run again.
ALTER TABLE worklist_comments ADD COLUMN IF NOT EXISTS key text NOT NULL DEFAULT '';

COMMENT ON COLUMN worklist_comments.key IS
    'The Idempotency-Key that it was sent with: sent again by its author about the same discrepancy, it is this comment. Empty for none.';

-- One that was broken off is there, and of no use.
DROP INDEX CONCURRENTLY IF EXISTS comments_one_per_key;
CREATE UNIQUE INDEX CONCURRENTLY comments_one_per_key ON worklist_comments (discrepancy_id, author, key) WHERE key <> '';
