-- +goose Up
ALTER TABLE discrepancies
    ADD COLUMN assignee text NOT NULL DEFAULT '',
    ADD COLUMN assigned_at timestamptz;

COMMENT ON COLUMN discrepancies.assignee IS
    'The subject of the person who works on it; empty for none. It stays after the resolution.';
COMMENT ON COLUMN discrepancies.assigned_at IS 'Since when the assignee has it.';

ALTER TABLE discrepancies
    ADD CONSTRAINT discrepancies_assigned_since CHECK ((assignee = '') = (assigned_at IS NULL)) NOT VALID;
ALTER TABLE discrepancies VALIDATE CONSTRAINT discrepancies_assigned_since;

-- The new constraint allows more than the old one and has another name, so that there always is one.
ALTER TABLE discrepancies
    ADD CONSTRAINT discrepancies_resolution_listed CHECK (resolution IN ('', 'paid', 'not_paid', 'refunded_elsewhere', 'accepted', 'settled')) NOT VALID;
ALTER TABLE discrepancies VALIDATE CONSTRAINT discrepancies_resolution_listed;
ALTER TABLE discrepancies DROP CONSTRAINT discrepancies_resolution_known;

COMMENT ON TABLE discrepancies IS
    'Cases for a person. A cause opens one case, and another cause another one. A person closes a case, or paylatch if '
    'nothing is left to decide (resolution settled).';

CREATE TABLE worklist_comments (
    comment_id     uuid NOT NULL CONSTRAINT comments_have_one_id PRIMARY KEY,
    discrepancy_id uuid NOT NULL CONSTRAINT comments_have_a_discrepancy REFERENCES discrepancies (discrepancy_id),
    author         text NOT NULL CONSTRAINT comments_have_an_author CHECK (author <> ''),
    text           text NOT NULL CONSTRAINT comments_length CHECK (char_length(text) BETWEEN 1 AND 2000),
    at             timestamptz NOT NULL
);

COMMENT ON TABLE worklist_comments IS 'Append-only: comments on discrepancies. The ids rise with time.';

CREATE INDEX comments_by_discrepancy ON worklist_comments (discrepancy_id, comment_id);

CREATE TRIGGER worklist_comments_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON worklist_comments
    FOR EACH STATEMENT EXECUTE FUNCTION append_only();

CREATE TABLE worklist_turns (
    one_row   boolean NOT NULL DEFAULT true CONSTRAINT worklist_turns_pkey PRIMARY KEY CONSTRAINT worklist_turns_one_row CHECK (one_row),
    behind_at timestamptz NOT NULL DEFAULT '1970-01-01 00:00:00+00',
    behind_id uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
    fence     bigint NOT NULL DEFAULT 0,
    next_at   timestamptz NOT NULL DEFAULT now()
);

COMMENT ON TABLE worklist_turns IS
    'One row: the progress of the search for settled discrepancies among the open ones, oldest first, in a loop.';
COMMENT ON COLUMN worklist_turns.behind_at IS 'When the last checked discrepancy was opened; before all at the beginning.';
COMMENT ON COLUMN worklist_turns.fence IS 'Rises with each turn, so that a process that lost its turn moves nothing.';
COMMENT ON COLUMN worklist_turns.next_at IS 'When the next turn begins. One process has it until then.';

INSERT INTO worklist_turns DEFAULT VALUES;
