-- +goose Up
-- What begins with a text is found byte by byte, whatever the database's collation. A query that does not ask for this collation
-- can't use these indexes: no plan of a pay or a webhook changes because of them.
CREATE INDEX orders_by_text ON orders (order_id COLLATE "C");
CREATE INDEX orders_by_user ON orders (user_id COLLATE "C", created_at);
CREATE INDEX attempts_by_request ON payment_attempts (client_request_id COLLATE "C");
CREATE INDEX references_by_text ON attempt_references (reference COLLATE "C") WHERE reference <> attempt_id::text;
CREATE INDEX refunds_by_request ON refunds (client_request_id COLLATE "C");
CREATE INDEX refunds_by_provider_id ON refunds (provider_refund_id COLLATE "C") WHERE provider_refund_id <> '';
CREATE INDEX events_by_text ON provider_events (provider_event_id COLLATE "C");
CREATE INDEX events_unsettled_by_reference ON provider_events USING gin (refs) WHERE verdict IN ('unmatched', 'deferred');
CREATE INDEX discrepancies_by_time ON discrepancies (opened_at, discrepancy_id);

-- What the retention time ends: the bytes of events.
CREATE INDEX events_with_bytes ON provider_events (received_at) WHERE body IS NOT NULL;
