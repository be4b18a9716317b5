-- +goose NO TRANSACTION
-- +goose Up
-- Without a transaction each statement may be run again.
CREATE TABLE IF NOT EXISTS search_orders (
    order_id   text CONSTRAINT search_orders_pkey PRIMARY KEY,
    created_at timestamptz NOT NULL,
    words      text[] NOT NULL
);

COMMENT ON TABLE search_orders IS
    'A copy of orders for support''s search, made seconds later, so that no order or pay waits for it. It can be emptied, and '
    'is filled again after search_cursors is set back.';
COMMENT ON COLUMN search_orders.words IS
    'In lower case: the words of the description, of the metadata''s values and of the order''s id; the id itself after =, '
    'the user''s id after @.';

CREATE INDEX IF NOT EXISTS search_orders_by_time ON search_orders (created_at, order_id COLLATE "C");
-- Each search reads the whole list of pending entries.
CREATE INDEX IF NOT EXISTS search_orders_by_word ON search_orders USING gin (words) WITH (gin_pending_list_limit = 256);

CREATE TABLE IF NOT EXISTS search_payments (
    attempt_id uuid CONSTRAINT search_payments_pkey PRIMARY KEY,
    order_id   text NOT NULL,
    day        date NOT NULL,
    amount     bigint NOT NULL,
    currency   text NOT NULL,
    created_at timestamptz NOT NULL,
    last_four  text NOT NULL DEFAULT '' CONSTRAINT search_last_four_are_digits CHECK (last_four ~ '^([0-9]{4})?$')
);

COMMENT ON TABLE search_payments IS
    'Like search_orders, for payment attempts: by amount and day, and by the last digits of the card.';
COMMENT ON COLUMN search_payments.day IS 'The day of created_at in UTC.';
COMMENT ON COLUMN search_payments.last_four IS 'From a webhook or a stored payment method; empty if neither shows them.';

CREATE INDEX IF NOT EXISTS search_payments_by_amount ON search_payments (day, amount, currency, created_at, attempt_id);
CREATE INDEX IF NOT EXISTS search_payments_by_card ON search_payments (last_four, created_at, attempt_id) WHERE last_four <> '';

CREATE TABLE IF NOT EXISTS search_cursors (
    source text CONSTRAINT search_cursors_pkey PRIMARY KEY CONSTRAINT search_cursors_source_known CHECK (source IN ('orders', 'attempts', 'events')),
    at     timestamptz NOT NULL DEFAULT '0001-01-01 00:00:00+00',
    id     text NOT NULL DEFAULT ''
);

COMMENT ON TABLE search_cursors IS
    'The progress of the search''s copy of each source, by time of creation and id. An import sets it back.';

INSERT INTO search_cursors (source) VALUES ('orders'), ('attempts'), ('events') ON CONFLICT DO NOTHING;

-- An index whose building was interrupted exists, but is of no use.
DROP INDEX CONCURRENTLY IF EXISTS log_by_key;
CREATE INDEX CONCURRENTLY log_by_key ON attempt_log (key COLLATE "C") WHERE key <> '' AND kind IN ('press', 'reuse', 'refused');
