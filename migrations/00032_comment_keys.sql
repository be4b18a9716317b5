-- +goose NO TRANSACTION
-- +goose Up
-- An index is built without a transaction, so that the service goes on. So each statement of this file may be run again.
ALTER TABLE worklist_comments ADD COLUMN IF NOT EXISTS key text NOT NULL DEFAULT '';

COMMENT ON COLUMN worklist_comments.key IS
    'The Idempotency-Key of the comment. A repetition by its author about the same discrepancy is this comment. Empty for '
    'none.';

-- An index whose building was interrupted exists, but is of no use.
DROP INDEX CONCURRENTLY IF EXISTS comments_one_per_key;
CREATE UNIQUE INDEX CONCURRENTLY comments_one_per_key ON worklist_comments (discrepancy_id, author, key) WHERE key <> '';
