-- +goose Up
-- Prefixes are compared byte by byte, whatever the database's collation; equality uses the same indexes.
CREATE INDEX orders_by_text ON orders (order_id text_pattern_ops);
CREATE INDEX orders_by_user ON orders (user_id text_pattern_ops, created_at);
CREATE INDEX attempts_by_request ON payment_attempts (client_request_id text_pattern_ops);
CREATE INDEX references_by_text ON attempt_references (reference text_pattern_ops) WHERE reference <> attempt_id::text;
CREATE INDEX refunds_by_request ON refunds (client_request_id text_pattern_ops);
CREATE INDEX refunds_by_provider_id ON refunds (provider_refund_id text_pattern_ops) WHERE provider_refund_id <> '';
CREATE INDEX events_by_text ON provider_events (provider_event_id text_pattern_ops);
CREATE INDEX events_unsettled_by_reference ON provider_events USING gin (refs) WHERE verdict IN ('unmatched', 'deferred');
CREATE INDEX discrepancies_by_time ON discrepancies (opened_at, discrepancy_id);

-- What the retention time ends: the bytes of events.
CREATE INDEX events_with_bytes ON provider_events (received_at) WHERE body IS NOT NULL;
