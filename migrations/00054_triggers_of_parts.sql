-- +goose NO TRANSACTION
-- +goose Up
-- Each statement locks one table for a moment and may be run again. Citus gives a table's part no trigger for TRUNCATE, and so no
-- trigger that is for UPDATE and DELETE, too.
CREATE OR REPLACE TRIGGER attempt_transitions_append_only BEFORE UPDATE OR DELETE ON attempt_transitions FOR EACH STATEMENT EXECUTE FUNCTION append_only();
CREATE OR REPLACE TRIGGER attempt_transitions_stays BEFORE TRUNCATE ON attempt_transitions FOR EACH STATEMENT EXECUTE FUNCTION append_only();
CREATE OR REPLACE TRIGGER money_movements_append_only BEFORE UPDATE OR DELETE ON money_movements FOR EACH STATEMENT EXECUTE FUNCTION append_only();
CREATE OR REPLACE TRIGGER money_movements_stays BEFORE TRUNCATE ON money_movements FOR EACH STATEMENT EXECUTE FUNCTION append_only();
CREATE OR REPLACE TRIGGER attempt_log_append_only BEFORE UPDATE OR DELETE ON attempt_log FOR EACH STATEMENT EXECUTE FUNCTION append_only();
CREATE OR REPLACE TRIGGER attempt_log_stays BEFORE TRUNCATE ON attempt_log FOR EACH STATEMENT EXECUTE FUNCTION append_only();
CREATE OR REPLACE TRIGGER staff_audit_append_only BEFORE UPDATE OR DELETE ON staff_audit FOR EACH STATEMENT EXECUTE FUNCTION append_only();
CREATE OR REPLACE TRIGGER staff_audit_stays BEFORE TRUNCATE ON staff_audit FOR EACH STATEMENT EXECUTE FUNCTION append_only();
CREATE OR REPLACE TRIGGER worklist_comments_append_only BEFORE UPDATE OR DELETE ON worklist_comments FOR EACH STATEMENT EXECUTE FUNCTION append_only();
CREATE OR REPLACE TRIGGER worklist_comments_stays BEFORE TRUNCATE ON worklist_comments FOR EACH STATEMENT EXECUTE FUNCTION append_only();
CREATE OR REPLACE TRIGGER dispute_moves_append_only BEFORE UPDATE OR DELETE ON dispute_moves FOR EACH STATEMENT EXECUTE FUNCTION append_only();
CREATE OR REPLACE TRIGGER dispute_moves_stays BEFORE TRUNCATE ON dispute_moves FOR EACH STATEMENT EXECUTE FUNCTION append_only();
